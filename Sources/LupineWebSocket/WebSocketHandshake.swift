// WebSocketHandshake: the opening handshake of a client (RFC 6455 §4.1), without its HTTP messages and without SHA-1.

/// An error in the server's answer to an opening handshake.
package enum WebSocketHandshakeError: Error, Sendable, Equatable {
  /// The server answered with this status instead of 101.
  case status(Int)
  /// The Upgrade field isn't `websocket`, or Connection doesn't contain `upgrade`.
  case notUpgraded
  /// Sec-WebSocket-Accept isn't the value that follows from the key.
  case wrongAccept
  /// The server chose this subprotocol, which wasn't offered, or several.
  case unofferedProtocol(String)
  case unofferedExtension(String)
  case malformedExtensions
  /// The size of a compression window isn't a number from 8 to 15 or the offered maximum.
  case windowBitsOutOfRange(String)
}

extension WebSocketHandshakeError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .status(let status):
      "The server answered the WebSocket handshake with status \(status) instead of 101. Check the URL and the credentials."
    case .notUpgraded:
      "The server's Upgrade or Connection field doesn't confirm the switch to WebSocket (RFC 6455 §4.1). Fix the server."
    case .wrongAccept:
      "The server's Sec-WebSocket-Accept doesn't match the request's key (RFC 6455 §4.1). Fix the server, or the cache in between."
    case .unofferedProtocol(let name):
      "The server chose the subprotocol \(Self.quoted(name)), which wasn't offered (RFC 6455 §4.1). Offer it, or fix the server."
    case .unofferedExtension(let name):
      "The server chose the extension \(Self.quoted(name)), which wasn't offered (RFC 6455 §4.1). Fix the server."
    case .malformedExtensions:
      "The server's Sec-WebSocket-Extensions isn't an answer to the offered compression (RFC 7692 §5.1). Fix the server."
    case .windowBitsOutOfRange(let bits):
      "The server chose the window size \(Self.quoted(bits)), which isn't in the offered range (RFC 7692 §7.1.2). Fix the server."
    }
  }

  /// The maximum number of characters of a peer's text that an error contains: 64.
  private static let textCharactersMax = 64

  private static func quoted(_ text: String) -> String { String(text.prefix(textCharactersMax)).debugDescription }
}

/// The result of the opening handshake: the subprotocol and the extension.
package struct WebSocketAgreement: Sendable, Equatable {
  /// The subprotocol that the server has chosen, or nil for none.
  package var subprotocol: String?
  /// The parameters of the compression, or nil for no compression.
  package var deflate: DeflateParameters?

  package init(subprotocol: String? = nil, deflate: DeflateParameters? = nil) {
    self.subprotocol = subprotocol
    self.deflate = deflate
  }
}

/// The offer of a client in the opening handshake.
package struct WebSocketHandshake: Sendable, Equatable {
  /// The value of Sec-WebSocket-Key: 16 random bytes in Base64.
  package let key: String
  /// The subprotocols that the client supports, in order of preference.
  package let subprotocols: [String]
  /// The offered compression, or nil for none.
  package let deflate: DeflateOffer?

  package init(key: String, subprotocols: [String] = [], deflate: DeflateOffer? = DeflateOffer()) {
    self.key = key
    self.subprotocols = subprotocols
    self.deflate = deflate
  }

  /// The number of random bytes in a key: 16 (RFC 6455 §4.1).
  package static let keyByteCount = 16

  /// The text that is appended to the key before it is hashed with SHA-1 (RFC 6455 §1.3).
  package static let keySuffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// The fields of the request.
  package var fields: [(name: String, value: String)] {
    var fields = [
      ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Key", key), ("Sec-WebSocket-Version", "13"),
    ]
    if !subprotocols.isEmpty { fields.append(("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", "))) }
    if let deflate { fields.append(("Sec-WebSocket-Extensions", deflate.element)) }
    return fields
  }

  /// Checks the server's answer (RFC 6455 §4.1, page 19).
  ///
  /// - Parameters:
  ///   - status: The status of the response.
  ///   - expectedAccept: The Base64 of the SHA-1 hash of the key with its suffix.
  ///   - values: A closure that returns the values of the response's fields with a name, in order.
  package func check(
    status: Int, expectedAccept: String, values: (_ name: String) -> [String]
  ) throws(WebSocketHandshakeError) -> WebSocketAgreement {
    guard status == 101 else { throw .status(status) }
    guard values("Upgrade").map({ $0.lowercased() }) == ["websocket"],
      Self.elements(values("Connection")).contains(where: { $0.lowercased() == "upgrade" })
    else {
      throw .notUpgraded
    }
    guard values("Sec-WebSocket-Accept") == [expectedAccept] else { throw .wrongAccept }
    var agreement = WebSocketAgreement()
    let chosen = values("Sec-WebSocket-Protocol")
    if !chosen.isEmpty {
      guard chosen.count == 1, subprotocols.contains(chosen[0]) else {
        throw .unofferedProtocol(chosen.joined(separator: ", "))
      }
      agreement.subprotocol = chosen[0]
    }
    let extensions = try ExtensionElement.list(values("Sec-WebSocket-Extensions"))
    guard let first = extensions.first else { return agreement }
    guard let deflate else { throw .unofferedExtension(first.name) }
    agreement.deflate = try DeflateParameters(first, to: deflate)
    guard extensions.count == 1 else { throw .unofferedExtension(extensions[1].name) }
    return agreement
  }

  private static func elements(_ values: [String]) -> [Substring] {
    values.flatMap { value in value.split { $0 == "," || $0 == " " || $0 == "\t" } }
  }
}
