// main: lupine-demo, a tour of the API with servers in this process. It exits with status 1 if a step fails.

import Foundation

let stage: Stage
do {
  stage = try Stage()
} catch {
  print(
    "The demo's servers can't start: \(error). Check the loopback interface and the descriptor limit (ulimit -n).")
  exit(1)
}

print("Lupine's tour: \(Tour.steps.count) steps with an origin in this process, \(stage.origin)\n")
var failures = 0
for (index, step) in Tour.steps.enumerated() {
  print(Text.heading("\(index + 1). \(step.title)"))
  print(Text.indented(step.code, by: "    | "))
  let start = ContinuousClock.now
  do {
    let outcome = try await step.run(stage)
    print("    → \(outcome)  [\(Text.milliseconds(start.duration(to: .now) / .seconds(1)))]\n")
  } catch {
    failures += 1
    print("    ✗ \(error)\n")
  }
}
stage.close()
print(
  failures == 0
    ? "All \(Tour.steps.count) steps succeeded." : "\(failures) of \(Tour.steps.count) steps failed.")
exit(failures == 0 ? 0 : 1)
