// Sinks for bodies that are too large to be collected: they count, and compare with what is expected.

import Glibc
import LupineEngine
import LupineOrigin
import Synchronization

/// Counts a body's bytes, and compares each with what should stand there.
final class CountingSink: ResponseSink {
  /// What a body should consist of.
  enum Expected: Sendable {
    case anything
    case zeros
    /// `Pattern`.
    case pattern
  }

  let sawHead = Gate()
  let finished = Gate()
  private let count = Atomic<Int>(0)
  private let isWrong = Atomic<Bool>(false)
  private let end = Mutex<(status: Int?, error: EngineError?, metrics: ExchangeMetrics?)>((nil, nil, nil))
  private let expected: [UInt8]
  private let onBody: @Sendable (Int) -> Void

  /// `onBody` is called on the loop with the number of bytes so far.
  init(_ expected: Expected = .anything, onBody: @escaping @Sendable (Int) -> Void = { _ in }) {
    self.onBody = onBody
    // As much as one read of the engine's can bring, from whatever place of the period on.
    let countMax = 512 * 1024
    self.expected =
      switch expected {
      case .anything: []
      case .zeros: [UInt8](repeating: 0, count: countMax)
      case .pattern: PatternBytes.make(countMax)
      }
  }

  /// Bytes so far.
  var receivedCount: Int { count.load(ordering: .acquiring) }
  /// Whether every byte so far was as expected.
  var isRight: Bool { !isWrong.load(ordering: .acquiring) }
  var status: Int? { end.withLock { $0.status } }
  /// Why the exchange failed; to be asked behind `finished`.
  var error: EngineError? { end.withLock { $0.error } }
  /// What it cost; to be asked behind `finished`.
  var metrics: ExchangeMetrics? { end.withLock { $0.metrics } }

  func receive(head: ResponseHead) -> BodyDisposition {
    end.withLock { $0.status = head.status }
    sawHead.open()
    return .deliver
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    let before = count.load(ordering: .relaxed)
    if !expected.isEmpty { compare(bytes, at: before % PatternBytes.period) }
    count.store(before + bytes.count, ordering: .releasing)
    onBody(before + bytes.count)
  }

  // By memcmp: a loop over 100 MB would take a debug build seconds.
  private func compare(_ bytes: borrowing Span<UInt8>, at place: Int) {
    let isSame = bytes.withUnsafeBytes { bytes in
      expected.withUnsafeBytes { expected in
        guard let received = bytes.baseAddress, let right = expected.baseAddress else { return true }
        return place + bytes.count <= expected.count && memcmp(received, right + place, bytes.count) == 0
      }
    }
    if !isSame { isWrong.store(true, ordering: .releasing) }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    end.withLock { end in
      end.error = result.error
      end.metrics = metrics
    }
    finished.open()
  }
}

/// `Pattern` in bulk.
enum PatternBytes {
  /// After how many bytes it begins anew.
  static let period = 251

  private static let block = (0..<UInt64(period) * 256).map { Pattern.byte(at: $0) }

  /// The first bytes.
  static func make(_ byteCount: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount + block.count)
    while bytes.count < byteCount { bytes += block }
    bytes.removeLast(bytes.count - byteCount)
    return bytes
  }
}
