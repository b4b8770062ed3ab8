// RequestMinimizer: reduces a request while it still causes the same fault, with a limited number of attempts.

/// Removes lines, and then bytes, from a request, in ever smaller groups (delta debugging). The caller sends each request that `next`
/// returns, and passes the result to `note`.
struct RequestMinimizer {
  /// The maximum number of requests with which one finding is reduced: 1,000.
  static let requestsMax = 1_000
  /// The time after which no further request is sent to reduce a finding: 60 s, because each attempt at a hang takes the time limit.
  static let duration = Duration.seconds(60)

  private var pieces: [ArraySlice<UInt8>]
  private var arePiecesLines = true
  /// The number of pieces that an attempt leaves out, and the first of them.
  private var groupSize: Int
  private var index = 0
  private var hasRemoved = false
  private var attempt: Range<Int>?
  private let countMax: Int
  /// The number of requests that `next` has returned, at most the `countMax` of the initializer.
  private(set) var requestCount = 0

  init(_ bytes: [UInt8], countMax: Int) {
    pieces = bytes.split(after: UInt8(ascii: "\n"))
    groupSize = max(1, pieces.count / 2)
    self.countMax = countMax
  }

  /// The shortest request so far that causes the fault.
  var bytes: [UInt8] { Array(pieces.joined()) }

  /// Returns the next request to try, or nil if no further one is useful or permitted.
  mutating func next() -> [UInt8]? {
    while requestCount < countMax {
      guard index < pieces.count else {
        guard nextRound() else { return nil }
        continue
      }
      let end = min(index + groupSize, pieces.count)
      guard index > 0 || end < pieces.count else {
        index = end
        continue
      }
      attempt = index..<end
      requestCount += 1
      return Array(pieces[..<index].joined()) + pieces[end...].joined()
    }
    return nil
  }

  /// Notes whether the request that `next` returned last caused the same fault.
  mutating func note(isSame: Bool) {
    guard let range = attempt.take() else { return }
    if isSame {
      pieces.removeSubrange(range)
      hasRemoved = true
    } else {
      index = range.upperBound
    }
  }

  /// Begins another round at the first piece. Returns false if nothing more can be removed.
  private mutating func nextRound() -> Bool {
    if groupSize > 1 {
      groupSize = min(groupSize / 2, max(1, pieces.count / 2))
    } else if !hasRemoved {
      guard arePiecesLines else { return false }
      arePiecesLines = false
      let all = bytes
      pieces = all.indices.map { all[$0...$0] }
      groupSize = max(1, pieces.count / 2)
    }
    (index, hasRemoved) = (0, false)
    return true
  }
}

extension [UInt8] {
  /// Splits the bytes after each occurrence of `separator`.
  fileprivate func split(after separator: UInt8) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var rest = self[...]
    while let end = rest.firstIndex(of: separator) {
      parts.append(rest[...end])
      rest = rest[(end + 1)...]
    }
    return rest.isEmpty ? parts : parts + [rest]
  }
}
