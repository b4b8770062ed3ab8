// swift-tools-version: 6.2
// Plain: a library that uses Lupine without traits, and a program that uses LupineJSON without other libraries.

import PackageDescription

let package = Package(
  name: "Plain",
  products: [.library(name: "Plain", targets: ["Plain"])],
  dependencies: [
    .package(name: "Lupine", path: "../../..", traits: [])
  ],
  targets: [
    .target(
      name: "Plain",
      dependencies: [
        .product(name: "LupineEngine", package: "Lupine")
      ]),
    .executableTarget(
      name: "Document",
      dependencies: [
        .product(name: "LupineJSON", package: "Lupine")
      ]),
  ]
)
