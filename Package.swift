// swift-tools-version: 6.2
// Lupine: an HTTP/1.1 client for Linux with Alamofire 5's API. The targets are listed from the lowest layer to the highest; each
// imports only targets of lower layers.

import PackageDescription

// There are no dependencies on other Swift packages, because every user of the libraries would download them, whichever
// product needs them. Benchmarks/ and Fuzz/ are therefore separate packages.
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
    // Modules for the system's headers and libraries.
    .target(name: "CLupineLinux"),
    .systemLibrary(name: "CLupineOpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLupineZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CLupineBrotli", pkgConfig: "libbrotlienc", providers: [.apt(["libbrotli-dev"])]),

    // The leaves, which don't import each other.
    .target(name: "LupineRandom", swiftSettings: strict),
    .target(name: "LupineWire", swiftSettings: strict),
    .target(name: "LupineCoding", dependencies: ["CLupineZlib", "CLupineBrotli"], swiftSettings: strict),
    .target(name: "LupineTLS", dependencies: ["CLupineOpenSSL"], swiftSettings: strict),
    .target(name: "LupineReactor", dependencies: ["CLupineLinux"], swiftSettings: strict),

    // The rules of HTTP caches, and the stores of responses in memory and in a folder.
    .target(name: "LupineCache", dependencies: ["LupineWire"], swiftSettings: strict),
    .target(
      name: "LupineCacheStore", dependencies: ["LupineCache", "LupineWire", "LupineReactor"], swiftSettings: strict),

    // The engine, which combines the leaves.
    .target(
      name: "LupineEngine",
      dependencies: ["LupineWire", "LupineCoding", "LupineTLS", "LupineReactor"],
      swiftSettings: strict),
    // Leaves that use Foundation. They don't depend on the engine, so that SwiftPM builds them at the same time.
    .target(name: "LupineCookies", dependencies: ["LupineWire"], swiftSettings: strict),
    .target(name: "LupineFormats", swiftSettings: strict),

    // Foundation's networking types, implemented on the engine.
    .target(
      name: "LupineURLSession", dependencies: ["LupineEngine", "LupineCookies", "LupineCache", "LupineCacheStore"],
      swiftSettings: strict),
    // The same types under the module name that programs for Linux import.
    .target(name: "FoundationNetworking", dependencies: ["LupineURLSession"], swiftSettings: strict),
    // Stubs for tests, on URLProtocol.
    .target(name: "LupineTesting", dependencies: ["LupineURLSession"], swiftSettings: strict),
    // Alamofire's API, implemented on Foundation's types.
    .target(
      name: "Lupine", dependencies: ["LupineURLSession", "LupineEngine", "LupineFormats"], swiftSettings: strict),
    // The same API under the module name that programs written for Alamofire import.
    .target(name: "Alamofire", dependencies: ["Lupine"], swiftSettings: strict),

    // For the demo and the tests, and in no library: the server side of sockets and TLS, and an origin server that uses it.
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

    // A program for the tests, whose main thread waits in several ways while requests run.
    .executableTarget(
      name: "LupineMainQueue", dependencies: ["Lupine"], path: "Tests/LupineMainQueue", swiftSettings: strict),
    // A program for Tests/Namespaces/reachability, which prints the changes of a host's reachability.
    .executableTarget(
      name: "LupineReachability", dependencies: ["Lupine"], path: "Tests/LupineReachability", swiftSettings: strict),
    // A program for the tests, in which any system call can be made to fail.
    .target(
      name: "CLupineFaults", dependencies: ["CLupineOpenSSL", "CLupineZlib", "CLupineBrotli"],
      path: "Tests/CLupineFaults"),
    .executableTarget(
      name: "LupineFaults",
      dependencies: ["Lupine", "LupineEngine", "LupineOrigin", "LupineTestSupport", "CLupineFaults"],
      path: "Tests/LupineFaults", swiftSettings: strict),

    // A program that sends requests for hours: `make soak`.
    .executableTarget(
      name: "LupineSoak", dependencies: ["Lupine", "LupineEngine", "LupineOrigin", "LupineTestSupport"],
      path: "Tests/LupineSoak", swiftSettings: strict),

    // Code shared by the tests of several targets.
    .target(
      name: "LupineTestSupport", dependencies: ["LupineRandom"], path: "Tests/LupineTestSupport", swiftSettings: strict),

    .testTarget(name: "LupineWireTests", dependencies: ["LupineWire", "LupineTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "LupineCacheTests", dependencies: ["LupineCache", "LupineWire", "LupineTestSupport"], swiftSettings: strict),
    // Two programs: one that the tests kill while it stores responses, and one in which system calls fail meanwhile.
    .executableTarget(
      name: "LupineCacheWriter", dependencies: ["LupineCacheStore", "LupineCache", "LupineWire", "LupineTestSupport"],
      path: "Tests/LupineCacheWriter", swiftSettings: strict),
    .executableTarget(
      name: "LupineCacheFaults",
      dependencies: ["LupineCacheStore", "LupineCache", "LupineWire", "LupineReactor", "CLupineFaults"],
      path: "Tests/LupineCacheFaults", swiftSettings: strict),
    .testTarget(
      name: "LupineCacheStoreTests",
      dependencies: [
        "LupineCacheStore", "LupineCache", "LupineWire", "LupineReactor", "LupineTestSupport", "LupineCacheWriter",
        "LupineCacheFaults",
      ],
      swiftSettings: strict),
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
        "Lupine", "LupineURLSession", "LupineCookies", "LupineFormats", "LupineEngine", "LupineOrigin",
        "LupineLoopback", "LupineTestSupport", "LupineMainQueue", "LupineFaults",
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

// The simulated network, servers and clock in which tests run the engine, and the model of the pool. The target uses
// `@testable import`, which a release build of a library doesn't allow, so it is a test target. Fuzz/run builds with
// -enable-testing, and sets this variable to get the target as a library.
let simulation: [Target.Dependency] = ["LupineEngine", "LupineRandom"]
if Context.environment["LUPINE_FUZZ"] == nil {
  package.targets.append(
    .testTarget(
      name: "LupineSimulation", dependencies: simulation, path: "Tests/LupineSimulation", swiftSettings: strict))
} else {
  package.products.append(.library(name: "LupineSimulation", targets: ["LupineSimulation"]))
  package.products.append(.library(name: "LupineCookies", targets: ["LupineCookies"]))
  package.products.append(.library(name: "LupineCacheStore", targets: ["LupineCache", "LupineCacheStore"]))
  package.targets.append(
    .target(name: "LupineSimulation", dependencies: simulation, path: "Tests/LupineSimulation", swiftSettings: strict))
}
