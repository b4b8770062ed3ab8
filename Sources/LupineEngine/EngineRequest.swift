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

  /// The head as it goes onto the wire: Host first (RFC 9110 §7.2), then the caller's fields, then the framing.
  package var head: RequestHead { head(isExpecting: expectsContinue) }

  /// The same, with `Expect` or without.
  func head(isExpecting: Bool) -> RequestHead {
    var sent = Fields()
    // Host and Content-Length come to less than that, but for hosts that are longer than names may be.
    sent.reserveCapacity(lines: fields.count + 2, bytes: fields.byteCountMax + 128)
    sent.append(name: "Host", value: fields.first("Host") ?? uri.origin.authority)
    for position in fields.indices where !isEngines(position) {
      if !isExpecting, fields.isNamed("expect", at: position) { continue }
      sent.append(fields, at: position)
    }
    guard !offersUpgrade else { return RequestHead(method: method, target: uri.target, fields: sent) }
    if let coding = sentCoding { sent.append(name: "Content-Encoding", value: coding.name) }
    if let length = body.byteCount, sentCoding == nil {
      // RFC 9110 §8.6: a length of 0 is sent where the method gives a body a meaning.
      if length > 0 || ["POST", "PUT", "PATCH"].contains(method) {
        sent.append(name: "Content-Length", value: String(length))
      }
    } else {
      sent.append(name: "Transfer-Encoding", value: "chunked")
    }
    return RequestHead(method: method, target: uri.target, fields: sent)
  }

  private func isEngines(_ position: Int) -> Bool {
    fields.isNamed("host", at: position) || fields.isNamed("content-length", at: position)
      || fields.isNamed("transfer-encoding", at: position)
  }

  /// The coding that the body gets; an empty one stays as it is.
  var sentCoding: ContentCoding? { body.isEmpty || offersUpgrade ? nil : bodyCoding }

  /// Whether the body waits for leave (RFC 9110 §10.1.1); without a body there is nothing to wait with.
  var expectsContinue: Bool { !body.isEmpty && !offersUpgrade && fields.hasElement("100-continue", in: "Expect") }

  /// Whether the server may switch to another protocol (RFC 9110 §7.8).
  var offersUpgrade: Bool { fields.contains("Upgrade") && fields.hasElement("upgrade", in: "Connection") }

  /// Whether the request asks for the connection to be closed behind it.
  var asksForClose: Bool { rawBytes != nil || fields.hasElement("close", in: "Connection") }
}

extension Fields {
  /// Whether a list-valued field has that element, in any case; OWS stands around each (RFC 9110 §5.6.1).
  fileprivate func hasElement(_ element: String, in name: String) -> Bool {
    guard let list = list(name) else { return false }
    return list.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }.contains { $0 == element }
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
