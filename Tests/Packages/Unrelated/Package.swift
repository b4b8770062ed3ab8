// swift-tools-version: 6.2
// Unrelated: a library without Lupine, which shares swift-log with Lupine's trait Services.

import PackageDescription

let package = Package(
  name: "Unrelated",
  products: [.library(name: "Unrelated", targets: ["Unrelated"])],
  dependencies: [
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0")
  ],
  targets: [
    .target(
      name: "Unrelated",
      dependencies: [
        .product(name: "Logging", package: "swift-log")
      ])
  ]
)
