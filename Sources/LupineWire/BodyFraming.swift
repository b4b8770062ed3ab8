// How a response's body is delimited: the table of RFC 9112 §6.3, and whether the connection persists (§9.3).

/// Where a response's body ends.
public enum BodyFraming: Sendable, Hashable {
  /// There is no body, whatever the fields say: HEAD, 1xx, 204, 304, and 2xx to CONNECT.
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
  /// Why the connection can't be used again once the body has ended, or nil.
  let closeReason: CloseReason?

  init(of head: ResponseHead, method: String) throws(WireError) {
    let fields = head.fields
    let isBodiless = Self.isBodiless(head, method: method)
    var length: UInt64?
    var codings: [Range<UInt32>] = []
    var (close, keepAlive) = (false, false)
    for line in fields.lines {
      switch line.name.count {
      case 10 where fields.matches(line.name, "connection"):
        for option in fields.listElements(line.value) {
          if fields.matches(option, "close") { close = true }
          if fields.matches(option, "keep-alive") { keepAlive = true }
        }
      case 14 where !isBodiless && fields.matches(line.name, "content-length"):
        length = try Self.contentLength(line.value, of: fields, earlier: length)
      case 17 where fields.matches(line.name, "transfer-encoding"):
        codings += fields.listElements(line.value)
      default: break
      }
    }

    if isBodiless {
      body = .none
    } else if let coding = codings.first {
      guard codings.count == 1, fields.matches(coding, "chunked") else {
        throw .unsupportedTransferCoding(fields.list("transfer-encoding") ?? "")
      }
      body = .chunked
    } else {
      body = length.map { .length($0) } ?? .untilClose
    }
    closeReason =
      if body == .untilClose {
        .bodyEndsWithClose
      } else if close {
        .serverAskedForClose
      } else if head.minorVersion == 0, !keepAlive || !codings.isEmpty {
        // A transfer coding in an HTTP/1.0 message: its framing counts as faulty (9112 §6.1).
        .http10WithoutKeepAlive
      } else if !codings.isEmpty, length != nil {
        .ambiguousFraming
      } else {
        nil
      }
  }

  // These end with the head "regardless of the header fields" (9112 §6.3, 1 and 2), so that those aren't read.
  private static func isBodiless(_ head: ResponseHead, method: String) -> Bool {
    method == "HEAD" || head.isInformational || head.status == 204 || head.status == 304
      || (method == "CONNECT" && head.status < 300)
  }

  // Content-Length = 1*DIGIT; a list of equal numbers counts as one (9110 §8.6), 20 digits fit UInt64 or overflow.
  private static func contentLength(
    _ value: Range<UInt32>, of fields: Fields, earlier: UInt64?
  ) throws(WireError) -> UInt64 {
    var result = earlier
    for element in fields.listElements(value) {
      guard let number = number(fields.content(element)) else { throw .malformedContentLength(fields.string(value)) }
      if let result, result != number { throw .conflictingContentLength(String(result), String(number)) }
      result = number
    }
    guard let result else { throw .malformedContentLength(fields.string(value)) }
    return result
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    guard !digits.isEmpty else { return nil }
    var number: UInt64 = 0
    for byte in digits {
      guard byte &- 0x30 < 10 else { return nil }
      let (product, overflow) = number.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(byte &- 0x30))
      guard !overflow, !carry else { return nil }
      number = sum
    }
    return number
  }
}

extension Fields {
  /// The comma-separated parts of a value without the white space (SP, HTAB) around them, empty ones included.
  fileprivate func listElements(_ value: Range<UInt32>) -> [Range<UInt32>] {
    content(value).split(separator: Byte.comma, omittingEmptySubsequences: false).map { part in
      var part = part
      while let first = part.first, first == Byte.space || first == Byte.tab { part.removeFirst() }
      while let last = part.last, last == Byte.space || last == Byte.tab { part.removeLast() }
      return UInt32(part.startIndex)..<UInt32(part.endIndex)
    }
  }
}
