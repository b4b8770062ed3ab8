// WebSocketOpening: the opening handshake of WebSocket (RFC 6455 §4.1) as a request and its response.

package import LupineWebSocket

/// The opening handshake of one connection.
package struct WebSocketOpening: Sendable {
  private let handshake: WebSocketHandshake

  /// Creates a handshake with a random key.
  ///
  /// - Parameters:
  ///   - subprotocols: The subprotocols to offer, in order of preference.
  ///   - deflate: The compression to offer, or nil for none.
  package init(subprotocols: [String], deflate: DeflateOffer?) {
    var random = SystemRandomNumberGenerator()
    let key = (0..<WebSocketHandshake.keyByteCount).map { _ in UInt8.random(in: 0...255, using: &random) }
    handshake = WebSocketHandshake(key: Base64.encode(key), subprotocols: subprotocols, deflate: deflate)
  }

  /// Replaces the fields of the request that belong to the handshake, and makes `channel` exchange the bytes of the connection. The
  /// owner must still call `open` when it has checked the response, and `transportEnded` at the end.
  ///
  /// The request has no time limit for its response body, because an upgraded connection has none.
  package func prepare(_ request: inout EngineRequest, for channel: WebSocketChannel) {
    for name in Self.fieldNames { request.fields.remove(name) }
    for (name, value) in handshake.fields { request.fields.append(name: name, value: value) }
    request.body = RequestBody.begun(isReplayable: true, by: { channel.attach($0) })
    request.bodyCoding = nil
    request.decodesContent = false
    request.webSocket = channel
  }

  /// Copies the handshake's fields from a request to the one that replaces it, because a delegate has changed it for a redirect.
  package static func copyFields(from old: EngineRequest, to new: inout EngineRequest) {
    for name in fieldNames {
      new.fields.remove(name)
      for value in old.fields.all(name) { new.fields.append(name: name, value: value) }
    }
  }

  /// Checks the response to the request.
  package func check(status: Int, _ fields: Fields) throws(WebSocketHandshakeError) -> WebSocketAgreement {
    guard let accept = Self.accept(forKey: handshake.key) else { throw .wrongAccept }
    return try handshake.check(status: status, expectedAccept: accept) { fields.all($0) }
  }

  /// The fields that the client adds to the handshake's request.
  package var fields: [(name: String, value: String)] { handshake.fields }

  /// The value of Sec-WebSocket-Accept that proves that the server has read `key`. OpenSSL has SHA-1 even in FIPS mode, where it may
  /// be used to check data. Nil without it, so that no value is accepted.
  package static func accept(forKey key: String) -> String? {
    MessageDigest.sha1.hash(Array((key + WebSocketHandshake.keySuffix).utf8)).map { Base64.encode($0) }
  }

  /// The fields that only the handshake sets.
  private static let fieldNames = [
    "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol",
    "Sec-WebSocket-Extensions", "Sec-WebSocket-Accept",
  ]
}
