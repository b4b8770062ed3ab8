// How a response's body is delimited: the table of RFC 9112 §6.3, and whether the connection persists (§9.3).

/// Where a response's body ends.
public enum BodyFraming: Sendable, Hashable {
  /// There is no body, whatever the fields say: HEAD, 204 and 304.
  case none
  /// Exactly that many bytes.
  case length(UInt64)
  /// The chunked transfer coding.
  case chunked
  /// Until the server closes the connection.
  case untilClose
}

/// What a response's fields say about framing and persistence, read in one pass.
///
/// Values are compared as bytes: to Unicode, a Kelvin sign is a K, and a mark can join a space or a comma.
struct MessageFraming {
  let body: BodyFraming
  /// The codings to undo behind chunked, in the order in which they were applied; empty but for a chunked body.
  let transferCodings: [TransferCoding]
  /// Why the connection can't be used again once the body has ended, or nil.
  let closeReason: CloseReason?

  init(of head: borrowing ResponseHead, method: String, limits: Limits) throws(WireError) {
    let isBodiless = Self.isBodiless(head, method: method)
    var length: UInt64?
    var encoding = TransferEncoding(codingsMax: limits.transferCodingsMax)
    var (close, keepAlive) = (false, false)
    for index in head.fields.lines.indices {
      let line = head.fields.lines[index]
      switch line.nameCount {
      case 10 where head.fields.matches(line.name, "connection"):
        head.fields.forEachElement(of: line.value) { option in
          if head.fields.matches(option, "close") { close = true }
          if head.fields.matches(option, "keep-alive") { keepAlive = true }
        }
      case 14 where !isBodiless && head.fields.matches(line.name, "content-length"):
        length = try Self.contentLength(line.value, of: head.fields, earlier: length)
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
        // A transfer coding in an HTTP/1.0 message: its framing counts as faulty (9112 §6.1).
        .http10WithoutKeepAlive
      } else if encoding.isPresent, length != nil {
        .ambiguousFraming
      } else {
        nil
      }
  }

  // These end with the head "regardless of the header fields" (9112 §6.3, 1), so that those aren't read.
  private static func isBodiless(_ head: borrowing ResponseHead, method: String) -> Bool {
    method == "HEAD" || head.status == 204 || head.status == 304
  }

  // Content-Length = 1*DIGIT; a list of equal numbers counts as one (9110 §8.6), 20 digits fit UInt64 or overflow.
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
