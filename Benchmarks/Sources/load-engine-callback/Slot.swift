// Slot: a request in flight, which checks its response and then sends the next request.

import LoadMeasure
import LupineEngine

/// The response body that a request must receive: exact bytes, or only a length.
struct ExpectedBody: Sendable {
  let exact: [UInt8]?
  let byteCount: Int
}

/// Sends one request at a time, as long as there are tickets. The end of each response starts the next request.
///
/// Unchecked, because only the engine's loop calls the slot after its first request was submitted.
final class Slot: ResponseSink, @unchecked Sendable {
  private let requests: [EngineRequest]
  private let engine: Engine
  private let tickets: Tickets
  private let expected: ExpectedBody
  private let continuation: CheckedContinuation<Void, Never>
  /// The number of body bytes of the current response that have arrived.
  private var received = 0
  private var ticket: Ticket?

  init(
    _ requests: [EngineRequest], _ engine: Engine, _ tickets: Tickets, _ expected: ExpectedBody,
    _ continuation: CheckedContinuation<Void, Never>
  ) {
    self.requests = requests
    self.engine = engine
    self.tickets = tickets
    self.expected = expected
    self.continuation = continuation
  }

  func submitNext() {
    guard let next = tickets.take() else { return continuation.resume() }
    ticket = next
    received = 0
    engine.submit(requests[next.index % requests.count], to: self)
  }

  func receive(head: ResponseHead) -> BodyDisposition {
    guard head.status == 200 else { Load.fail("the status is \(head.status)") }
    return .deliver
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    received += bytes.count
    let end = received
    guard end <= expected.byteCount else { Load.fail("the body is too long") }
    guard let exact = expected.exact else { return }
    for index in bytes.indices where bytes[index] != exact[end - bytes.count + index] {
      Load.fail("the body is wrong")
    }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    if case .failure(let error) = result { Load.fail("\(error)") }
    guard received == expected.byteCount else { Load.fail("the body is too short") }
    if let ticket { tickets.finish(ticket) }
    submitNext()
  }
}
