// swift-tools-version: 6.2
// Life: a library that uses Lupine with the trait Services.

import PackageDescription

let package = Package(
  name: "Life",
  products: [.library(name: "Life", targets: ["Life"])],
  dependencies: [
    .package(name: "Lupine", path: "../../..", traits: ["Services"])
  ],
  targets: [
    .target(
      name: "Life",
      dependencies: [
        .product(name: "LupineServices", package: "Lupine"), .product(name: "LupineEngine", package: "Lupine"),
      ])
  ]
)
