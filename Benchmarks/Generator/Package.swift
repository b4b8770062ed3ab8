// swift-tools-version: 6.2
// The load generator LupineBench under load. A separate package, so that the package trait Bench and HdrHistogram are needed only for
// `make bench`: with that trait, `make counts` would have to build Lupine a second time.

import PackageDescription

let package = Package(
  name: "load-generator",
  dependencies: [
    .package(name: "Benchmarks", path: ".."),
    .package(name: "Lupine", path: "../..", traits: ["Bench", "Zstd"]),
  ],
  targets: [
    .executableTarget(
      name: "load-generator",
      dependencies: [
        .product(name: "LoadMeasure", package: "Benchmarks"),
        .product(name: "LupineBench", package: "Lupine"),
        .product(name: "LupineEngine", package: "Lupine"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
