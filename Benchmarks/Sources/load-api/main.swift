// Load through Alamofire's API: a number of tasks, each of which awaits one response after another.

import EngineLoad
import Foundation
import LoadMeasure
import Lupine
import LupineEngine

let load = Load.fromCommandLine()
guard let mode = Mode(rawValue: load.mode.isEmpty ? Mode.data.rawValue : load.mode) else {
  Load.fail("there is no mode \(load.mode); there are \(Mode.allCases.map(\.rawValue).joined(separator: ", "))")
}

let configuration = URLSessionConfiguration.default
if !load.usesCache { configuration.urlCache = nil }
configuration.httpMaximumConnectionsPerHost = load.inFlight
configuration.engine.pool.keep(connectionsPerOrigin: load.inFlight, origins: load.origins)
configuration.engine.busyPoll = .microseconds(load.busyPollMicroseconds)
configuration.headers = HTTPHeaders(Load.fields.map { HTTPHeader(name: $0.0, value: $0.1) })
if let authorities = load.authorities { configuration.engine.tls.trustRoots = [.file(authorities)] }

Features.prepare(configuration, for: mode, load.url)

do {
  var monitors: [any EventMonitor] = [AlamofireNotifications()]
  if mode == .monitor { monitors.append(Features.monitor) }
  let session = Session(configuration: configuration, eventMonitors: monitors)
  let caller = try Caller(session: session, load: load, mode: mode)
  try await send(Tickets(load.warmUp), caller)
  let tickets = Tickets(load.requests)
  let measurement = Measurement()
  try await send(tickets, caller)
  measurement.finish(tickets)
} catch {
  Load.fail("\(error)")
}

nonisolated func send(_ tickets: Tickets, _ caller: Caller) async throws {
  let urls = load.urls
  let executor = mode == .dataOnLoop ? try caller.session.executor : nil
  try await withThrowingTaskGroup(of: Void.self) { group in
    for _ in 0..<load.inFlight {
      group.addTask(on: executor) {
        while let ticket = tickets.take() {
          // As in ordinary programs, the URL is passed as a string, and is therefore parsed for each request. libcurl parses it
          // each time too.
          try await caller.call(urls[ticket.index % urls.count])
          tickets.finish(ticket)
        }
      }
    }
    try await group.waitForAll()
  }
}
