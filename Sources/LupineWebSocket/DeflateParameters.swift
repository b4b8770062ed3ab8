// DeflateParameters: the negotiation of the extension permessage-deflate (RFC 7692 §5, §7.1).

internal import LupineCoding

/// The compression that a client offers.
package struct DeflateOffer: Sendable, Equatable {
  /// The largest window of the client's compressor, from 8 to 15 bits. 15 by default.
  package var clientWindowBits = 15
  /// The largest window that the server's compressor may use, from 8 to 15 bits. If nil (the default), the server decides.
  package var serverWindowBits: Int?
  /// Whether the client announces that its messages don't refer to earlier ones. False by default.
  package var clientResets = false
  /// Whether the server's messages must not refer to earlier ones. False by default.
  package var serverResets = false

  package init() {}

  /// The element of the Sec-WebSocket-Extensions field that makes this offer.
  package var element: String {
    var element = DeflateParameters.name
    if serverResets { element += "; server_no_context_takeover" }
    if clientResets { element += "; client_no_context_takeover" }
    if let serverWindowBits { element += "; server_max_window_bits=\(serverWindowBits)" }
    // Without this parameter, the server couldn't choose the client's window (§7.1.2.2).
    return element + "; client_max_window_bits" + (clientWindowBits == 15 ? "" : "=\(clientWindowBits)")
  }
}

/// The compression on which client and server have agreed.
package struct DeflateParameters: Sendable, Equatable {
  /// The windows, as binary logarithms of their size in bytes: 8 to 15.
  package var clientWindowBits = 15
  package var serverWindowBits = 15
  /// Whether each message is compressed without reference to earlier ones.
  package var clientResets = false
  package var serverResets = false

  package init() {}

  static let name = "permessage-deflate"

  /// Reads the server's answer to an offer. Throws the reason why the answer doesn't fit the offer.
  init(_ answer: ExtensionElement, to offer: DeflateOffer) throws(WebSocketHandshakeError) {
    guard answer.name == Self.name else { throw .unofferedExtension(answer.name) }
    self.init()
    clientWindowBits = offer.clientWindowBits
    clientResets = offer.clientResets
    var seen: Set<String> = []
    for (name, value) in answer.parameters {
      guard seen.insert(name).inserted else { throw .malformedExtensions }
      switch (name, value) {
      case ("server_no_context_takeover", nil): serverResets = true
      case ("client_no_context_takeover", nil): clientResets = true
      case ("server_max_window_bits", let value?):
        serverWindowBits = try Self.windowBits(value, atMost: offer.serverWindowBits ?? 15)
      case ("client_max_window_bits", let value?):
        clientWindowBits = try Self.windowBits(value, atMost: offer.clientWindowBits)
      default: throw .malformedExtensions
      }
    }
    // A server that can't meet these requirements must decline the offer (§7.1.1.1, §7.1.2.1).
    guard serverResets || !offer.serverResets else { throw .malformedExtensions }
    guard seen.contains("server_max_window_bits") || offer.serverWindowBits == nil else { throw .malformedExtensions }
  }

  // A decimal integer without leading zeros, from 8 to 15 (§7.1.2).
  private static func windowBits(_ text: String, atMost bitsMax: Int) throws(WebSocketHandshakeError) -> Int {
    guard let bits = Int(text), String(bits) == text, (8...bitsMax).contains(bits) else {
      throw .windowBitsOutOfRange(text)
    }
    return bits
  }
}

/// An element of the Sec-WebSocket-Extensions field: an extension with its parameters (RFC 6455 §9.1).
struct ExtensionElement: Equatable {
  var name: String
  /// The parameters in order, each with its value or nil.
  var parameters: [(name: String, value: String?)]

  static func == (left: ExtensionElement, right: ExtensionElement) -> Bool {
    left.name == right.name && left.parameters.elementsEqual(right.parameters, by: ==)
  }

  // extension-list = 1#extension
  // extension = extension-token *( ";" extension-param )
  // extension-param = token [ "=" (token | quoted-string) ]
  // When a value is quoted, the unquoted value must be a token, so no separator occurs within quotation marks.
  /// Parses the elements of the field's values. Throws `.malformedExtensions` if they don't follow the grammar.
  static func list(_ values: [String]) throws(WebSocketHandshakeError) -> [ExtensionElement] {
    var elements: [ExtensionElement] = []
    for value in values {
      for element in value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        let parts = element.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        // Empty elements of a list are ignored (RFC 9110 §5.6.1.2).
        if parts.count == 1, parts[0].trimmingOWS().isEmpty { continue }
        let name = try token(parts[0])
        var parameters: [(String, String?)] = []
        for part in parts.dropFirst() {
          guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else {
            parameters.append((try token(part), nil))
            continue
          }
          var value = part[part.index(after: equals)...].trimmingOWS()
          if value.count >= 2, value.first == UInt8(ascii: "\""), value.last == UInt8(ascii: "\"") {
            value = value.dropFirst().dropLast()
          }
          parameters.append((try token(part[..<equals]), try token(value)))
        }
        elements.append(ExtensionElement(name: name, parameters: parameters))
      }
    }
    return elements
  }

  private static func token(_ text: Substring.UTF8View) throws(WebSocketHandshakeError) -> String {
    let text = text.trimmingOWS()
    guard !text.isEmpty, text.allSatisfy(isTokenByte) else { throw .malformedExtensions }
    return String(text) ?? ""
  }

  /// tchar (RFC 9110 §5.6.2)
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
