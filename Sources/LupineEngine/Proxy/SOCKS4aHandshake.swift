// SOCKS4aHandshake: the client's side of SOCKS 4A, in which the proxy looks up the host name ("SOCKS: A protocol for TCP proxy
// across firewalls" by Y. Lee, and its extension 4A).

internal import LupineWire

/// The client's side of SOCKS 4A: creates the request and parses the reply, which may arrive in pieces of any size.
struct SOCKS4aHandshake: ProxyHandshake {
  /// The bytes of the request, which the client sends first.
  let opening: [UInt8]
  private let place: String
  private var reply: [UInt8] = []

  // VN CD DSTPORT DSTIP USERID NUL [ DOMAIN NUL ]; 0.0.0.1 as DSTIP means that the name follows
  /// Creates a handshake for a connection to an origin, whose host is a name or an IPv4 address.
  init(_ proxy: Proxy, to origin: Origin) throws(ProxyError) {
    place = proxy.description
    let address = IPAddress(origin.host)?.bytes
    guard address == nil || address?.count == 4 else { throw ProxyError(.noIPv6, place) }
    let name = Array(origin.host.utf8)
    guard !name.contains(0) else { throw ProxyError(.hostNameHasNUL, place) }
    guard name.count <= 255 else { throw ProxyError(.hostNameTooLong(name.count), place) }
    var request: [UInt8] = [4, 1, UInt8(origin.port >> 8), UInt8(origin.port & 0xFF)]
    request += address ?? [0, 0, 0, 1]
    request += (proxy.user ?? "").utf8
    request.append(0)
    if address == nil { request += name + [0] }
    opening = request
  }

  // VN CD DSTPORT DSTIP: 8 bytes; VN is 0, and CD is 90 if the request was granted
  /// Parses the proxy's reply from `cursor` on, and moves `cursor` past the parsed bytes, but never past the end of the reply.
  mutating func receive(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(ProxyError) -> ProxyStep {
    while cursor < bytes.count, reply.count < 8 {
      reply.append(bytes[cursor])
      cursor += 1
      // Checked after every byte, because a proxy that refuses may omit the rest.
      if reply.count == 1, reply[0] != 0 { throw ProxyError(.notSOCKS4(version: reply[0]), place) }
      if reply.count == 2, reply[1] != 90 { throw ProxyError(.refusedBySOCKS4(reply[1]), place) }
    }
    return reply.count == 8 ? .done : .needMoreBytes
  }

  /// Returns the error for a connection that the proxy has closed before the tunnel was open.
  func receiveEnd() -> ProxyError { ProxyError(.truncated(received: reply.count), place) }
}
