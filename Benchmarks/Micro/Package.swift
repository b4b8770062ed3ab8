// swift-tools-version: 6.2
// Benchmarks of the parts of a request, in one process. A separate package, so that others don't get its dependencies.

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
    // Without its traits, the package needs no jemalloc. Allocations are counted by Benchmarks/counts.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "CHTTPParser", linkerSettings: [.linkedLibrary("http_parser")]),
    // The package's plugin finds benchmarks by their folder.
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
