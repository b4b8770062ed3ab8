// The heads of messages: a request's method, target and fields, a response's status and fields.

/// The head of a request, as it goes onto the wire.
public struct RequestHead: Sendable, Equatable {
  /// The method, a token; case matters (RFC 9110 §9.1).
  public var method: String
  /// The request target, in origin form as a rule: path and query, percent-encoded (RFC 9112 §3.2).
  public var target: String
  /// The header fields, in the order in which they are written.
  public var fields: Fields

  /// Creates a head. Nothing is checked before it is serialised.
  public init(method: String, target: String, fields: Fields = Fields()) {
    self.method = method
    self.target = target
    self.fields = fields
  }
}

/// The head of a response, as the server sent it.
public struct ResponseHead: Sendable {
  /// The minor version: 0 for HTTP/1.0, 1 for HTTP/1.1 and for any later HTTP/1.x.
  public let minorVersion: UInt8
  /// The status code, 100...999 (RFC 9110 §15).
  public let status: Int
  /// The header fields.
  public let fields: Fields

  private let reasonRange: Range<UInt32>
  private let folded: [UInt8]?

  init(_ line: StatusLine, _ section: SectionParser.Section) {
    minorVersion = line.minorVersion
    status = line.status
    reasonRange = line.reason
    fields = section.fields
    folded = section.folded
  }

  /// The head's bytes exactly as they came: the status line, the field lines with their folds, the empty line.
  ///
  /// Nothing is copied for it.
  public var rawBytes: [UInt8] { folded ?? fields.bytes }
  /// How many bytes the head took on the wire.
  public var byteCount: Int { fields.bytes.count }

  /// The reason phrase, often empty; it carries no meaning (RFC 9112 §4).
  public var reason: String { fields.string(reasonRange) }
  /// Whether this is an interim response, 1xx.
  public var isInformational: Bool { status < 200 }
}
