// swift-tools-version: 6.2
// Load generators that compare Lupine with other clients. A package of its own, so that what it needs reaches no user.

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
  dependencies: [.package(name: "Lupine", path: "..")],
  targets: [
    .target(name: "LoadMeasure", swiftSettings: strict),
    .executableTarget(name: "load-api", dependencies: ["LoadMeasure", lupine, engine], swiftSettings: strict),
    .executableTarget(name: "load-engine-async", dependencies: ["LoadMeasure", engine], swiftSettings: strict),
    .executableTarget(name: "load-engine-callback", dependencies: ["LoadMeasure", engine], swiftSettings: strict),
    .executableTarget(name: "micro", dependencies: [lupine, engine], swiftSettings: strict),
    .executableTarget(name: "micro-growth", dependencies: [engine], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
