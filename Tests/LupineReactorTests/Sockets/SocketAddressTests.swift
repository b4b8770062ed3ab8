// SocketAddressTests: parsing and printing of addresses, without name lookups.

import Glibc
import Testing

@testable import LupineReactor

@Suite("SocketAddress")
struct SocketAddressTests {
  @Test(
    "parsing a numeric socket address yields an address whose description is the same address in canonical form",
    arguments: [
      ("127.0.0.1", 80, "127.0.0.1:80", false),
      ("0.0.0.0", 0, "0.0.0.0:0", false),
      ("255.255.255.255", 65_535, "255.255.255.255:65535", false),
      ("::1", 443, "[::1]:443", true),
      ("::", 1, "[::]:1", true),
      ("2001:DB8:0:0:0:0:0:1", 8_080, "[2001:db8::1]:8080", true),
      ("::ffff:1.2.3.4", 80, "[::ffff:1.2.3.4]:80", true),
      ("1111:2222:3333:4444:5555:6666:7777:8888", 80, "[1111:2222:3333:4444:5555:6666:7777:8888]:80", true),
    ] as [(String, UInt16, String, Bool)])
  func numeric(_ host: String, _ port: UInt16, _ description: String, _ isIPv6: Bool) throws {
    let address = try #require(SocketAddress(numeric: host, port: port))
    #expect(address.description == description)
    #expect(address.port == port)
    #expect(address.isIPv6 == isIPv6)
    #expect(address.socketPath == nil)
    #expect(throughTheKernelsForm(address) == address)
  }

  @Test(
    "the parser of socket addresses refuses text that isn't a numeric address",
    arguments: [
      "", "localhost", "example.com", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", " 1.2.3.4", "01.2.3.4x",
      "0x7f.0.0.1",
      "2130706433", "[::1]", "::1%lo", ":::", "::g", "1:2", "127.0.0.1\0.example.com", "::1\0", "１.1.1.1",
    ])
  func refused(_ host: String) {
    #expect(SocketAddress(numeric: host, port: 80) == nil)
  }

  @Test(
    "a Unix socket's address keeps the path or abstract name",
    arguments: [
      "/run/x.sock", "x", "./@x", "@x", "@/a/b", "@\u{1}", "/tmp/é",
      String(repeating: "p", count: 107), "@" + String(repeating: "n", count: 107),
    ])
  func socketPath(_ path: String) throws {
    let address = try #require(SocketAddress(socketPath: path))
    #expect(address.socketPath == path)
    #expect(address.host == path)
    #expect(address.description == "unix:\(path)")
    #expect(address.port == 0)
    #expect(!address.isIPv6)
    #expect(address.withPort(80) == address)
    #expect(throughTheKernelsForm(address) == address)
  }

  @Test(
    "a socket address can't be created from a Unix socket path that is empty, too long or contains a NUL",
    arguments: [
      "", "@", "/a\0b", "@a\0b", "\0abstract",
      String(repeating: "p", count: 108), "@" + String(repeating: "n", count: 108), String(repeating: "é", count: 54),
    ])
  func noSocketPath(_ path: String) {
    #expect(SocketAddress(socketPath: path) == nil)
  }

  @Test("changing the port of a socket address changes nothing else", arguments: ["127.0.0.1", "2001:db8::1"])
  func withPort(_ host: String) throws {
    let address = try #require(SocketAddress(numeric: host, port: 0))
    let changed = address.withPort(8_080)
    #expect(changed.host == host)
    #expect(changed.port == 8_080)
    #expect(changed.withPort(0) == address)
  }

  @Test("socket addresses are equal even if their text was spelled differently")
  func equality() throws {
    let table: [(SocketAddress?, SocketAddress?, Bool)] = [
      (SocketAddress(numeric: "2001:db8::1", port: 1), SocketAddress(numeric: "2001:DB8:0::01", port: 1), true),
      (SocketAddress(numeric: "1.2.3.4", port: 1), SocketAddress(numeric: "1.2.3.4", port: 1), true),
      (SocketAddress(numeric: "1.2.3.4", port: 1), SocketAddress(numeric: "1.2.3.4", port: 2), false),
      (SocketAddress(numeric: "1.2.3.4", port: 1), SocketAddress(numeric: "::ffff:1.2.3.4", port: 1), false),
      (SocketAddress(socketPath: "/a"), SocketAddress(socketPath: "/a"), true),
      (SocketAddress(socketPath: "a"), SocketAddress(socketPath: "@a"), false),
      // Swift's String treats the paths as equal, but they are two files.
      (SocketAddress(socketPath: "/\u{E9}"), SocketAddress(socketPath: "/e\u{301}"), false),
    ]
    for (left, right, isEqual) in table {
      let (left, right) = (try #require(left), try #require(right))
      #expect((left == right) == isEqual, "\(left) and \(right)")
      #expect((Set([left, right]).count == 1) == isEqual)
    }
  }

  @Test("a link-local address keeps its scope, so that the client can connect to the address")
  func scope() throws {
    var v6 = sockaddr_in6()
    v6.sin6_family = sa_family_t(AF_INET6)
    v6.sin6_scope_id = 7
    let address = withUnsafePointer(to: v6) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        SocketAddress($0, length: socklen_t(MemoryLayout<sockaddr_in6>.size))
      }
    }
    let scopes = try #require(address).withPort(1).withPointer { pointer, _ in
      pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { $0.pointee.sin6_scope_id }
    }
    #expect(scopes == 7)
    #expect(address != SocketAddress(numeric: "::", port: 0))
  }

  @Test(
    "a socket address can't be created from a sockaddr that is truncated, empty or of another family", arguments: 0...15
  )
  func cutShort(length: Int) {
    for family in [AF_INET, AF_INET6, AF_UNIX, AF_NETLINK] {
      if family == AF_UNIX && length > 2 { continue }
      var storage = sockaddr_storage()
      storage.ss_family = sa_family_t(family)
      let address = withUnsafePointer(to: storage) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { SocketAddress($0, length: socklen_t(length)) }
      }
      #expect(address == nil)
    }
  }

  private func throughTheKernelsForm(_ address: SocketAddress) -> SocketAddress? {
    address.withPointer { SocketAddress($0, length: $1) }
  }
}
