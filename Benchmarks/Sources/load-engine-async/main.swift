// Load through the engine's async functions: a number of tasks, each of which awaits one response after another.
//
// By default the tasks run on Swift's thread pool; with `--mode loop` they run on the thread of the engine's loop.

import EngineLoad
import LoadMeasure
import LupineEngine

let load = Load.fromCommandLine()

do {
  let engine = try load.makeEngine()
  let requests = try load.makeRequests()
  let executor = load.mode == "loop" ? engine.executor(for: requests[0].uri.origin) : nil

  try await send(Tickets(load.warmUp), requests, engine, executor)
  let tickets = Tickets(load.requests)
  let measurement = Measurement()
  try await send(tickets, requests, engine, executor)
  measurement.finish(tickets)
} catch {
  Load.fail("\(error)")
}

struct WrongResponse: Error {
  let status: Int
  let bodyBytes: Int
}

nonisolated func send(
  _ tickets: Tickets, _ requests: [EngineRequest], _ engine: Engine, _ executor: (any TaskExecutor)?
) async throws {
  let (exact, byteCount) = (load.exactBody, load.expectedBytes)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for _ in 0..<load.inFlight {
      group.addTask(on: executor) {
        while let ticket = tickets.take() {
          let response = try await engine.collect(requests[ticket.index % requests.count])
          guard response.head.status == 200, exact.map({ $0 == response.body }) ?? (response.body.count == byteCount)
          else { throw WrongResponse(status: response.head.status, bodyBytes: response.body.count) }
          tickets.finish(ticket)
        }
      }
    }
    try await group.waitForAll()
  }
}
