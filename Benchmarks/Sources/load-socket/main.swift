// WebSocket messages through URLSessionWebSocketTask: connections that each send a message and wait until the server has returned it;
// or, with `--mode idle`, the memory of connections that are open and idle.

import Foundation
import LoadMeasure
import Lupine

let load = Load.fromCommandLine()

do {
  guard let url = URL(string: load.url) else { Load.fail("the URL is invalid") }
  let session = URLSession(configuration: .ephemeral)
  if load.mode == "idle" {
    _ = try await open(load.warmUp, url, session)  // so that one-time allocations are made before the measurement
    let before = Memory()
    let tasks = try await open(load.inFlight, url, session)
    let after = Memory()
    print(
      "connections=\(tasks.count)",
      "allocated_bytes_each=\((after.allocatedBytes - before.allocatedBytes) / tasks.count)",
      "resident_bytes_each=\((after.residentBytes - before.residentBytes) / tasks.count)",
      "peak_rss_kib=\(Measurement.residentKiB("VmHWM"))")
  } else {
    let tasks = try await open(load.inFlight, url, session)
    try await exchange(Tickets(load.warmUp), tasks)
    let tickets = Tickets(load.requests)
    let measurement = Measurement()
    try await exchange(tickets, tasks)
    measurement.finish(tickets)
  }
} catch {
  Load.fail("\(error)")
}

struct Memory {
  let allocatedBytes = Measurement.allocatedBytes()
  let residentBytes = Measurement.residentKiB("VmRSS") * 1024
}

struct WrongMessage: Error {}

/// Opens connections, and sends one message on each.
nonisolated func open(_ count: Int, _ url: URL, _ session: URLSession) async throws -> [URLSessionWebSocketTask] {
  let tasks = (0..<count).map { _ in session.webSocketTask(with: url) }
  try await withThrowingTaskGroup(of: Void.self) { group in
    for task in tasks {
      task.resume()
      group.addTask { try await echo(Data("open".utf8), task) }
    }
    try await group.waitForAll()
  }
  return tasks
}

nonisolated func exchange(_ tickets: Tickets, _ tasks: [URLSessionWebSocketTask]) async throws {
  let message = Data((0..<load.expectedBytes).map { UInt8(truncatingIfNeeded: $0) })
  try await withThrowingTaskGroup(of: Void.self) { group in
    for task in tasks {
      group.addTask {
        while let ticket = tickets.take() {
          try await echo(message, task)
          tickets.finish(ticket)
        }
      }
    }
    try await group.waitForAll()
  }
}

nonisolated func echo(_ message: Data, _ task: URLSessionWebSocketTask) async throws {
  try await task.send(.data(message))
  guard case .data(let answer) = try await task.receive(), answer == message else { throw WrongMessage() }
}
