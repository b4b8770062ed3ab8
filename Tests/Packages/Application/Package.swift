// swift-tools-version: 6.2
// Application: a program whose dependencies use Lupine with different traits.

import PackageDescription

let package = Package(
  name: "Application",
  dependencies: [
    .package(path: "../Plain"), .package(path: "../Calls"), .package(path: "../Life"), .package(path: "../Unrelated"),
  ],
  targets: [
    .executableTarget(
      name: "Application",
      dependencies: [
        .product(name: "Plain", package: "Plain"), .product(name: "Calls", package: "Calls"),
        .product(name: "Life", package: "Life"), .product(name: "Unrelated", package: "Unrelated"),
      ])
  ]
)
