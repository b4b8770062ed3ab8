// swift-tools-version: 6.2
// AsyncHTTPClient under load. A separate package, so that SwiftNIO is only fetched for this comparison.

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
