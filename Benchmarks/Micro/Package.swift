// swift-tools-version: 6.2
// Benchmarks of the steps of a request, in one process. A separate package, so that no other package gets its dependencies.

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
    // Without its traits, the benchmark package doesn't require jemalloc, with which it counts allocations. Benchmarks/counts
    // counts them instead.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "CHTTPParser", linkerSettings: [.linkedLibrary("http_parser")]),
    // The benchmark package's plugin runs the executables in the folder `Benchmarks`.
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
