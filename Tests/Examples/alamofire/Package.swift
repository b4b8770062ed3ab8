// swift-tools-version: 6.0
// A program that was written for Alamofire, with its import as it was.

import PackageDescription

let package = Package(
  name: "program",
  dependencies: [.package(name: "Lupine", path: "../../..")],
  targets: [
    .executableTarget(name: "program", dependencies: [.product(name: "Alamofire", package: "Lupine")])
  ]
)
