// swift-tools-version: 6.2
// Fuzz targets for all code that reads input of peers or callers. A separate package, so that users don't get it.

import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Fuzz",
  dependencies: [.package(name: "Lupine", path: "..", traits: ["Zstd"])],
  targets: [
    .target(name: "CLibFuzzer"),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "CLibFuzzer",
        .product(name: "Lupine", package: "Lupine"),
        .product(name: "LupineURLSession", package: "Lupine"),
        .product(name: "LupineTesting", package: "Lupine"),
        .product(name: "LupineEngine", package: "Lupine"),
        // Lupine's package declares this product only if the environment variable LUPINE_FUZZ is set, as it is by `run`.
        .product(name: "LupineCookies", package: "Lupine"),
        .product(name: "LupineJSONDifferential", package: "Lupine"),
        .product(name: "LupineStores", package: "Lupine"),
        .product(name: "LupineSimulation", package: "Lupine"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
