// What an idle connection costs in memory: opens as many as there are requests in flight, all at once, and looks at
// what the process has more than before.
//
// The URL answers after a pause, so that no connection can serve two requests. Any status is right.

import EngineLoad
import LoadMeasure
import LupineEngine

let load = Load.fromCommandLine()

do {
  let engine = try load.makeEngine()
  let request = try load.makeRequests()[0]
  try await open(load.warmUp, request, engine)  // so that what is made once is there
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
