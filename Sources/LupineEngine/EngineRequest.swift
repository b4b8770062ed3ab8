// What a caller asks for: a method, a URI, fields and a body.

public import LupineCoding
public import LupineWire

/// A request to be executed by an `Engine`.
public struct EngineRequest: Sendable {
  /// The method, a token such as "GET".
  public var method: String
  /// Where to send it.
  public var uri: URI
  /// The header fields, sent in this order behind Host.
  ///
  /// A Host field replaces the one that is made from the URI. Content-Length and Transfer-Encoding are the engine's:
  /// they follow from the body, and what stands here for them is not sent. Nor are Proxy-Authorization and
  /// Proxy-Connection: a proxy's credentials stand in its URL. `Expect: 100-continue` makes the body wait
  /// for the server's leave, at most `timeouts.awaitContinue`; if the answer is 417, the request is sent again without.
  public var fields: Fields
  /// The body; empty by default.
  ///
  /// With an Upgrade field, and `upgrade` in Connection, it is not part of the request: it waits for the server to
  /// switch protocols (101), and then goes out as it is, while the response's body is what the server says.
  public var body: RequestBody
  /// Compresses the body while it is sent, which is chunked then; nil by default. The engine adds the Content-Encoding
  /// field. Few servers understand it: ask yours.
  public var bodyCoding: ContentCoding?
  /// How long each phase may take.
  public var timeouts: Timeouts
  /// Whether a coded body (Content-Encoding) is decoded before it is handed over; true by default.
  public var decodesContent = true
  /// Whether the client certificate of the engine's TLS settings is presented to a server that asks for one; true by
  /// default. `RedirectRule` clears it on the way to another origin, which it isn't meant for.
  public var presentsIdentity = true
  /// The largest body, decoded, that is accepted, in bytes; without a limit by default, since it is handed over as it
  /// comes. The exchange fails with `.bodyTooLarge` beyond it.
  public var bodyBytesMax = Int.max
  /// What is sent in place of all this, on a connection of its own.
  var rawBytes: [UInt8]?

  /// Creates a request. User information in the URI becomes Basic credentials, unless `fields` has an Authorization.
  public init(
    method: String = "GET", uri: URI, fields: Fields = Fields(), body: RequestBody = RequestBody(),
    timeouts: Timeouts = Timeouts()
  ) {
    self.method = method
    self.uri = uri
    self.fields = fields
    self.body = body
    self.timeouts = timeouts
    if let userInfo = uri.userInfo, !userInfo.isEmpty, !fields.contains("Authorization") {
      // user-pass = user-id ":" password (RFC 7617 §2), also where the URI has no password.
      let credentials = PercentCoding.decode(userInfo.utf8.contains(UInt8(ascii: ":")) ? userInfo : userInfo + ":")
      self.fields.append(name: "Authorization", value: BasicCredentials.fieldValue(userPass: credentials))
    }
  }
}

extension EngineRequest {
  /// Whether the request may be repeated without asking its sender (RFC 9110 §9.2.2).
  var isIdempotent: Bool {
    ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method)
  }
}

/// The coding of user information, a proxy's as well.
enum PercentCoding {
  static func decode(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
      if byte == UInt8(ascii: "%"), digits.count == 2 {
        bytes.append(UInt8(digits[0] << 4 | digits[1]))
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }
}
