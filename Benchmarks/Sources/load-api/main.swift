// Load through Alamofire's API: so many tasks, each of which awaits one response after the other.

import Foundation
import LoadMeasure
import Lupine
import LupineEngine

let load = Load.fromCommandLine()

let configuration = URLSessionConfiguration.default
configuration.httpMaximumConnectionsPerHost = load.inFlight
configuration.engine.pool.idlePerOriginMax = load.inFlight
configuration.headers = HTTPHeaders(Load.fields.map { HTTPHeader(name: $0.0, value: $0.1) })
let session = Session(configuration: configuration)

do {
  try await send(load.warmUp, load, session)
  let measurement = Measurement()
  try await send(load.requests, load, session)
  measurement.finish(requests: load.requests)
} catch {
  Load.fail("\(error)")
}

struct WrongBody: Error {
  let body: Data
}

nonisolated func send(_ count: Int, _ load: Load, _ session: Session) async throws {
  let tickets = Tickets(count)
  let expected = Data(Load.expectedBody)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for _ in 0..<load.inFlight {
      group.addTask {
        while tickets.take() {
          // A string, as programs write it; libcurl takes its URL apart for every transfer too.
          let body = try await session.request(load.url).serializingData().value
          guard body == expected else { throw WrongBody(body: body) }
        }
      }
    }
    try await group.waitForAll()
  }
}
