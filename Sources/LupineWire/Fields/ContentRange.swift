// ContentRange: parses Content-Range fields of 206 and 416 responses (RFC 9110 §14.4).

/// The value of a Content-Range field whose unit is bytes. Positions and lengths are at most `Int64.max`, so that sums in UInt64
/// can't overflow.
package enum ContentRange: Sendable, Hashable {
  /// The response's content is the bytes from `first` to `last`, inclusive, of a representation with `completeLength` bytes.
  /// `completeLength` is nil if the server doesn't know it.
  ///
  /// `first` is at most `last`, and `last` is less than `completeLength`.
  case bytes(first: UInt64, last: UInt64, completeLength: UInt64?)
  /// The representation has none of the bytes that the request's Range field asks for, because its length is only `completeLength`
  /// bytes.
  case unsatisfied(completeLength: UInt64)

  /// Parses the value of a Content-Range field. Returns nil if the unit isn't bytes or the syntax is invalid.
  package init?(_ text: String) {
    // Content-Range = range-unit SP ( range-resp / unsatisfied-range )
    // range-resp = incl-range "/" ( complete-length / "*" ); incl-range = first-pos "-" last-pos
    // unsatisfied-range = "*/" complete-length
    var reader = RangeReader(text)
    guard reader.skip("bytes", caseless: true), reader.skip(" ") else { return nil }
    if reader.skip("*/") {
      guard let length = reader.number(), reader.isAtEnd else { return nil }
      self = .unsatisfied(completeLength: length)
      return
    }
    guard let first = reader.number(), reader.skip("-"), let last = reader.number(), reader.skip("/"), first <= last
    else { return nil }
    let completeLength: UInt64?
    if reader.skip("*") {
      completeLength = nil
    } else {
      guard let length = reader.number(), last < length else { return nil }
      completeLength = length
    }
    guard reader.isAtEnd else { return nil }
    self = .bytes(first: first, last: last, completeLength: completeLength)
  }
}

/// Reads the parts of a Content-Range value from left to right.
private struct RangeReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = Substring(text).utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func skip(_ expected: StaticString, caseless: Bool = false) -> Bool {
    let count = expected.utf8CodeUnitCount
    let matches = expected.withUTF8Buffer { expected in
      rest.prefix(count).elementsEqual(expected) { caseless ? Byte.lowercased($0) == $1 : $0 == $1 }
    }
    if matches { rest = rest.dropFirst(count) }
    return matches
  }

  // first-pos = last-pos = complete-length = 1*DIGIT; leading zeros are allowed.
  mutating func number() -> UInt64? {
    let digits = rest.prefix { $0 &- 0x30 < 10 }
    guard let number = Digits.value(of: digits), number <= UInt64(Int64.max) else { return nil }
    rest = rest.dropFirst(digits.count)
    return number
  }
}
