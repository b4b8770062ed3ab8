// The Transfer-Encoding field of a response (RFC 9112 §6.1): chunked at the end, known codings in front of it.

/// A transfer coding that may stand in front of chunked (RFC 9112 §7.2).
///
/// The wire layer only names it; whoever reads the body undoes it once the chunks are taken apart.
public enum TransferCoding: String, Sendable, Hashable, CaseIterable {
  /// The gzip file format, RFC 1952; `x-gzip` is the same.
  case gzip
  /// The zlib format, RFC 1950, around deflate data, RFC 1951.
  case deflate
}

/// What the Transfer-Encoding lines of one head say, read line by line.
///
/// A response whose last coding isn't chunked would end with the connection (§6.3); it is refused, as is what follows
/// chunked, because two readers of such a message seldom agree about its end.
struct TransferEncoding {
  /// The codings in front of chunked, in the order in which they were applied.
  private(set) var codings: [TransferCoding] = []
  /// Whether the field was sent at all.
  private(set) var isPresent = false
  private var endsChunked = false
  private var isUnderstood = true
  private let codingsMax: Int

  init(codingsMax: Int) { self.codingsMax = codingsMax }

  // Transfer-Encoding = #transfer-coding; one with parameters is none of those that are known.
  mutating func read(_ value: Range<UInt32>, of fields: Fields) {
    isPresent = true
    fields.forEachElement(of: value) { name in
      if endsChunked {
        isUnderstood = false
      } else if fields.matches(name, "chunked") {
        endsChunked = true
      } else if let coding = Self.coding(name, of: fields) {
        // One above the limit tells that it was passed; a long list makes no long array.
        if codings.count <= codingsMax { codings.append(coding) }
      } else {
        isUnderstood = false
      }
    }
  }

  /// Throws unless chunked is the last coding, stands once, and has known codings in front of it.
  func check(_ fields: Fields) throws(WireError) {
    guard isUnderstood, endsChunked else {
      throw .unsupportedTransferCoding(fields.list("transfer-encoding") ?? "")
    }
    guard codings.count <= codingsMax else { throw .tooManyTransferCodings(limit: codingsMax) }
  }

  private static func coding(_ name: Range<UInt32>, of fields: Fields) -> TransferCoding? {
    if fields.matches(name, "gzip") || fields.matches(name, "x-gzip") { return .gzip }
    return fields.matches(name, "deflate") ? .deflate : nil
  }
}

extension Fields {
  /// Visits the comma-separated parts of a value without the white space (SP, HTAB) around them, empty ones included.
  func forEachElement<Failure>(
    of value: Range<UInt32>, _ body: (Range<UInt32>) throws(Failure) -> Void
  ) throws(Failure) {
    var start = value.lowerBound
    while true {
      var end = start
      while end < value.upperBound, bytes[Int(end)] != Byte.comma { end += 1 }
      try body(trimmed(start..<end))
      guard end < value.upperBound else { return }
      start = end + 1
    }
  }

  private func trimmed(_ range: Range<UInt32>) -> Range<UInt32> {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high, bytes[Int(low)] == Byte.space || bytes[Int(low)] == Byte.tab { low += 1 }
    while low < high, bytes[Int(high) - 1] == Byte.space || bytes[Int(high) - 1] == Byte.tab { high -= 1 }
    return low..<high
  }
}
