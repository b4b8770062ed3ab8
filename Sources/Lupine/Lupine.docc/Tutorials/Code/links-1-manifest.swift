// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "check-links",
  targets: [
    .target(name: "LinkChecker"),
    .executableTarget(name: "check-links", dependencies: ["LinkChecker"]),
  ]
)
