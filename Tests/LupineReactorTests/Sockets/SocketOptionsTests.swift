// SocketOptionsTests: the kernel's options of a connected socket.

import Glibc
import LupineLoopback
import Testing

@testable import LupineReactor

@Suite("SocketOptions", .timeLimit(.minutes(10)))
struct SocketOptionsTests {
  private func client(_ change: (inout SocketOptions) -> Void = { _ in }) throws -> Socket {
    var options = SocketOptions()
    change(&options)
    return try Socket.pair(to: Socket.listen(onNumeric: "127.0.0.1"), options: options).client
  }

  @Test("by default, a socket doesn't delay writes, and detects an unreachable peer after 150 s")
  func defaults() throws {
    let client = try client()
    #expect(client.option(CInt(IPPROTO_TCP), TCP_NODELAY) == 1)
    #expect(client.option(SOL_SOCKET, SO_KEEPALIVE) == 1)
    #expect(client.option(CInt(IPPROTO_TCP), TCP_KEEPIDLE) == 15)
    #expect(client.option(CInt(IPPROTO_TCP), TCP_KEEPINTVL) == 15)
    #expect(client.option(CInt(IPPROTO_TCP), TCP_KEEPCNT) == 9)
    #expect(client.option(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT) == 0)
  }

  @Test("a socket option that the caller disables isn't set")
  func off() throws {
    let client = try client {
      $0.noDelay = false
      $0.keepAlive = nil
    }
    #expect(client.option(CInt(IPPROTO_TCP), TCP_NODELAY) == 0)
    #expect(client.option(SOL_SOCKET, SO_KEEPALIVE) == 0)
  }

  @Test(
    "socket options round durations up to the kernel's units, and limit them to the kernel's ranges",
    arguments: [
      (.seconds(60), .seconds(5), 3, [60, 5, 3]),
      (.milliseconds(1_001), .nanoseconds(1), 1, [2, 1, 1]),
      (.seconds(-1), .zero, 0, [1, 1, 1]),
      (.seconds(Int64.max), .seconds(32_768), .max, [32_767, 32_767, 127]),
    ] as [(Duration, Duration, Int, [CInt])])
  func keepAlive(_ idle: Duration, _ interval: Duration, _ count: Int, _ expected: [CInt]) throws {
    let client = try client { $0.keepAlive = SocketOptions.KeepAlive(idle: idle, interval: interval, count: count) }
    let level = CInt(IPPROTO_TCP)
    #expect([TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT].map { client.option(level, $0) } == expected)
  }

  @Test(
    "a socket's limit for unacknowledged data (TCP_USER_TIMEOUT) is set in milliseconds",
    arguments: [
      (.seconds(30), 30_000), (.milliseconds(1), 1), (.nanoseconds(1), 1), (.zero, 1), (.seconds(Int64.max), .max),
    ] as [(Duration, CInt)])
  func userTimeout(_ timeout: Duration, _ expected: CInt) throws {
    let client = try client { $0.userTimeout = timeout }
    #expect(client.option(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT) == expected)
  }

  @Test("a socket's kernel buffers have twice the requested size, as documented in socket(7)")
  func buffers() throws {
    let client = try client {
      $0.sendBufferBytes = 32_768
      $0.receiveBufferBytes = 16_384
    }
    #expect(client.option(SOL_SOCKET, SO_SNDBUF) == 65_536)
    #expect(client.option(SOL_SOCKET, SO_RCVBUF) == 32_768)
  }

  @Test("a connection's packets have the traffic class in the socket options", arguments: ["127.0.0.1", "::1"])
  func trafficClass(host: String) throws {
    let listener = try Socket.listen(onNumeric: host)
    var options = SocketOptions()
    options.trafficClass = 0xB8
    let (client, _) = try Socket.pair(to: listener, options: options)
    let (level, name) = host == "::1" ? (CInt(IPPROTO_IPV6), IPV6_TCLASS) : (CInt(IPPROTO_IP), IP_TOS)
    #expect(client.option(level, name) == 0xB8)
    let (plain, _) = try Socket.pair(to: listener)
    #expect(plain.option(level, name) == 0)
  }

  @Test("a connection has the requested local address and a port that the kernel chooses")
  func localAddress() throws {
    let local = try #require(SocketAddress(numeric: "127.8.9.10", port: 0))
    let client = try client { $0.localAddress = local }
    #expect(client.localAddress?.host == "127.8.9.10")
    #expect(client.localAddress?.port != 0)
  }

  @Test("a connection uses the local port in the socket options")
  func localPort() throws {
    // A port that was free a moment ago, on an address that no other test uses.
    let port = try #require(Socket.listen(onNumeric: "127.8.9.11").localAddress?.port)
    let client = try client { $0.localAddress = SocketAddress(numeric: "127.8.9.11", port: port) }
    #expect(client.localAddress?.port == port)
  }

  @Test("a connection uses the network interface in the socket options")
  func interface() throws {
    let client = try client { $0.interface = "lo" }
    var name = [UInt8](repeating: 0, count: 16)
    var length = socklen_t(name.count)
    let result = getsockopt(client.number, SOL_SOCKET, SO_BINDTODEVICE, &name, &length)
    #expect(result == 0)
    #expect(name.starts(with: Array("lo\0".utf8)))
  }

  @Test(
    "if a connection's network interface is unknown or its name is too long, the error contains the name",
    arguments: ["lupine-none", "", "lo\0", "lo-longer-than-15-bytes"])
  func noInterface(name: String) {
    var options = SocketOptions()
    options.interface = name
    expectFailure(options, SystemError(call: "setsockopt(SO_BINDTODEVICE, \(name))", code: ENODEV))
  }

  @Test("if a connection's local address doesn't belong to this machine, the error contains the address")
  func foreignAddress() {
    var options = SocketOptions()
    // An address of the network TEST-NET-1 (RFC 5737), which no machine has.
    options.localAddress = SocketAddress(numeric: "192.0.2.1", port: 0)
    expectFailure(options, SystemError(call: "bind to 192.0.2.1", code: EADDRNOTAVAIL))
  }

  @Test(
    "if a connection's local address has another family than the peer's, the error contains both addresses",
    arguments: ["::1", "@lupine"])
  func otherFamily(local: String) {
    var options = SocketOptions()
    options.localAddress = SocketAddress(numeric: local, port: 0) ?? SocketAddress(socketPath: local)
    expectFailure(options, SystemError(call: "bind to \(local) for 127.0.0.1:9", code: EADDRNOTAVAIL))
  }

  private func expectFailure(_ options: SocketOptions, _ expected: SystemError) {
    #expect(throws: expected) {
      _ = try Socket.connect(to: try #require(SocketAddress(numeric: "127.0.0.1", port: 9)), options: options)
    }
  }

  @Test("if a connection can't be opened because of its options, no descriptor is leaked")
  func noLeak() throws {
    var options = SocketOptions()
    options.interface = "lupine-none"
    let target = try #require(SocketAddress(numeric: "127.0.0.1", port: 9))
    // Far more descriptors than all other tests open at a time. Some of these have ten thousand connections.
    let attempts = 100_000
    let failures = (0..<attempts).count { _ in
      do throws(SystemError) {
        _ = try Socket.connect(to: target, options: options)
        return false
      } catch {
        return true
      }
    }
    #expect(failures == attempts)
    // The kernel assigns the lowest free descriptor number.
    #expect(try Socket.connect(to: target).number < attempts)
  }
}
