// ProxyBypassTests: bypass lists, compared with curl's behavior, and IPv6 addresses, compared with the C library.

import LupineReactor
import LupineWire
import Testing

@testable import LupineEngine

@Suite("ProxyBypass")
struct ProxyBypassTests {
  @Test(
    "the bypass list decides for each host in the test table like curl, except for the hosts marked as different",
    arguments: ProxyBypassVector.all)
  func table(_ vector: ProxyBypassVector) throws {
    let host = try URI("http://\(vector.host)/").origin.host
    #expect(ProxyBypass(vector.list).contains(host: host) == vector.isDirect)
  }

  @Test("the test table of bypassed hosts covers both decisions, and marks each difference from curl")
  func tableIsTold() {
    #expect(ProxyBypassVector.all.count(where: \.isDirect) > 40)
    #expect(ProxyBypassVector.all.count { !$0.isDirect } > 40)
    #expect(ProxyBypassVector.all.count { $0.isDirect != $0.isDirectInCurl } == 19)
  }

  @Test("with an empty proxy bypass list, no host bypasses the proxy")
  func none() {
    #expect(ProxyBypass.none == ProxyBypass(""))
    #expect(!ProxyBypass.none.contains(host: "example.com"))
    #expect(!ProxyBypass.none.contains(host: ""))
  }

  @Test("an address block of any length in a proxy bypass list matches exactly the addresses with its prefix")
  func prefixes() {
    for bitCount in 1...32 {
      let list = ProxyBypass("255.255.255.255/\(bitCount)")
      // The first address differs in the prefix's last bit, the second in the bit after it.
      #expect(!list.contains(host: Self.v4(.max ^ 1 << UInt32(32 - bitCount))), "\(bitCount)")
      if bitCount < 32 { #expect(list.contains(host: Self.v4(.max ^ 1 << UInt32(31 - bitCount))), "\(bitCount)") }
    }
    for bitCount in 1...128 {
      let list = ProxyBypass("::/\(bitCount)")
      #expect(!list.contains(host: Self.v6(bit: bitCount - 1)), "\(bitCount)")
      if bitCount < 128 { #expect(list.contains(host: Self.v6(bit: bitCount)), "\(bitCount)") }
    }
  }

  private static func v4(_ bits: UInt32) -> String {
    (0..<4).map { String(bits >> UInt32(24 - 8 * $0) & 255) }.joined(separator: ".")
  }

  /// Returns the text of the IPv6 address in which only the bit at this index is set, counted from the left.
  private static func v6(bit: Int) -> String {
    (0..<8).map { $0 == bit / 16 ? String(1 << (15 - bit % 16), radix: 16) : "0" }.joined(separator: ":")
  }

  @Test("a proxy bypass list of 10,000 hosts can be parsed and searched")
  func longList() {
    let list = ProxyBypass((0..<10_000).map { "host\($0).example" }.joined(separator: ","))
    #expect(list.contains(host: "www.host9999.example"))
    #expect(!list.contains(host: "host10000.example"))
  }
}

@Suite("IPv6Literal")
struct IPv6LiteralTests {
  @Test(
    "the host of a URI accepts the same text as an IPv6 address as the C library",
    arguments: [
      "0.0.0.0", "127.0.0.1", "255.255.255.255", "256.0.0.1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3",
      "01.2.3.4", "1.2.3.04", "0x1.2.3.4", "1.2.3.+4", "1.2.3.-4", " 1.2.3.4", "1.2.3.4 ", "1.2.3.4/8", "1", "", ".",
      "::", "::1", "1::", ":", ":::", "::::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
      "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::3:4:5:6:7:8", "1:2:3:4::5:6:7:8", "::1:2:3:4:5:6:7:8", "1::2::3",
      "12345::", "0001::", "00001::", "g::", "fe80::1%lo", "fe80::1%1", "[::1]", "::+1", "::-1", "1:::2", ":1::2",
      "1::2:",
      "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "::1.2.3.4:5", "1.2.3.4::",
      "::ffff:10.1.2.3", "1:2:3:4:5::1.2.3.4", "1:2:3:4:5:6::1.2.3.4", "::256.1.1.1", "ABCD:EF01::2345",
      "1::\u{301}", "١.2.3.4",
    ])
  func agrees(text: String) {
    let expected = SocketAddress(numeric: text, port: 0)
    #expect(IPv6Literal.isValid(text) == (expected?.isIPv6 ?? false))
  }

  @Test("the bytes of an IP address are in network byte order")
  func bytes() throws {
    #expect(try #require(IPAddress("1.2.30.255")).bytes == [1, 2, 30, 255])
    #expect(
      try #require(IPAddress("2001:db8::a:1.2.3.4")).bytes
        == [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0x0A, 1, 2, 3, 4])
  }
}
