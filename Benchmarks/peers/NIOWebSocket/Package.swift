// swift-tools-version: 6.2
// NIOWebSocket under load. A separate package, so that SwiftNIO is only fetched for this comparison.

import PackageDescription

let package = Package(
  name: "load-nio-websocket",
  dependencies: [
    .package(name: "Benchmarks", path: "../.."),
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
  ],
  targets: [
    .executableTarget(
      name: "load-nio-websocket",
      dependencies: [
        .product(name: "LoadMeasure", package: "Benchmarks"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
