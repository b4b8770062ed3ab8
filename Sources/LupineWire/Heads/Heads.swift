// Heads: the heads of requests and responses.

/// The head of a request as it is sent.
public struct RequestHead: Sendable, Equatable {
  /// The method, a case-sensitive token (RFC 9110 §9.1).
  public var method: String
  /// The request target, usually in origin form: path and query, percent-encoded (RFC 9112 §3.2).
  public var target: String
  /// The header fields, in the order in which they are sent.
  public var fields: Fields

  /// Creates a request head without validating it. `HeadSerializer` validates the head before it is sent.
  public init(method: String, target: String, fields: Fields = Fields()) {
    self.method = method
    self.target = target
    self.fields = fields
  }
}

/// The head of a response as received.
public struct ResponseHead: Sendable {
  /// The minor version of HTTP: 0 for HTTP/1.0, 1 for HTTP/1.1 and any later HTTP/1.x.
  public let minorVersion: UInt8
  /// The status code, in 100...999 (RFC 9110 §15).
  public let status: Int
  /// The header fields, as received.
  public let fields: Fields
  /// Whether the client removes the content codings of the body (RFC 9110 §8.4), so that `Content-Length` isn't the length of the
  /// delivered body. False until the client has decided this.
  public package(set) var isContentDecoded = false

  private let reasonRange: Range<UInt32>
  private let folded: [UInt8]?

  /// Creates the head of a response from a complete section, which must come from a parser of responses.
  init(_ section: SectionParser.Section) {
    guard let line = section.statusLine else { preconditionFailure("the section isn't the head of a response") }
    minorVersion = line.minorVersion
    status = line.status
    reasonRange = line.reason
    fields = section.fields
    folded = section.folded
  }

  /// Creates the head of a response that doesn't come from a connection, such as a stored response. The head has no reason
  /// phrase.
  package init(status: Int, fields: Fields, isContentDecoded: Bool) {
    minorVersion = 1
    self.status = status
    self.fields = fields
    self.isContentDecoded = isContentDecoded
    reasonRange = 0..<0
    folded = nil
  }

  /// The head's bytes exactly as received: the status line, the field lines with their line folds, and the empty line.
  ///
  /// Reading the property doesn't copy the bytes.
  public var rawBytes: [UInt8] { folded ?? fields.bytes }
  /// The size of the head on the wire, in bytes.
  public var byteCount: Int { fields.bytes.count }

  /// The reason phrase of the status line, often empty. It has no meaning for clients (RFC 9112 §4).
  public var reason: String { fields.string(reasonRange) }
  /// Whether the response is interim (1xx).
  public var isInformational: Bool { status < 200 }
}
