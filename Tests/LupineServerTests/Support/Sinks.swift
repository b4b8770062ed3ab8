// Sinks: a sink for bodies too large to collect, which counts and compares bytes.

import Glibc
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization

/// A sink that counts the bytes of a response body, and compares them with the expected ones without storing the body.
final class CountingSink: ResponseSink {
  /// The content that a response body must have.
  enum Expected: Sendable {
    case anything
    case zeros
    /// The endless sequence of bytes that `Pattern` defines, from its start.
    case pattern
  }

  let sawHead = Gate()
  let finished = Gate()
  private let count = Atomic<Int>(0)
  private let isWrong = Atomic<Bool>(false)
  private let end = Mutex<(status: Int?, error: EngineError?, metrics: ExchangeMetrics?)>((nil, nil, nil))
  private let expected: [UInt8]
  private let onBody: @Sendable (Int) -> Void

  /// Creates a sink. It calls `onBody` on the event loop with the number of body bytes received so far.
  init(_ expected: Expected = .anything, onBody: @escaping @Sendable (Int) -> Void = { _ in }) {
    self.onBody = onBody
    // At least as many bytes as one read of the engine returns, starting anywhere in the period.
    let countMax = 512 * 1024
    self.expected =
      switch expected {
      case .anything: []
      case .zeros: [UInt8](repeating: 0, count: countMax)
      case .pattern: PatternBytes.make(countMax)
      }
  }

  /// The number of body bytes received so far.
  var receivedCount: Int { count.load(ordering: .acquiring) }
  /// Whether all body bytes received so far equal the expected ones.
  var isRight: Bool { !isWrong.load(ordering: .acquiring) }
  var status: Int? { end.withLock { $0.status } }
  /// The error with which the exchange has ended, or nil if it has succeeded. Valid after `finished` opens.
  var error: EngineError? { end.withLock { $0.error } }
  /// The metrics of the exchange, or nil before `finished` opens.
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

  // Uses memcmp: in a debug build, a loop over 100 MB would take seconds.
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
      end.error = result.failure
      end.metrics = metrics
    }
    finished.open()
  }
}

/// Creates long arrays with the bytes of `Pattern`.
enum PatternBytes {
  /// The number of bytes after which the pattern repeats.
  static let period = 251

  private static let block = (0..<UInt64(period) * 256).map { Pattern.byte(at: $0) }

  /// Returns the first `byteCount` bytes of the pattern.
  static func make(_ byteCount: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount + block.count)
    while bytes.count < byteCount { bytes += block }
    bytes.removeLast(bytes.count - byteCount)
    return bytes
  }
}
