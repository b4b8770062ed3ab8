// Load through the engine's async calls: so many tasks, each of which awaits one response after the other.

import LoadMeasure
import LupineEngine

let load = Load.fromCommandLine()

do {
  var configuration = EngineConfiguration()
  configuration.pool.connectionsPerOriginMax = load.inFlight
  configuration.pool.idlePerOriginMax = load.inFlight
  let engine = try Engine(configuration: configuration)
  var fields = Fields()
  for (name, value) in Load.fields { fields.append(name: name, value: value) }
  let request = EngineRequest(uri: try URI(load.url), fields: fields)

  try await send(load.warmUp, request, engine, inFlight: load.inFlight)
  let measurement = Measurement()
  try await send(load.requests, request, engine, inFlight: load.inFlight)
  measurement.finish(requests: load.requests)
} catch {
  Load.fail("\(error)")
}

struct WrongResponse: Error {
  let status: Int
  let body: [UInt8]
}

nonisolated func send(_ count: Int, _ request: EngineRequest, _ engine: Engine, inFlight: Int) async throws {
  let tickets = Tickets(count)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for _ in 0..<inFlight {
      group.addTask {
        while tickets.take() {
          let response = try await engine.collect(request)
          guard response.body == Load.expectedBody else {
            throw WrongResponse(status: response.head.status, body: response.body)
          }
        }
      }
    }
    try await group.waitForAll()
  }
}
