// swift-tools-version: 6.2
// Calls: a library that uses Lupine with the trait HTTPTypes.

import PackageDescription

let package = Package(
  name: "Calls",
  products: [.library(name: "Calls", targets: ["Calls"])],
  dependencies: [
    .package(name: "Lupine", path: "../../..", traits: ["HTTPTypes"])
  ],
  targets: [
    .target(
      name: "Calls",
      dependencies: [
        .product(name: "LupineHTTPTypes", package: "Lupine"), .product(name: "LupineEngine", package: "Lupine"),
      ])
  ]
)
