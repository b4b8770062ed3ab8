// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "check-links",
  dependencies: [.package(url: "URL-OF-LUPINE", branch: "main")],
  targets: [
    .target(name: "LinkChecker", dependencies: [.product(name: "FoundationNetworking", package: "Lupine")]),
    .executableTarget(name: "check-links", dependencies: ["LinkChecker"]),
  ]
)
