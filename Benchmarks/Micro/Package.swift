// swift-tools-version: 6.2
// The parts of a request, timed in one process. A package of its own, so that its dependencies aren't the others'.

import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Micro",
  dependencies: [
    .package(name: "Benchmarks", path: ".."),
    .package(name: "Lupine", path: "../.."),
    // Without its traits it needs no jemalloc; allocations are counted elsewhere.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "CHTTPParser", linkerSettings: [.linkedLibrary("http_parser")]),
    // The library's plugin finds benchmarks by the folder they are in.
    .executableTarget(
      name: "Parts",
      dependencies: [
        "CHTTPParser",
        .product(name: "Benchmark", package: "benchmark"),
        .product(name: "Lupine", package: "Lupine"),
        .product(name: "LupineEngine", package: "Lupine"),
        .product(name: "ResponseHeads", package: "Benchmarks"),
      ],
      path: "Benchmarks/Parts",
      swiftSettings: strict,
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
  ],
  swiftLanguageModes: [.v6]
)
