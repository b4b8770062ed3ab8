// swift-tools-version: 6.2
// Fuzz targets for everything that reads what a peer or a caller gives. A package of its own, so that it reaches no user.

import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Fuzz",
  dependencies: [.package(name: "Lupine", path: "..")],
  targets: [
    .target(name: "CLibFuzzer"),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "CLibFuzzer",
        .product(name: "Lupine", package: "Lupine"),
        .product(name: "LupineEngine", package: "Lupine"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
