// swift-tools-version: 6.2
// Foundation's URLSession under load. A separate package, so that no other program in this folder loads FoundationNetworking.

import PackageDescription

let package = Package(
  name: "load-urlsession",
  dependencies: [.package(name: "Benchmarks", path: "../..")],
  targets: [
    .executableTarget(
      name: "load-urlsession",
      dependencies: [.product(name: "LoadMeasure", package: "Benchmarks")])
  ],
  swiftLanguageModes: [.v6]
)
