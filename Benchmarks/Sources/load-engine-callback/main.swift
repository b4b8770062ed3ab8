// Load through the engine's callbacks: whoever hears the end of a response sends the next request, on the loop itself.

import LoadMeasure
import LupineEngine
import Synchronization

let load = Load.fromCommandLine()

do {
  var configuration = EngineConfiguration()
  configuration.pool.connectionsPerOriginMax = load.inFlight
  configuration.pool.idlePerOriginMax = load.inFlight
  let engine = try Engine(configuration: configuration)
  var fields = Fields()
  for (name, value) in Load.fields { fields.append(name: name, value: value) }
  let request = EngineRequest(uri: try URI(load.url), fields: fields)

  await send(load.warmUp, request, engine, inFlight: load.inFlight)
  let measurement = Measurement()
  await send(load.requests, request, engine, inFlight: load.inFlight)
  measurement.finish(requests: load.requests)
} catch {
  Load.fail("\(error)")
}

nonisolated func send(_ count: Int, _ request: EngineRequest, _ engine: Engine, inFlight: Int) async {
  let tickets = Tickets(count)
  await withTaskGroup { group in
    for _ in 0..<inFlight {
      group.addTask {
        await withCheckedContinuation { Slot(request, engine, tickets, $0).submitNext() }
      }
    }
  }
}

/// One request at a time, as long as there are tickets.
final class Slot: ResponseSink {
  private let request: EngineRequest
  private let engine: Engine
  private let tickets: Tickets
  private let continuation: CheckedContinuation<Void, Never>
  /// How many bytes of the body have come.
  private let received = Atomic<Int>(0)

  init(
    _ request: EngineRequest, _ engine: Engine, _ tickets: Tickets, _ continuation: CheckedContinuation<Void, Never>
  ) {
    self.request = request
    self.engine = engine
    self.tickets = tickets
    self.continuation = continuation
  }

  func submitNext() {
    guard tickets.take() else { return continuation.resume() }
    received.store(0, ordering: .relaxed)
    engine.submit(request, to: self)
  }

  func receive(head: ResponseHead) -> BodyDisposition {
    guard head.status == 200 else { Load.fail("the status is \(head.status)") }
    return .deliver
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    let end = received.add(bytes.count, ordering: .relaxed).newValue
    guard end <= Load.expectedBody.count else { Load.fail("the body is too long") }
    for index in bytes.indices where bytes[index] != Load.expectedBody[end - bytes.count + index] {
      Load.fail("the body is wrong")
    }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    if case .failure(let error) = result { Load.fail("\(error)") }
    guard received.load(ordering: .relaxed) == Load.expectedBody.count else { Load.fail("the body is too short") }
    submitNext()
  }
}
