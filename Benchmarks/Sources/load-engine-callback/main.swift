// Load through the engine's callbacks: the loop sends the next request when a response has ended.

import EngineLoad
import LoadMeasure
import LupineEngine

let load = Load.fromCommandLine()

do {
  let engine = try load.makeEngine()
  let requests = try load.makeRequests()
  await send(Tickets(load.warmUp), requests, engine)
  let tickets = Tickets(load.requests)
  let measurement = Measurement()
  await send(tickets, requests, engine)
  measurement.finish(tickets)
} catch {
  Load.fail("\(error)")
}

nonisolated func send(_ tickets: Tickets, _ requests: [EngineRequest], _ engine: Engine) async {
  let expected = ExpectedBody(exact: load.exactBody, byteCount: load.expectedBytes)
  await withTaskGroup { group in
    for _ in 0..<load.inFlight {
      group.addTask {
        await withCheckedContinuation { Slot(requests, engine, tickets, expected, $0).submitNext() }
      }
    }
  }
}
