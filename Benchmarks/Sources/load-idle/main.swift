// The memory of an idle connection: opens as many connections as there are concurrent requests, and measures how much
// the process has grown.
//
// The server must respond to the URL after a pause, so that each request needs a separate connection. Any status code is
// accepted.

import EngineLoad
import LoadMeasure
import LupineEngine

let load = Load.fromCommandLine()

do {
  let engine = try load.makeEngine()
  let request = try load.makeRequests()[0]
  try await open(load.warmUp, request, engine)  // so that one-time allocations are made before the measurement
  let before = Memory(connections: await engine.counters().total.idle)
  try await open(load.inFlight, request, engine)
  let after = Memory(connections: await engine.counters().total.idle)
  let opened = after.connections - before.connections
  guard opened > 0 else { Load.fail("no connection is idle") }
  print(
    "connections=\(opened)",
    "allocated_bytes_each=\((after.allocatedBytes - before.allocatedBytes) / opened)",
    "resident_bytes_each=\((after.residentBytes - before.residentBytes) / opened)",
    "peak_rss_kib=\(Measurement.residentKiB("VmHWM"))")
} catch {
  Load.fail("\(error)")
}

struct Memory {
  let connections: Int
  let allocatedBytes = Measurement.allocatedBytes()
  let residentBytes = Measurement.residentKiB("VmRSS") * 1024
}

nonisolated func open(_ count: Int, _ request: EngineRequest, _ engine: Engine) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    for _ in 0..<count {
      group.addTask { _ = try await engine.collect(request) }
    }
    try await group.waitForAll()
  }
}
