// swift-tools-version: 6.2
// AsyncHTTPClient under load. A package of its own, so that it and SwiftNIO are fetched only by who measures them.

import PackageDescription

let package = Package(
  name: "load-async-http-client",
  dependencies: [
    .package(name: "Benchmarks", path: "../.."),
    .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
  ],
  targets: [
    .executableTarget(
      name: "load-async-http-client",
      dependencies: [
        .product(name: "LoadMeasure", package: "Benchmarks"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
