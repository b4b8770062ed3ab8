// swift-tools-version: 6.2
// Lupine: an HTTP/1.1 client for Linux with Alamofire 5's API. Layers, lowest first; each imports only what is below it.

import PackageDescription

// A dependency on another Swift package would be fetched by every user of the libraries, whatever
// product needs it, so there is none here. Benchmarks/ and Fuzz/ are packages of their own.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Lupine",
  products: [
    .library(name: "Lupine", targets: ["Lupine"]),
    .library(name: "Alamofire", targets: ["Alamofire"]),
    .library(name: "LupineURLSession", targets: ["LupineURLSession"]),
    .library(name: "FoundationNetworking", targets: ["FoundationNetworking"]),
    .library(name: "LupineTesting", targets: ["LupineTesting"]),
    .library(name: "LupineEngine", targets: ["LupineEngine"]),
    .executable(name: "lupine", targets: ["LupineCommand"]),
    .executable(name: "lupine-demo", targets: ["LupineDemo"]),
  ],
  targets: [
    // What the system gives.
    .target(name: "CLupineLinux"),
    .systemLibrary(name: "CLupineOpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLupineZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CLupineBrotli", pkgConfig: "libbrotlienc", providers: [.apt(["libbrotli-dev"])]),

    // The leaves, which do not know each other.
    .target(name: "LupineRandom", swiftSettings: strict),
    .target(name: "LupineWire", swiftSettings: strict),
    .target(name: "LupineCoding", dependencies: ["CLupineZlib", "CLupineBrotli"], swiftSettings: strict),
    .target(name: "LupineTLS", dependencies: ["CLupineOpenSSL"], swiftSettings: strict),
    .target(name: "LupineReactor", dependencies: ["CLupineLinux"], swiftSettings: strict),

    // What composes them.
    .target(
      name: "LupineEngine",
      dependencies: ["LupineWire", "LupineCoding", "LupineTLS", "LupineReactor"],
      swiftSettings: strict),
    // The networking types that every Swift program knows, on the engine.
    .target(name: "LupineURLSession", dependencies: ["LupineEngine"], swiftSettings: strict),
    // The same under the name that programs for Linux import.
    .target(name: "FoundationNetworking", dependencies: ["LupineURLSession"], swiftSettings: strict),
    // Stubs for tests, on URLProtocol.
    .target(name: "LupineTesting", dependencies: ["LupineURLSession"], swiftSettings: strict),
    // Alamofire's API on those.
    .target(name: "Lupine", dependencies: ["LupineURLSession", "LupineEngine"], swiftSettings: strict),
    // The same under the name that programs written for Alamofire import.
    .target(name: "Alamofire", dependencies: ["Lupine"], swiftSettings: strict),

    // For the demo and the tests, and in no library: the server's side of sockets and TLS, and on top of it the origin
    // server that they talk to.
    .target(name: "CLupineLoopback"),
    .target(
      name: "LupineLoopback", dependencies: ["CLupineLoopback", "CLupineOpenSSL", "LupineTLS", "LupineReactor"],
      swiftSettings: strict),
    .target(
      name: "LupineOrigin",
      dependencies: ["LupineWire", "LupineCoding", "LupineTLS", "LupineReactor", "LupineLoopback"],
      swiftSettings: strict),

    // Programs.
    .executableTarget(
      name: "LupineCommand", dependencies: ["LupineEngine", "LupineRandom", "CLupineLinux"], swiftSettings: strict),
    .executableTarget(
      name: "LupineDemo", dependencies: ["Lupine", "LupineEngine", "LupineOrigin"], swiftSettings: strict),

    // For the tests: a program whose main thread waits in one way or another.
    .executableTarget(
      name: "LupineMainQueue", dependencies: ["Lupine"], path: "Tests/LupineMainQueue", swiftSettings: strict),
    // And one in which any call to the system can be made to fail.
    .target(
      name: "CLupineFaults", dependencies: ["CLupineOpenSSL", "CLupineZlib", "CLupineBrotli"],
      path: "Tests/CLupineFaults"),
    .executableTarget(
      name: "LupineFaults",
      dependencies: ["Lupine", "LupineEngine", "LupineOrigin", "LupineTestSupport", "CLupineFaults"],
      path: "Tests/LupineFaults", swiftSettings: strict),

    // And one that sends requests for hours: make soak.
    .executableTarget(
      name: "LupineSoak", dependencies: ["Lupine", "LupineEngine", "LupineOrigin", "LupineTestSupport"],
      path: "Tests/LupineSoak", swiftSettings: strict),

    // What tests of several targets need.
    .target(
      name: "LupineTestSupport", dependencies: ["LupineRandom"], path: "Tests/LupineTestSupport", swiftSettings: strict),

    .testTarget(name: "LupineWireTests", dependencies: ["LupineWire", "LupineTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "LupineCodingTests", dependencies: ["LupineCoding", "LupineTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "LupineTLSTests", dependencies: ["LupineTLS", "LupineLoopback", "LupineTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "LupineReactorTests", dependencies: ["LupineReactor", "LupineLoopback", "LupineTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LupineOriginTests",
      dependencies: [
        "LupineOrigin", "LupineLoopback", "LupineWire", "LupineCoding", "LupineTLS", "LupineReactor",
        "LupineTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LupineEngineTests",
      dependencies: ["LupineEngine", "LupineSimulation", "LupineOrigin", "LupineLoopback", "LupineTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LupineServerTests", dependencies: ["LupineEngine", "LupineOrigin", "LupineLoopback", "LupineTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LupineURLSessionTests",
      dependencies: [
        "LupineURLSession", "Lupine", "LupineTesting", "LupineEngine", "LupineOrigin", "LupineLoopback",
        "LupineTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LupineTests",
      dependencies: [
        "Lupine", "LupineURLSession", "LupineEngine", "LupineOrigin", "LupineLoopback", "LupineTestSupport",
        "LupineMainQueue",
        "LupineFaults",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LupineCommandTests",
      dependencies: ["LupineCommand", "LupineEngine", "LupineOrigin", "LupineLoopback", "LupineTestSupport"],
      swiftSettings: strict),
    .testTarget(name: "TidyTests", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// The simulated world, in which the tests run the engine, and the pool's model. It sees their internals by @testable
// import, which a release build doesn't allow, so it is a target for tests. Fuzz/run, whose builds allow it, sets this
// variable to get it as a library.
let simulation: [Target.Dependency] = ["LupineEngine", "LupineRandom"]
if Context.environment["LUPINE_FUZZ"] == nil {
  package.targets.append(
    .testTarget(
      name: "LupineSimulation", dependencies: simulation, path: "Tests/LupineSimulation", swiftSettings: strict))
} else {
  package.products.append(.library(name: "LupineSimulation", targets: ["LupineSimulation"]))
  package.targets.append(
    .target(name: "LupineSimulation", dependencies: simulation, path: "Tests/LupineSimulation", swiftSettings: strict))
}
