// swift-tools-version: 6.3
import PackageDescription

let package = Package(
  name: "meteo",
  dependencies: [.package(url: "URL-OF-LUPINE", branch: "main")],
  targets: [
    .target(name: "Meteo", dependencies: [.product(name: "Lupine", package: "Lupine")]),
    .executableTarget(
      name: "meteo-report", dependencies: ["Meteo", .product(name: "Lupine", package: "Lupine")]),
    .testTarget(
      name: "MeteoTests", dependencies: ["Meteo", .product(name: "LupineTesting", package: "Lupine")]),
  ]
)
