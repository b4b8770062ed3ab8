// RecordingSink: a sink that records the response and lets a test wait for its end.

import LupineEngine
import LupineOrigin
import Synchronization

final class RecordingSink: ResponseSink {
  struct Record: Sendable {
    var informational: [Int] = []
    var head: ResponseHead?
    var body: [UInt8] = []
    var trailers: Fields?
    var error: EngineError?
    var metrics: ExchangeMetrics?
    var finishCount = 0
  }

  let sawHead = Gate()
  let finished = Gate()
  private let record = Mutex(Record())
  private let bodyCount = Atomic<Int>(0)
  /// A callback on the event loop for each part of the body, with the number of body bytes received so far.
  private let onBody: @Sendable (Int) -> Void

  private let disposition: BodyDisposition

  init(disposition: BodyDisposition = .deliver, onBody: @escaping @Sendable (Int) -> Void = { _ in }) {
    self.disposition = disposition
    self.onBody = onBody
  }

  /// Everything that the sink has received. Waits until the exchange has ended.
  var outcome: Record {
    get async {
      await finished.wait()
      return record.withLock { $0 }
    }
  }

  /// Everything that the sink has received so far. It is incomplete until the exchange has ended.
  var recorded: Record { record.withLock { $0 } }
  /// The error with which the exchange has ended, or nil if the exchange hasn't ended or has succeeded.
  var error: EngineError? { recorded.error }

  /// The number of response body bytes that the sink has received so far.
  var receivedCount: Int { bodyCount.load(ordering: .acquiring) }

  func receive(informational head: ResponseHead) { record.withLock { $0.informational.append(head.status) } }

  func receive(head: ResponseHead) -> BodyDisposition {
    record.withLock { $0.head = head }
    sawHead.open()
    return disposition
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    record.withLock { $0.body.append(copying: bytes, 0..<bytes.count) }
    onBody(bodyCount.add(bytes.count, ordering: .acquiringAndReleasing).newValue)
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    record.withLock { record in
      record.finishCount += 1
      record.metrics = metrics
      switch result {
      case .success(let trailers): record.trailers = trailers
      case .failure(let error): record.error = error
      }
    }
    finished.open()
  }
}

extension Engine {
  /// Performs a request, and returns everything that its sink has received.
  func record(_ request: EngineRequest) async -> RecordingSink.Record {
    let sink = RecordingSink()
    submit(request, to: sink)
    return await sink.outcome
  }

  func record(_ url: String) async throws -> RecordingSink.Record {
    await record(EngineRequest(uri: try URI(url)))
  }
}

extension RecordingSink.Record {
  var text: String { String(decoding: body, as: UTF8.self) }
}
