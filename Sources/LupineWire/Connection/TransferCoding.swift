// TransferCoding: parses the Transfer-Encoding field of a response (RFC 9112 §6.1). Its last coding must be chunked; gzip and
// deflate may precede it.

/// A transfer coding that a server may have applied before the chunked coding (RFC 9112 §7.2).
///
/// LupineWire only reports these codings. The reader of the body decodes them after the chunked coding.
public enum TransferCoding: String, Sendable, Hashable, CaseIterable {
  /// The gzip file format (RFC 1952). The name `x-gzip` means the same coding.
  case gzip
  /// The zlib format (RFC 1950) with deflate data (RFC 1951).
  case deflate
}

/// The transfer codings in a response head, collected from its Transfer-Encoding lines.
///
/// The last coding must be chunked. Otherwise the body would end when the connection closes (RFC 9112 §6.3), and the response is
/// refused. A coding after chunked is refused too, because implementations disagree about where such a message ends.
struct TransferEncoding {
  /// The codings that the server applied before chunked, in the order in which it applied them.
  private(set) var codings: [TransferCoding] = []
  /// Whether the head has a Transfer-Encoding line.
  private(set) var isPresent = false
  private var endsChunked = false
  private var isUnderstood = true
  private let codingsMax: Int

  init(codingsMax: Int) { self.codingsMax = codingsMax }

  // Transfer-Encoding = #transfer-coding. A coding with parameters counts as unknown.
  mutating func read(_ value: Range<UInt32>, of fields: Fields) {
    isPresent = true
    fields.forEachElement(of: value) { name in
      if endsChunked {
        isUnderstood = false
      } else if fields.matches(name, "chunked") {
        endsChunked = true
      } else if let coding = Self.coding(name, of: fields) {
        // Stores at most one coding more than the limit, so that `check` detects the excess and the array stays short.
        if codings.count <= codingsMax { codings.append(coding) }
      } else {
        isUnderstood = false
      }
    }
  }

  /// Throws `WireError.unsupportedTransferCoding` unless chunked is the last coding and occurs only once, and the codings before
  /// it are known. Throws `.tooManyTransferCodings` if their number exceeds the limit.
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
  /// Calls `body` for each comma-separated element of a field value, without surrounding white space (SP, HTAB),
  /// including empty elements.
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

  /// Returns the parts before and after the first `separator` in a range of the fields' bytes, without surrounding white space.
  /// Returns nil if the range contains no separator.
  func split(_ range: Range<UInt32>, at separator: UInt8) -> (Range<UInt32>, Range<UInt32>)? {
    guard let middle = range.first(where: { bytes[Int($0)] == separator }) else { return nil }
    return (trimmed(range.lowerBound..<middle), trimmed(middle + 1..<range.upperBound))
  }

  private func trimmed(_ range: Range<UInt32>) -> Range<UInt32> {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high, bytes[Int(low)] == Byte.space || bytes[Int(low)] == Byte.tab { low += 1 }
    while low < high, bytes[Int(high) - 1] == Byte.space || bytes[Int(high) - 1] == Byte.tab { high -= 1 }
    return low..<high
  }
}
