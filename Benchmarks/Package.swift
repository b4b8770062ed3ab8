// swift-tools-version: 6.2
// Load generators that compare Lupine with other clients. A separate package, so that users don't get its dependencies.

import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let lupine = Target.Dependency.product(name: "Lupine", package: "Lupine")
let engine = Target.Dependency.product(name: "LupineEngine", package: "Lupine")

let package = Package(
  name: "Benchmarks",
  // The other packages in this folder use these products: Micro, and each client that is written in Swift.
  products: [
    .library(name: "LoadMeasure", targets: ["LoadMeasure"]),
    .library(name: "ResponseHeads", targets: ["ResponseHeads"]),
  ],
  // With the trait that the Makefile enables, so that `make release` and Benchmarks/counts can share a build.
  dependencies: [.package(name: "Lupine", path: "..", traits: ["Zstd"])],
  targets: [
    .target(name: "CAllocation"),
    .target(name: "LoadMeasure", dependencies: ["CAllocation"], swiftSettings: strict),
    .target(name: "EngineLoad", dependencies: ["LoadMeasure", engine], swiftSettings: strict),
    .executableTarget(
      name: "load-api", dependencies: ["EngineLoad", "LoadMeasure", lupine, engine], swiftSettings: strict),
    .executableTarget(
      name: "load-engine-async", dependencies: ["EngineLoad", "LoadMeasure", engine], swiftSettings: strict),
    .executableTarget(
      name: "load-engine-callback", dependencies: ["EngineLoad", "LoadMeasure", engine], swiftSettings: strict),
    .executableTarget(name: "load-idle", dependencies: ["EngineLoad", "LoadMeasure", engine], swiftSettings: strict),
    .executableTarget(name: "load-socket", dependencies: ["LoadMeasure", lupine], swiftSettings: strict),
    .target(name: "ResponseHeads", dependencies: [engine], swiftSettings: strict),
    .executableTarget(name: "parse-heads", dependencies: ["ResponseHeads", engine], swiftSettings: strict),
    .executableTarget(name: "micro-growth", dependencies: [engine], swiftSettings: strict),
    .executableTarget(name: "cache-cost", dependencies: [lupine], swiftSettings: strict),
    .executableTarget(name: "json-cost", dependencies: [lupine], swiftSettings: strict),
    .executableTarget(name: "lock-waits", dependencies: [lupine, engine], swiftSettings: strict),
    .executableTarget(name: "paths", dependencies: [lupine], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
