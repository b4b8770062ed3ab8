// Relay: sequences of requests. The end of a response starts the next request, on the loop's thread.

import LupineEngine
import Synchronization

/// Sends a given number of requests from a list, which is repeated if necessary. The end of a response starts the next request.
final class Relay: Sendable {
  private let requests: [EngineRequest]
  private let count: Int
  private let engine: Engine
  private let continuation: CheckedContinuation<Void, Never>
  private let started = Atomic(0)
  private let finished = Atomic(0)

  /// Sends `count` requests, of which `inFlight` are concurrent. Returns after all responses. Ends the process if a request fails.
  static func run(_ requests: [EngineRequest], count: Int, inFlight: Int, on engine: Engine) async {
    await withCheckedContinuation { continuation in
      let relay = Relay(requests, count, engine, continuation)
      for _ in 0..<min(inFlight, count) { Runner(relay).next() }
    }
  }

  private init(
    _ requests: [EngineRequest], _ count: Int, _ engine: Engine, _ continuation: CheckedContinuation<Void, Never>
  ) {
    self.requests = requests
    self.count = count
    self.engine = engine
    self.continuation = continuation
  }

  /// One of the concurrent sequences of requests. It sends one request at a time.
  private final class Runner: ResponseSink {
    private let relay: Relay

    init(_ relay: Relay) { self.relay = relay }

    func next() {
      let number = relay.started.add(1, ordering: .relaxed).oldValue
      guard number < relay.count else { return }
      relay.engine.submit(relay.requests[number % relay.requests.count], to: self)
    }

    func receive(head: ResponseHead) -> BodyDisposition {
      guard head.status == 200 else { fatalError("the status is \(head.status)") }
      return .deliver
    }

    func receive(body bytes: borrowing Span<UInt8>) {}

    func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
      if case .failure(let error) = result { fatalError("\(error)") }
      let finished = relay.finished.add(1, ordering: .relaxed).newValue
      if finished == relay.count { relay.continuation.resume() }
      next()
    }
  }
}
