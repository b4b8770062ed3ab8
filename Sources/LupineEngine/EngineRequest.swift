// What a caller asks for: a method, a URI, fields and a body.

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
  /// they follow from the body, and what stands here for them is not sent.
  public var fields: Fields
  /// The body; empty by default.
  public var body: RequestBody
  /// How long each phase may take.
  public var timeouts: Timeouts
  /// Whether a coded body (Content-Encoding) is decoded before it is handed over; true by default.
  public var decodesContent = true
  /// The largest body, decoded, that is accepted, in bytes; without a limit by default, since it is handed over as it
  /// comes. The exchange fails with `.bodyTooLarge` beyond it.
  public var bodyBytesMax = Int.max

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
      self.fields.append(name: "Authorization", value: "Basic " + Base64.encode(credentials))
    }
  }
}

extension EngineRequest {
  /// Whether the request may be repeated without asking its sender (RFC 9110 §9.2.2).
  var isIdempotent: Bool {
    ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method)
  }

  /// The head as it goes onto the wire: Host first (RFC 9110 §7.2), then the caller's fields, then the framing.
  package var head: RequestHead {
    var sent = Fields()
    // Host and Content-Length come to less than that, but for hosts that are longer than names may be.
    sent.reserveCapacity(lines: fields.count + 2, bytes: fields.byteCountMax + 128)
    sent.append(name: "Host", value: fields.first("Host") ?? uri.origin.authority)
    for position in fields.indices where !isEngines(position) { sent.append(fields, at: position) }
    // RFC 9110 §8.6: a length of 0 is sent where the method gives a body a meaning.
    if body.byteCount > 0 || ["POST", "PUT", "PATCH"].contains(method) {
      sent.append(name: "Content-Length", value: String(body.byteCount))
    }
    return RequestHead(method: method, target: uri.target, fields: sent)
  }

  private func isEngines(_ position: Int) -> Bool {
    fields.isNamed("host", at: position) || fields.isNamed("content-length", at: position)
      || fields.isNamed("transfer-encoding", at: position)
  }

  /// Whether the request asks for the connection to be closed behind it.
  var asksForClose: Bool {
    guard let options = fields.list("Connection") else { return false }
    // Connection = #connection-option, with OWS around each (RFC 9110 §7.6.1, §5.6.1).
    return options.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains("close")
  }
}

/// The two small codings that user information needs.
private enum PercentCoding {
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

private enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  // RFC 4648 §4
  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits: UInt32 = 0
      for (index, byte) in group.enumerated() { bits |= UInt32(byte) << UInt32(16 - 8 * index) }
      for index in 0..<4 {
        text.append(index <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * index)) & 63] : UInt8(ascii: "="))
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
