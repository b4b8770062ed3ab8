// Times the parts of a request that need no network, each by itself, and the parser beside Debian's http-parser.

import Glibc
import LupineEngine

let usage = "usage: micro [--peer LIBRARY] [--only NAME] [--operations N]"
var (peerPath, only, operations) = ("", "", 0)
var rest = CommandLine.arguments.dropFirst()
while let argument = rest.popFirst() {
  switch (argument, rest.popFirst()) {
  case ("--peer", let value?): peerPath = value
  case ("--only", let value?): only = value
  case ("--operations", let value?): operations = Int(value) ?? 0
  default: stop(usage)
  }
}

let peer = peerPath.isEmpty ? nil : HTTPParser(path: peerPath)
if !peerPath.isEmpty, peer == nil { stop("\(peerPath) can't be loaded; its path needs a slash") }
let groups = [WireBenchmarks.heads(peer)] + (WireBenchmarks.others() + OtherBenchmarks.all()).map { [$0] }
for group in groups {
  let chosen = group.filter { only.isEmpty || $0.name == only }
  if operations > 0 {
    // For callgrind: so many operations, and not by time.
    for benchmark in chosen { benchmark.work(operations) }
  } else {
    for (benchmark, figures) in zip(chosen, Benchmark.measure(chosen)) { report(benchmark, figures) }
  }
}

nonisolated func stop(_ reason: String) -> Never {
  print(reason)
  exit(2)
}

nonisolated func report(_ benchmark: Benchmark, _ figures: Figures) {
  let name = benchmark.name + String(repeating: " ", count: max(0, 36 - benchmark.name.count))
  let speed = benchmark.bytes > 0 ? "\(rounded(Double(benchmark.bytes) / figures.median)) GB/s" : ""
  let spread = "(\(rounded(figures.spread.lowerBound)) to \(rounded(figures.spread.upperBound)))"
  print(name, "\(rounded(figures.median)) ns", spread, speed)
}

nonisolated func rounded(_ value: Double) -> Double {
  (value * 1000).rounded() / 1000
}
