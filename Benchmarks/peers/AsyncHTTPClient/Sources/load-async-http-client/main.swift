// Load through AsyncHTTPClient on one event loop: a number of tasks, each of which awaits one response after another.

import AsyncHTTPClient
import LoadMeasure
import NIOCore
import NIOPosix
import NIOSSL

let load = Load.fromCommandLine()
guard load.upload == nil, load.download == nil else { Load.fail("this one neither sends nor writes files") }

do {
  var configuration = HTTPClient.Configuration()
  configuration.httpVersion = .http1Only
  configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = load.inFlight
  if let authorities = load.authorities {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(authorities)
    configuration.tlsConfiguration = tls
  }
  let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let client = HTTPClient(eventLoopGroupProvider: .shared(loops), configuration: configuration)
  try await send(Tickets(load.warmUp), client)
  let tickets = Tickets(load.requests)
  let measurement = Measurement()
  try await send(tickets, client)
  measurement.finish(tickets)
  try await client.shutdown().get()
} catch {
  Load.fail("\(error)")
}

struct WrongResponse: Error {
  let status: UInt
  let bodyBytes: Int
}

func send(_ tickets: Tickets, _ client: HTTPClient) async throws {
  let (urls, exact, byteCount) = (load.urls, load.exactBody, load.expectedBytes)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for _ in 0..<load.inFlight {
      group.addTask {
        while let ticket = tickets.take() {
          var request = HTTPClientRequest(url: urls[ticket.index % urls.count])
          for (name, value) in Load.fields { request.headers.add(name: name, value: value) }
          let response = try await client.execute(request, timeout: .seconds(600))
          var received = 0
          for try await piece in response.body {
            let end = received + piece.readableBytes
            // A body that is too long ends the slice early, and therefore differs.
            let expected = exact?.dropFirst(received).prefix(piece.readableBytes)
            if let expected, !piece.readableBytesView.elementsEqual(expected) {
              throw WrongResponse(status: response.status.code, bodyBytes: end)
            }
            received = end
          }
          guard response.status == .ok, received == byteCount else {
            throw WrongResponse(status: response.status.code, bodyBytes: received)
          }
          tickets.finish(ticket)
        }
      }
    }
    try await group.waitForAll()
  }
}
