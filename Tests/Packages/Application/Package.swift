// swift-tools-version: 6.2
// Application: a program whose dependencies use Lupine with different traits.

import PackageDescription

let package = Package(
  name: "Application",
  dependencies: [
    // With all traits that the dependencies use: SwiftPM 6.3 resolves only the dependencies of the traits of the first package that
    // names Lupine, and fails if another one needs more ("exhausted attempts to resolve the dependencies graph"). Observability is only
    // for the build that this program shares, see ../run.
    .package(name: "Lupine", path: "../../..", traits: ["HTTPTypes", "Observability", "Services"]),
    .package(path: "../Plain"), .package(path: "../Calls"), .package(path: "../Life"), .package(path: "../Unrelated"),
  ],
  targets: [
    .executableTarget(
      name: "Application",
      dependencies: [
        .product(name: "LupineEngine", package: "Lupine"),
        .product(name: "Plain", package: "Plain"), .product(name: "Calls", package: "Calls"),
        .product(name: "Life", package: "Life"), .product(name: "Unrelated", package: "Unrelated"),
      ])
  ]
)
