// Load through Foundation's URLSession on Linux: a number of tasks, each of which awaits one response after another.

import Foundation
import FoundationNetworking
import LoadMeasure

let load = Load.fromCommandLine()
guard load.upload == nil, load.download == nil else { Load.fail("this one neither sends nor writes files") }

do {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.httpMaximumConnectionsPerHost = load.inFlight
  configuration.urlCache = nil
  configuration.httpAdditionalHeaders = Dictionary(uniqueKeysWithValues: Load.fields)
  let session = URLSession(configuration: configuration)
  try await send(Tickets(load.warmUp), session)
  let tickets = Tickets(load.requests)
  let measurement = Measurement()
  try await send(tickets, session)
  measurement.finish(tickets)
} catch {
  Load.fail("\(error)")
}

struct WrongResponse: Error {
  let status: Int?
  let bodyBytes: Int
}

func send(_ tickets: Tickets, _ session: URLSession) async throws {
  guard let url = URL(string: load.url) else { Load.fail("\(load.url) is no URL") }
  let (exact, byteCount) = (load.exactBody.map { Data($0) }, load.expectedBytes)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for _ in 0..<load.inFlight {
      group.addTask {
        while let ticket = tickets.take() {
          let (body, response) = try await session.data(from: url)
          let status = (response as? HTTPURLResponse)?.statusCode
          guard status == 200, exact.map({ $0 == body }) ?? (body.count == byteCount) else {
            throw WrongResponse(status: status, bodyBytes: body.count)
          }
          tickets.finish(ticket)
        }
      }
    }
    try await group.waitForAll()
  }
}
