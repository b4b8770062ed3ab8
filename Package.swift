// swift-tools-version: 6.3
// Lupine: an HTTP/1.1 client for Linux with Alamofire 5's API. The libraries' targets are listed from the lowest layer to the
// highest; each imports only targets of lower layers.

import PackageDescription

// Users of the libraries download no other Swift packages: each dependency belongs to a trait that is off by default, and every use
// of its products is conditional on that trait. Benchmarks/ and Fuzz/ need dependencies always, so they are separate packages.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// A dependency on libzstd, if the trait `Zstd` is enabled.
let zstd = Target.Dependency.target(name: "CLupineZstd", condition: .when(traits: ["Zstd"]))

// Products of other packages, if the trait that needs them is enabled.
let configuration = Target.Dependency.product(
  name: "Configuration", package: "swift-configuration", condition: .when(traits: ["Services"]))
let lifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Services"]))
let lifecycleTestKit = Target.Dependency.product(
  name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle", condition: .when(traits: ["Services"]))
let httpTypes = Target.Dependency.product(
  name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"]))
let observability = TargetDependencyCondition.when(traits: ["Observability"])

let package = Package(
  name: "Lupine",
  products: [
    .library(name: "Lupine", targets: ["Lupine"]),
    .library(name: "Alamofire", targets: ["Alamofire"]),
    .library(name: "Alamofire4", targets: ["Alamofire4"]),
    .library(name: "LupineURLSession", targets: ["LupineURLSession"]),
    .library(name: "FoundationNetworking", targets: ["FoundationNetworking"]),
    .library(name: "LupineTesting", targets: ["LupineTesting"]),
    .library(name: "LupineEngine", targets: ["LupineEngine"]),
    .library(name: "LupineJSON", targets: ["LupineJSON"]),
    .library(name: "LupineBench", targets: ["LupineBench"]),
    .library(name: "LupineServices", targets: ["LupineServices"]),
    .library(name: "LupineServicesFoundation", targets: ["LupineServicesFoundation"]),
    .library(name: "LupineHTTPTypes", targets: ["LupineHTTPTypes"]),
    .library(name: "LupineHTTPTypesFoundation", targets: ["LupineHTTPTypesFoundation"]),
    .library(name: "LupineHTTPAPIs", targets: ["LupineHTTPAPIs"]),
    .library(name: "LupineObservability", targets: ["LupineObservability"]),
    .executable(name: "lupine", targets: ["LupineCommand"]),
    .executable(name: "lupine-demo", targets: ["LupineDemo"]),
  ],
  traits: [
    // Off by default, so that users who don't need it need no libzstd. It defines the compilation condition `Zstd`.
    .trait(name: "Zstd", description: "The content coding zstd (RFC 8878), with the system's libzstd."),
    // Downloads HdrHistogram and swift-numerics.
    .trait(name: "Bench", description: "The library LupineBench and the command `lupine bench`."),
    // Downloads swift-service-lifecycle, swift-configuration and what they need.
    .trait(name: "Services", description: "The life cycle and configuration of clients in servers: LupineServices."),
    // Downloads swift-http-types.
    .trait(name: "HTTPTypes", description: "Calls with the types of swift-http-types: LupineHTTPTypes."),
    // Needs Swift 6.4. Downloads swift-http-api-proposal, which depends on many packages, and swift-http-types. Untried.
    .trait(
      name: "HTTPAPIs", description: "Engine as an HTTPClient of swift-http-api-proposal (untried): LupineHTTPAPIs.",
      enabledTraits: ["HTTPTypes"]),
    // Downloads swift-distributed-tracing, swift-metrics and swift-log.
    .trait(name: "Observability", description: "The library LupineObservability: traces, metrics and logs."),
  ],
  dependencies: [
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    // Without its default trait, which parses JSON with Foundation.
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    // Without its default trait, which imports Foundation.
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
  ],
  targets: [
    // Modules for the system's headers and libraries.
    .target(name: "CLupineLinux"),
    .target(name: "LupineLibc", swiftSettings: strict),
    .systemLibrary(name: "CLupineOpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLupineZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CLupineBrotli", pkgConfig: "libbrotlienc", providers: [.apt(["libbrotli-dev"])]),
    .systemLibrary(name: "CLupineZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),

    // The leaves, which don't import each other.
    .target(name: "LupineRandom", swiftSettings: strict),
    .target(name: "LupineWire", swiftSettings: strict),
    // Links the C library's mathematical functions, which the optimizer calls to round: without Foundation and Glibc, nothing else does.
    .target(name: "LupineJSON", swiftSettings: strict, linkerSettings: [.linkedLibrary("m")]),
    .target(name: "LupineCoding", dependencies: ["CLupineZlib", "CLupineBrotli", zstd], swiftSettings: strict),
    .target(name: "LupineTLS", dependencies: ["CLupineOpenSSL", "LupineLibc"], swiftSettings: strict),
    .target(name: "LupineReactor", dependencies: ["CLupineLinux", "LupineLibc"], swiftSettings: strict),

    // The frames and messages of WebSocket, without I/O. Compression needs LupineCoding.
    .target(name: "LupineWebSocket", dependencies: ["LupineCoding"], swiftSettings: strict),

    // Authentication: state machines without I/O, and the system's Kerberos, which is loaded on first use.
    .target(name: "LupineAuthentication", dependencies: ["LupineWire", "LupineTLS"], swiftSettings: strict),
    .target(name: "CLupineGSSAPI"),
    .target(
      name: "LupineGSSAPI", dependencies: ["LupineAuthentication", "CLupineGSSAPI", "LupineLibc"],
      swiftSettings: strict),

    // The rules of HTTP caches, and the stores of responses in memory and in a folder.
    .target(name: "LupineCache", dependencies: ["LupineWire"], swiftSettings: strict),
    .target(
      name: "LupineCacheStore", dependencies: ["LupineCache", "LupineWire", "LupineReactor"],
      swiftSettings: strict),

    // The records of background sessions.
    .target(name: "LupineTransferStore", dependencies: ["LupineReactor", "LupineLibc"], swiftSettings: strict),

    // The engine, which combines the leaves.
    .target(
      name: "LupineEngine",
      dependencies: [
        "LupineWire", "LupineCoding", "LupineWebSocket", "LupineTLS", "LupineReactor", "LupineRandom",
      ],
      swiftSettings: strict),
    // Which credentials the engine's requests send to origins and proxies: for URLSession and the command.
    .target(
      name: "LupineLogin", dependencies: ["LupineEngine", "LupineAuthentication", "LupineGSSAPI", "LupineLibc"],
      swiftSettings: strict),
    // Foundation's cookies, and forms. They don't depend on the engine, so that SwiftPM builds them at the same time.
    .target(name: "LupineCookies", dependencies: ["LupineWire"], swiftSettings: strict),
    .target(name: "LupineFormats", dependencies: ["LupineJSON"], swiftSettings: strict),

    // Foundation's networking types, implemented on the engine.
    .target(
      name: "LupineURLSession",
      dependencies: [
        "LupineEngine", "LupineWebSocket", "LupineAuthentication", "LupineLogin", "LupineCookies", "LupineCache",
        "LupineCacheStore", "LupineTransferStore", "LupineLibc",
      ],
      swiftSettings: strict),
    // The same types under the module name that programs for Linux import.
    .target(name: "FoundationNetworking", dependencies: ["LupineURLSession"], swiftSettings: strict),
    // Stubs for tests, on URLProtocol.
    .target(name: "LupineTesting", dependencies: ["LupineURLSession"], swiftSettings: strict),
    // Alamofire's API, implemented on Foundation's types.
    .target(
      name: "Lupine", dependencies: ["LupineURLSession", "LupineEngine", "LupineFormats", "LupineLibc"],
      swiftSettings: strict),
    // The same API under the module name that programs written for Alamofire import.
    .target(name: "Alamofire", dependencies: ["Lupine"], swiftSettings: strict),

    // Alamofire 4's API, implemented on Foundation's types and with parts of Lupine, which it doesn't re-export.
    .target(
      name: "Alamofire4", dependencies: ["LupineURLSession", "Lupine", "LupineFormats"], swiftSettings: strict),

    // For the demo and the tests, and in no library: the server side of sockets and TLS, and an origin server that uses it.
    .target(name: "CLupineLoopback"),
    .target(
      name: "LupineLoopback",
      dependencies: ["CLupineLoopback", "CLupineOpenSSL", "LupineTLS", "LupineReactor", "LupineLibc"],
      swiftSettings: strict),
    .target(
      name: "LupineOrigin",
      dependencies: ["LupineWire", "LupineCoding", "LupineTLS", "LupineReactor", "LupineLoopback"],
      swiftSettings: strict),

    // The load generator. Without the trait `Bench`, it contains only a declaration that explains the trait.
    .target(
      name: "LupineBench",
      dependencies: [
        "LupineEngine", "LupineReactor", "LupineWire", "LupineCoding", "LupineWebSocket", "LupineRandom", "LupineJSON",
        "LupineLibc",
        .product(name: "Histogram", package: "hdrhistogram-swift", condition: .when(traits: ["Bench"])),
      ],
      swiftSettings: strict),

    // For servers: the life cycle and the configuration of engines and, with Foundation, of sessions.
    .target(
      name: "LupineServices", dependencies: ["LupineEngine", configuration, lifecycle], swiftSettings: strict),
    .target(
      name: "LupineServicesFoundation",
      dependencies: ["LupineServices", "LupineURLSession", "LupineEngine", configuration, lifecycle],
      swiftSettings: strict),

    // Requests and responses in the types of swift-http-types, for engines and, with Foundation, for sessions.
    .target(name: "LupineHTTPTypes", dependencies: ["LupineEngine", httpTypes], swiftSettings: strict),
    .target(
      name: "LupineHTTPTypesFoundation",
      dependencies: ["LupineHTTPTypes", "LupineURLSession", "LupineEngine", httpTypes], swiftSettings: strict),

    // The engine as the client protocol that is proposed for the ecosystem. Its dependencies on other packages are at the end.
    .target(
      name: "LupineHTTPAPIs", dependencies: ["LupineHTTPTypes", "LupineEngine", httpTypes],
      swiftSettings: strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),

    // Traces, metrics and logs. Without the trait `Observability`, it contains only a declaration that explains the trait.
    .target(
      name: "LupineObservability",
      dependencies: [
        "LupineEngine", "LupineReactor", "LupineWire",
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: observability),
        .product(name: "CoreMetrics", package: "swift-metrics", condition: observability),
        .product(name: "Logging", package: "swift-log", condition: observability),
      ],
      swiftSettings: strict),

    // Programs.
    .executableTarget(
      name: "LupineCommand",
      dependencies: [
        "LupineEngine", "LupineWebSocket", "LupineAuthentication", "LupineLogin", "LupineCache", "LupineCacheStore",
        "LupineBench", "LupineJSON", "LupineRandom", "CLupineLinux", "LupineLibc",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "LupineDemo", dependencies: ["Lupine", "LupineEngine", "LupineOrigin"], swiftSettings: strict),

    // A program for the tests, whose main thread waits in several ways while requests run.
    .executableTarget(
      name: "LupineMainQueue", dependencies: ["Lupine"], path: "Tests/LupineMainQueue", swiftSettings: strict),
    // A program for Tests/Namespaces, which prints the changes of the network, or sends requests.
    .executableTarget(
      name: "LupineReachability", dependencies: ["Lupine", "LupineEngine"], path: "Tests/LupineReachability",
      swiftSettings: strict),
    // A program for the tests, in which any system call can be made to fail.
    .target(
      name: "CLupineFaults", dependencies: ["CLupineOpenSSL", "CLupineZlib", "CLupineBrotli", zstd],
      path: "Tests/CLupineFaults", cSettings: [.define("LUPINE_ZSTD", .when(traits: ["Zstd"]))]),
    .executableTarget(
      name: "LupineFaults",
      dependencies: ["Lupine", "LupineEngine", "LupineOrigin", "LupineTestSupport", "CLupineFaults"],
      path: "Tests/LupineFaults", swiftSettings: strict),

    // A client of the Autobahn test suite: `make autobahn`.
    .executableTarget(
      name: "LupineAutobahn", dependencies: ["LupineURLSession"], path: "Tests/LupineAutobahn", swiftSettings: strict),

    // A program that sends requests for hours: `make soak`.
    .executableTarget(
      name: "LupineSoak", dependencies: ["Lupine", "LupineEngine", "LupineOrigin", "LupineTestSupport"],
      path: "Tests/LupineSoak", swiftSettings: strict),

    // A program that kills a process with background transfers again and again: `make background-soak`.
    .executableTarget(
      name: "LupineBackgroundSoak",
      dependencies: [
        "LupineURLSession", "LupineTransferStore", "LupineOrigin", "LupineRandom", "LupineTestSupport", "LupineWire",
      ],
      path: "Tests/LupineBackgroundSoak", swiftSettings: strict),

    // A program for the tests, in which system calls fail during background transfers.
    .executableTarget(
      name: "LupineBackgroundFaults",
      dependencies: ["LupineURLSession", "LupineTransferStore", "LupineOrigin", "CLupineFaults"],
      path: "Tests/LupineBackgroundFaults", swiftSettings: strict),

    // A program whose processes share a cache's directory while they are killed: `make cache-soak`.
    .executableTarget(
      name: "LupineCacheSoak",
      dependencies: [
        "LupineURLSession", "LupineEngine", "LupineCacheStore", "LupineOrigin", "LupineRandom", "LupineTestSupport",
      ],
      path: "Tests/LupineCacheSoak", swiftSettings: strict),

    // Code shared by the tests of several targets.
    .target(
      name: "LupineTestSupport", dependencies: ["LupineRandom"], path: "Tests/LupineTestSupport", swiftSettings: strict),

    // Decodes random documents by LupineJSON and by Foundation, for the tests and for Fuzz/.
    .target(
      name: "LupineJSONDifferential", dependencies: ["LupineFormats", "LupineRandom"],
      path: "Tests/LupineJSONDifferential", swiftSettings: strict),

    .testTarget(
      name: "LupineBenchTests",
      dependencies: ["LupineBench", "LupineEngine", "LupineJSON", "LupineOrigin", "LupineTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LupineServicesTests",
      dependencies: [
        "LupineServices", "LupineServicesFoundation", "LupineURLSession", "LupineEngine", "LupineOrigin", configuration,
        lifecycle, lifecycleTestKit,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LupineHTTPTypesTests",
      dependencies: [
        "LupineHTTPTypes", "LupineHTTPTypesFoundation", "LupineURLSession", "LupineEngine", "LupineOrigin", httpTypes,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LupineObservabilityTests",
      dependencies: [
        "LupineObservability", "LupineEngine", "LupineURLSession", "Lupine", "Alamofire4", "LupineReactor",
        "LupineWire", "LupineOrigin", "LupineLoopback", "LupineTestSupport",
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: observability),
        .product(name: "Tracing", package: "swift-distributed-tracing", condition: observability),
        .product(name: "MetricsTestKit", package: "swift-metrics", condition: observability),
        .product(name: "CoreMetrics", package: "swift-metrics", condition: observability),
        .product(name: "InMemoryLogging", package: "swift-log", condition: observability),
        .product(name: "Logging", package: "swift-log", condition: observability),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LupineJSONTests",
      dependencies: ["LupineJSON", "LupineFormats", "LupineJSONDifferential", "LupineRandom", "LupineTestSupport"],
      swiftSettings: strict),
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
    // A program for the tests, in which system calls fail while transfers are recorded.
    .executableTarget(
      name: "LupineTransferFaults", dependencies: ["LupineTransferStore", "LupineReactor", "CLupineFaults"],
      path: "Tests/LupineTransferFaults", swiftSettings: strict),
    .testTarget(
      name: "LupineTransferStoreTests",
      dependencies: ["LupineTransferStore", "LupineReactor", "LupineTestSupport", "LupineTransferFaults"],
      swiftSettings: strict),
    .testTarget(
      name: "LupineCodingTests", dependencies: ["LupineCoding", "LupineTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "LupineWebSocketTests",
      dependencies: ["LupineWebSocket", "LupineCoding", "LupineOrigin", "LupineRandom"], swiftSettings: strict),
    .testTarget(
      name: "LupineTLSTests", dependencies: ["LupineTLS", "LupineLoopback", "LupineTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "LupineAuthenticationTests",
      dependencies: ["LupineAuthentication", "LupineWire", "LupineTLS"], swiftSettings: strict),
    .testTarget(
      name: "LupineGSSAPITests", dependencies: ["LupineGSSAPI", "LupineAuthentication"], swiftSettings: strict),
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
      dependencies: [
        "LupineEngine", "LupineWebSocket", "LupineSimulation", "LupineRandom", "LupineOrigin", "LupineLoopback",
        "LupineTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LupineLoginTests",
      dependencies: ["LupineLogin", "LupineEngine", "LupineAuthentication", "LupineOrigin"], swiftSettings: strict),
    .testTarget(
      name: "LupineCookiesTests", dependencies: ["LupineCookies", "LupineTestSupport"], swiftSettings: strict),
    .testTarget(
      name: "LupineServerTests",
      dependencies: [
        "Lupine", "LupineURLSession", "LupineEngine", "LupineOrigin", "LupineLoopback", "LupineTestSupport",
      ],
      swiftSettings: strict),
    // Code shared by the tests of LupineURLSession and of Lupine. It uses `@testable import`, which a release build of a
    // library doesn't allow, so it is a test target.
    .testTarget(
      name: "LupineURLSessionTestSupport",
      dependencies: ["LupineURLSession", "LupineEngine", "LupineOrigin", "LupineLoopback", "LupineTestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "LupineURLSessionTests",
      dependencies: [
        "LupineURLSession", "Lupine", "LupineTesting", "LupineCache", "LupineAuthentication", "LupineLogin",
        "LupineWebSocket", "LupineEngine", "LupineOrigin", "LupineLoopback", "LupineTestSupport",
        "LupineURLSessionTestSupport", "LupineTransferStore", "LupineBackgroundSoak", "LupineBackgroundFaults",
      ],
      swiftSettings: strict),
    // The tests of LupineURLSession's only unsafe code, so that `make asan` doesn't compile all of its tests.
    .testTarget(name: "LupinePieceTests", dependencies: ["LupineURLSession"], swiftSettings: strict),
    .testTarget(
      name: "LupineTests",
      dependencies: [
        "Lupine", "LupineURLSession", "LupineCookies", "LupineFormats", "LupineAuthentication",
        "LupineEngine", "LupineOrigin", "LupineTransferStore",
        "LupineLoopback", "LupineTestSupport", "LupineURLSessionTestSupport", "LupineMainQueue", "LupineFaults",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "Alamofire4Tests",
      dependencies: [
        "Alamofire4", "Lupine", "LupineURLSession", "LupineEngine", "LupineOrigin", "LupineLoopback",
        "LupineTransferStore",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "LupineCommandTests",
      dependencies: [
        "LupineCommand", "LupineBench", "LupineEngine", "LupineAuthentication", "LupineWire", "LupineOrigin",
        "LupineLoopback", "LupineTestSupport",
      ],
      swiftSettings: strict),
    .testTarget(name: "TidyTests", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// The packages that the trait `HTTPAPIs` needs. The manifest of swift-http-api-proposal needs Swift 6.4, and an older SwiftPM would
// report that instead of LupineHTTPAPIs's error.
#if compiler(>=6.4)
  package.dependencies += [
    .package(url: "https://github.com/apple/swift-http-api-proposal", .upToNextMinor(from: "0.2.1")),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.5"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
  ]
  package.targets.first { $0.name == "LupineHTTPAPIs" }?.dependencies += [
    .product(name: "HTTPAPIs", package: "swift-http-api-proposal", condition: .when(traits: ["HTTPAPIs"])),
    .product(name: "AsyncStreaming", package: "swift-async-algorithms", condition: .when(traits: ["HTTPAPIs"])),
    .product(name: "BasicContainers", package: "swift-collections", condition: .when(traits: ["HTTPAPIs"])),
    .product(name: "ContainersPreview", package: "swift-collections", condition: .when(traits: ["HTTPAPIs"])),
  ]
#endif

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
  package.products.append(.library(name: "LupineJSONDifferential", targets: ["LupineJSONDifferential"]))
  package.products.append(
    .library(name: "LupineStores", targets: ["LupineCache", "LupineCacheStore", "LupineTransferStore"]))
  package.targets.append(
    .target(name: "LupineSimulation", dependencies: simulation, path: "Tests/LupineSimulation", swiftSettings: strict))
}

// LUPINE_TARGETS names the only targets to build, with the targets and products that they need, because compiling all tests takes
// minutes. The commands that compile a target don't depend on the selection, so that another one compiles nothing twice.
let selection = Context.environment["LUPINE_TARGETS"]?.split(separator: " ").map { String($0) } ?? []
if !selection.isEmpty {
  let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
  var kept: Set<String> = []
  var rest = selection
  while let name = rest.popLast() {
    guard let target = targets[name] else { fatalError("LUPINE_TARGETS names \(name), which isn't a target") }
    guard kept.insert(name).inserted else { continue }
    for case .targetItem(let name, _) in target.dependencies { rest.append(name) }
    for case .byNameItem(let name, _) in target.dependencies { rest.append(name) }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { product in
    let targets = (product as? Product.Library)?.targets ?? (product as? Product.Executable)?.targets ?? []
    return !kept.isSuperset(of: targets)
  }
  // A dependency that no target names would be downloaded without its trait.
  var packages: Set<String> = []
  for target in package.targets {
    for case .productItem(_, let name?, _, _) in target.dependencies { packages.insert(name) }
  }
  package.dependencies.removeAll { dependency in
    guard case .sourceControl(_, let location, _) = dependency.kind else { return false }
    return !packages.contains { location.hasSuffix("/\($0)") }
  }
}
