// Load by LupineBench's closed loop, which measures and counts each request as `lupine bench` does. Benchmarks/run measures the
// processor time and the memory from outside, as for wrk.

import LoadMeasure
import LupineBench
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
  let scenario = Scenario("GET", on: engine) { _ in request }
  // The number of requests ends the load.
  var plan = LoadPlan(.closed(inFlight: load.inFlight, .seconds(3_600)))
  plan.requestsMax = load.requests
  let report = try await LoadTest(plan, [scenario]).run()
  guard report.errors.isEmpty, report.completedCount == load.requests else { Load.fail("errors: \(report.errors)") }
  func microseconds(_ share: Double) -> Double { report.quantile(share) / .microseconds(1) }
  print(
    "requests=\(report.completedCount)", "requests_per_second=\(report.rate)",
    "p50_us=\(microseconds(0.5))", "p99_us=\(microseconds(0.99))", "p999_us=\(microseconds(0.999))")
} catch {
  Load.fail("\(error)")
}
