// BodyFraming: the delimitation of a response body (RFC 9112 §6.3), and the persistence of the connection afterward (§9.3).

/// The rule by which the end of a response body is determined.
public enum BodyFraming: Sendable, Hashable {
  /// The response has no body, whatever its fields are, because it is a response to HEAD, or has the status 204 or 304.
  case none
  /// The body has exactly the associated number of bytes.
  case length(UInt64)
  /// The body uses the chunked transfer coding.
  case chunked
  /// The body ends when the server closes the connection.
  case untilClose
}

/// The framing of a response's body and the persistence of its connection, determined from the response's fields in one pass.
///
/// Field values are compared byte by byte. A comparison by Unicode rules would accept the Kelvin sign as a K, and would treat a
/// space or a comma with a combining mark as another character.
struct MessageFraming {
  let body: BodyFraming
  /// The transfer codings to decode after the chunked coding, in the order in which the server applied them. Empty unless the body
  /// is chunked.
  let transferCodings: [TransferCoding]
  /// The reason why the connection can't be reused after this response, or nil if it can be reused.
  let closeReason: CloseReason?
  /// The number of seconds after which the server closes the idle connection, from the response's Keep-Alive field. Nil if the
  /// response has no such field, or the field has no valid `timeout`.
  let keepAliveSeconds: UInt64?

  init(of head: borrowing ResponseHead, method: String, limits: Limits) throws(WireError) {
    let isBodiless = Self.isBodiless(head, method: method)
    var length: UInt64?
    var encoding = TransferEncoding(codingsMax: limits.transferCodingsMax)
    var (close, keepAlive, announcesContent) = (false, false, false)
    var keepAliveField = KeepAliveField()
    for index in head.fields.lines.indices {
      let line = head.fields.lines[index]
      switch line.nameCount {
      // Old proxies announce the end of the connection in Proxy-Connection (RFC 9112 §C.2.2). Its `keep-alive` is ignored,
      // because it may have come from another connection, through a proxy that doesn't know the field.
      case 10 where head.fields.matches(line.name, "connection"),
        16 where head.fields.matches(line.name, "proxy-connection"):
        head.fields.forEachElement(of: line.value) { option in
          if head.fields.matches(option, "close") { close = true }
          if line.nameCount == 10, head.fields.matches(option, "keep-alive") { keepAlive = true }
        }
      case 10 where head.fields.matches(line.name, "keep-alive"):
        keepAliveField.read(line.value, of: head.fields)
      case 14 where head.fields.matches(line.name, "content-length"):
        if isBodiless {
          announcesContent = announcesContent || Digits.value(of: head.fields.content(line.value)) != 0
        } else {
          length = try Self.contentLength(line.value, of: head.fields, earlier: length)
        }
      case 17 where head.fields.matches(line.name, "transfer-encoding"):
        encoding.read(line.value, of: head.fields)
      default: break
      }
    }

    if isBodiless {
      body = .none
    } else if encoding.isPresent {
      try encoding.check(head.fields)
      body = .chunked
    } else {
      body = length.map { .length($0) } ?? .untilClose
    }
    transferCodings = isBodiless ? [] : encoding.codings
    closeReason =
      if body == .untilClose {
        .bodyEndsWithClose
      } else if close {
        .serverAskedForClose
      } else if head.minorVersion == 0, !keepAlive || encoding.isPresent {
        // Transfer-Encoding in an HTTP/1.0 message counts as faulty framing (RFC 9112 §6.1).
        .http10WithoutKeepAlive
      } else if encoding.isPresent, length != nil {
        .ambiguousFraming
      } else if head.status == 204, encoding.isPresent || announcesContent {
        // Some servers send content with a 204. If it arrived late, it would be mistaken for the next response.
        .ambiguousFraming
      } else if keepAliveField.refusesReuse {
        .keepAliveLimit
      } else {
        nil
      }
    keepAliveSeconds = keepAliveField.seconds
  }

  // These responses end with the head "regardless of the header fields" (RFC 9112 §6.3, item 1), so their
  // Content-Length isn't read.
  private static func isBodiless(_ head: borrowing ResponseHead, method: String) -> Bool {
    method == "HEAD" || head.status == 204 || head.status == 304
  }

  // Content-Length = 1*DIGIT. A list of equal numbers counts as one number (RFC 9110 §8.6). A number that overflows
  // UInt64 is refused.
  private static func contentLength(
    _ value: Range<UInt32>, of fields: Fields, earlier: UInt64?
  ) throws(WireError) -> UInt64 {
    var result = earlier
    try fields.forEachElement(of: value) { element throws(WireError) in
      guard let number = Digits.value(of: fields.content(element)) else {
        throw .malformedContentLength(fields.string(value))
      }
      if let result, result != number { throw .conflictingContentLength(String(result), String(number)) }
      result = number
    }
    guard let result else { throw .malformedContentLength(fields.string(value)) }
    return result
  }
}
