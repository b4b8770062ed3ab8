// SOCKS4aHandshakeTests: the request of SOCKS 4A, and the meaning of replies, split at every position.

import LupineWire
import Testing

@testable import LupineEngine

@Suite("SOCKS4aHandshake")
struct SOCKS4aHandshakeTests {
  private func handshake(_ proxy: String = "socks4a://p", to uri: String) throws -> SOCKS4aHandshake {
    try SOCKS4aHandshake(try Proxy(proxy), to: try URI(uri).origin)
  }

  @Test("with SOCKS 4a, the client sends a host name after the address 0.0.0.1, and sends an IPv4 address directly")
  func request() throws {
    #expect(
      try handshake(to: "https://h.example").opening == [4, 1, 1, 0xBB, 0, 0, 0, 1, 0] + Array("h.example".utf8) + [0])
    #expect(
      try handshake("socks4a://me:ignored@p", to: "http://1.2.3.4").opening == [4, 1, 0, 80, 1, 2, 3, 4]
        + Array("me".utf8) + [0])
    #expect(throws: ProxyError(.noIPv6, "socks4a://p:1080")) { try handshake(to: "https://[::1]") }
  }

  @Test("the SOCKS 4a client refuses a host name of more than 255 bytes before sending anything")
  func longNames() throws {
    func opening(byteCount: Int) throws -> [UInt8] {
      let origin = Origin(scheme: .https, host: String(repeating: "n", count: byteCount), port: 443)
      return try SOCKS4aHandshake(try Proxy("socks4a://p"), to: origin).opening
    }
    let longest = [UInt8](repeating: UInt8(ascii: "n"), count: 255)
    #expect(try opening(byteCount: 255) == [4, 1, 1, 0xBB, 0, 0, 0, 1, 0] + longest + [0])
    #expect(throws: ProxyError(.hostNameTooLong(256), "socks4a://p:1080")) { try opening(byteCount: 256) }
  }

  @Test(
    "the SOCKS 4a client refuses a host name with a NUL, and the error states the NUL instead of the name's length",
    arguments: ["h\0.example", "\0", "\0" + String(repeating: "n", count: 300)])
  func nul(host: String) throws {
    let error = ProxyError(.hostNameHasNUL, "socks4a://p:1080")
    #expect(throws: error) {
      try SOCKS4aHandshake(try Proxy("socks4a://p"), to: Origin(scheme: .https, host: host, port: 443))
    }
    #expect(error.description.contains("contains a NUL") && !error.description.contains("bytes"))
  }

  @Test("a SOCKS 4 tunnel is open after the 8 bytes of a granting reply, wherever the reply is split")
  func granted() throws {
    let reply: [UInt8] = [0, 90, 1, 2, 3, 4, 5, 6]
    for split in 0..<reply.count {
      var handshake = try handshake(to: "https://h.example")
      var cursor = 0
      #expect(try handshake.receive(Array(reply[..<split]).span, at: &cursor) == .needMoreBytes)
      #expect(handshake.receiveEnd() == ProxyError(.truncated(received: split), "socks4a://p:1080"))
      #expect(try handshake.receive((reply + [7]).span, at: &cursor) == .done && cursor == reply.count)
    }
  }

  @Test(
    "a SOCKS 4 refusal, and a reply with an unknown version, cause errors that contain the code",
    arguments: [
      ([0, 91] as [UInt8], ProxyError.Cause.refusedBySOCKS4(91)), ([0, 93], .refusedBySOCKS4(93)),
      ([0, 0], .refusedBySOCKS4(0)), ([0, 255], .refusedBySOCKS4(255)), ([5], .notSOCKS4(version: 5)),
      ([0x48, 0x54], .notSOCKS4(version: 0x48)),
    ])
  func refused(reply: [UInt8], cause: ProxyError.Cause) throws {
    var handshake = try handshake(to: "https://h.example")
    var cursor = 0
    #expect(throws: ProxyError(cause, "socks4a://p:1080")) { try handshake.receive(reply.span, at: &cursor) }
  }
}
