// TidyTests: rules for the package: allowed imports, the length of files, and the files with unchecked or unsafe code.

import Foundation
import Testing

@Suite struct TidyTests {
  /// The modules that the files of each target may import. The compiler checks the order of this package's targets. The table also
  /// limits the system's modules.
  private static let allowedImports: [String: Set<String>] = [
    "LupineLibc": ["Glibc", "Musl"],
    "LupineWire": [],
    "LupineJSON": [],
    "LupineCache": ["LupineWire"],
    "LupineCacheStore": ["LupineCache", "LupineWire", "LupineReactor", "Synchronization"],
    "LupineTransferStore": ["LupineReactor", "LupineLibc", "Synchronization"],
    "LupineRandom": [],
    "LupineCoding": ["CLupineZlib", "CLupineBrotli", "CLupineZstd"],
    "LupineWebSocket": ["LupineCoding"],
    "LupineTLS": ["CLupineOpenSSL", "LupineLibc", "Synchronization"],
    "LupineReactor": ["CLupineLinux", "LupineLibc", "Synchronization"],
    "LupineAuthentication": ["LupineWire", "LupineTLS"],
    "LupineGSSAPI": ["LupineAuthentication", "CLupineGSSAPI", "LupineLibc", "Synchronization"],
    "LupineEngine": [
      "LupineWire", "LupineCoding", "LupineWebSocket", "LupineTLS", "LupineReactor", "LupineRandom", "Synchronization",
    ],
    "LupineLogin": ["LupineEngine", "LupineAuthentication", "LupineGSSAPI", "LupineLibc", "Synchronization"],
    "LupineLoopback": ["CLupineLoopback", "CLupineOpenSSL", "LupineTLS", "LupineReactor", "LupineLibc"],
    "LupineOrigin": [
      "LupineWire", "LupineCoding", "LupineTLS", "LupineReactor", "LupineLoopback", "LupineLibc", "Synchronization",
    ],
    "LupineBench": [
      "LupineEngine", "LupineWebSocket", "LupineReactor", "LupineWire", "LupineCoding", "LupineRandom", "LupineJSON",
      "Histogram", "LupineLibc",
      "Synchronization",
    ],
    "LupineServices": ["LupineEngine", "Configuration", "ServiceLifecycle"],
    "LupineServicesFoundation": [
      "LupineServices", "LupineURLSession", "LupineEngine", "Configuration", "ServiceLifecycle",
    ],
    "LupineHTTPTypes": ["LupineEngine", "HTTPTypes"],
    "LupineHTTPTypesFoundation": [
      "LupineHTTPTypes", "LupineURLSession", "LupineEngine", "HTTPTypes", "Foundation",
    ],
    "LupineHTTPAPIs": [
      "LupineHTTPTypes", "LupineEngine", "HTTPTypes", "HTTPAPIs", "AsyncStreaming", "BasicContainers",
      "ContainersPreview",
    ],
    "LupineObservability": [
      "LupineEngine", "LupineReactor", "LupineWire", "Tracing", "CoreMetrics", "Logging", "Synchronization",
    ],
    "LupineCommand": [
      "LupineBench", "LupineJSON", "LupineEngine", "LupineWebSocket", "LupineAuthentication", "LupineLogin",
      "LupineCache", "LupineCacheStore", "LupineRandom", "CLupineLinux", "LupineLibc", "Synchronization",
    ],
    "LupineCookies": ["LupineWire", "Foundation", "Synchronization"],
    "LupineFormats": ["LupineJSON", "Foundation", "Synchronization"],
    "LupineURLSession": [
      "LupineEngine", "LupineWebSocket", "LupineAuthentication", "LupineLogin", "LupineCookies", "LupineCache",
      "LupineCacheStore", "LupineTransferStore", "Foundation", "Dispatch", "Synchronization",
      "LupineLibc",
    ],
    "Lupine": [
      "LupineURLSession", "LupineEngine", "LupineFormats", "Foundation", "Dispatch", "Synchronization", "LupineLibc",
    ],
    "Alamofire": ["Lupine"],
    "Alamofire4": ["LupineURLSession", "Lupine", "LupineFormats", "Foundation", "Dispatch", "Synchronization"],
    "FoundationNetworking": ["LupineURLSession"],
    "LupineTesting": ["LupineURLSession", "Foundation", "Dispatch", "Synchronization"],
    "LupineDemo": ["Lupine", "LupineEngine", "LupineOrigin", "Foundation", "Dispatch", "Synchronization"],
  ]

  @Test("the checks of the package's structure find source files and test files")
  func treeIsFound() {
    #expect(SourceTree.sources.count > 50)
    #expect(SourceTree.tests.count > 10)
  }

  @Test("each target imports only the modules that its layer allows", arguments: SourceTree.sources)
  func imports(_ file: SourceFile) throws {
    let allowed = try #require(Self.allowedImports[file.target], "no rule for the target \(file.target)")
    for module in file.imports {
      #expect(allowed.contains(module), "\(file.path) imports \(module)")
    }
  }

  @Test("the headers of the system's libraries say that the package is for Linux before they include anything")
  func linuxOnly() throws {
    for name in [
      "CLupineLinux/include/CLupineLinux.h", "CLupineOpenSSL/shim.h", "CLupineZlib/shim.h", "CLupineBrotli/shim.h",
    ] {
      let text = try String(contentsOf: SourceTree.root.appending(path: "Sources/\(name)"), encoding: .utf8)
      let directives = text.split(separator: "\n").filter { $0.hasPrefix("#") }
      #expect(directives.first == "#pragma once" && directives.dropFirst().first == "#ifndef __linux__", "\(name)")
      #expect(
        directives.count > 2 && directives[2].hasPrefix("#error \"Lupine is an HTTP client for Linux."), "\(name)")
      #expect(directives.count > 3 && directives[3] == "#else", "\(name)")
    }
  }

  @Test("no file imports FoundationNetworking, except for programs built with this package's module of that name")
  func noFoundationNetworking() {
    // The toolchain's FoundationNetworking would load libcurl.
    for file in SourceTree.sources + SourceTree.tests.filter({ $0.target != "Examples" }) {
      #expect(!file.imports.contains("FoundationNetworking"), "\(file.path)")
    }
  }

  @Test(
    "the targets with Alamofire's API use only fields, codings, streams, awaited results, addresses and TLS errors of the engine"
  )
  func engineInLupine() {
    let files = SourceTree.sources.filter { $0.target == "Lupine" && $0.imports.contains("LupineEngine") }
    let paths = [
      "Concurrency/Concurrency", "Concurrency/Concurrency+Download", "Concurrency/Concurrency+StreamElements",
      "Headers/HTTPHeaders", "Parameters/RequestCompression", "Streams/DataStreamRequest+Elements",
      "Streams/EventStream", "Streams/EventStreamOptions", "Streams/StreamReader",
      "Trust/ServerTrustEvaluation", "Trust/ServerTrustEvaluation+Pinning",
    ]
    #expect(Set(files.map(\.path)) == Set(paths.map { "Sources/Lupine/\($0).swift" }))
  }

  @Test("the code of the URLSession API doesn't use types of the Alamofire API, which is built on it")
  func layersOfTheAPI() throws {
    let declaration =
      /^(?:(?:public|package|open|final|indirect|@\w+(?:\([^)]*\))?) )*(?:class|struct|enum|protocol|typealias|actor) (\w+)/
    let sources = Dictionary(grouping: SourceTree.sources, by: \.target)
    let upper = try #require(sources["Lupine"]).flatMap { file in
      file.code.compactMap { $0.firstMatch(of: declaration).map { String($0.1) } }
    }
    #expect(upper.contains("DataRequest") && upper.contains("HTTPHeaders") && upper.contains("AFError"))
    let names = Set(upper)
    for file in try #require(sources["LupineURLSession"]) {
      let code = file.code.map { $0.replacing(/"(?:[^"\\]|\\.)*"/, with: "") }
      let words = Set(code.flatMap { $0.matches(of: /\w+/).map { String($0.output) } })
      #expect(words.isDisjoint(with: names), "\(file.path) mentions \(words.intersection(names))")
    }
  }

  @Test(
    "source and test files have at most 600 lines, and tables of test vectors at most 900",
    arguments: SourceTree.sources + SourceTree.tests
  )
  func length(_ file: SourceFile) {
    let isTable = file.path.contains("Vectors")
    #expect(file.lines.count <= (isTable ? 900 : 600), "\(file.path) has \(file.lines.count) lines; split it")
  }

  @Test("each source file and each test file starts with a comment", arguments: SourceTree.sources + SourceTree.tests)
  func opening(_ file: SourceFile) {
    #expect(file.lines.first?.hasPrefix("// ") == true, "\(file.path)")
  }

  @Test("only the listed files use @unchecked Sendable")
  func unchecked() {
    var counts: [String: Int] = [:]
    for file in SourceTree.sources {
      let count = file.lineNumbers(of: "@unchecked Sendable").count
      if count > 0 { counts[file.path] = count }
    }
    #expect(
      counts == [
        "Sources/Alamofire4/Errors/AFError.swift": 1,
        "Sources/Alamofire4/Reachability/NetworkReachabilityManager.swift": 1,
        "Sources/Alamofire4/Requests/DataRequest.swift": 2,
        "Sources/Alamofire4/Requests/DataTaskDelegate.swift": 1,
        "Sources/Alamofire4/Requests/DownloadRequest.swift": 1,
        "Sources/Alamofire4/Requests/DownloadTaskDelegate.swift": 1,
        "Sources/Alamofire4/Requests/Request.swift": 2,
        "Sources/Alamofire4/Requests/TaskDelegate.swift": 1,
        "Sources/Alamofire4/Sessions/SessionDelegate.swift": 1,
        "Sources/Alamofire4/Sessions/SessionDelegateClosures.swift": 1,
        "Sources/Alamofire4/Sessions/SessionManager.swift": 2,
        "Sources/Alamofire4/Support/Transferred.swift": 1,
        "Sources/Alamofire4/Trust/ServerTrustPolicy.swift": 1,
        "Sources/Lupine/Requests/DataRequest.swift": 1,
        "Sources/Lupine/Streams/DataStreamRequest.swift": 1,
        "Sources/Lupine/Downloads/DownloadRequest.swift": 1,
        "Sources/Lupine/Parameters/ParameterEncoder.swift": 2,
        "Sources/Lupine/Parameters/PropertyListParameterEncoder.swift": 1,
        "Sources/Lupine/Reachability/NetworkReachabilityManager.swift": 1,
        "Sources/Lupine/Requests/Request.swift": 1,
        "Sources/Lupine/Sessions/Session.swift": 1,
        "Sources/Lupine/Sessions/SessionDelegate.swift": 1,
        "Sources/Lupine/Requests/UploadRequest.swift": 2,
        "Sources/Lupine/Events/AlamofireNotifications.swift": 1,
        "Sources/Lupine/Events/ClosureEventMonitor.swift": 1,
        "Sources/Lupine/Retrying/Interceptor.swift": 3,
        "Sources/Lupine/Multipart/MultipartUpload.swift": 1,
        "Sources/Lupine/Retrying/RetryPolicy.swift": 2,
        "Sources/Lupine/Trust/ServerTrustEvaluation.swift": 1,
        "Sources/Lupine/WebSockets/WebSocketRequest.swift": 1,
        "Sources/LupineTesting/Recording.swift": 1,
        "Sources/LupineTesting/StubProtocol.swift": 1,
        "Sources/LupineCookies/HTTPCookie.swift": 1,
        "Sources/LupineCookies/HTTPCookieStorage.swift": 1,
        "Sources/LupineURLSession/Authentication/URLAuthenticationChallenge.swift": 1,
        "Sources/LupineURLSession/Authentication/URLCredential.swift": 1,
        "Sources/LupineURLSession/Authentication/URLCredentialStorage.swift": 1,
        "Sources/LupineURLSession/Authentication/URLProtectionSpace.swift": 1,
        "Sources/LupineURLSession/Background/BackgroundDownloadTask.swift": 1,
        "Sources/LupineURLSession/Background/BackgroundUploadTask.swift": 2,
        "Sources/LupineURLSession/Bodies/BodyStream.swift": 1,
        "Sources/LupineURLSession/Caching/URLCache.swift": 1,
        "Sources/LupineURLSession/Messages/CachedURLResponse.swift": 1,
        "Sources/LupineURLSession/Messages/NSURLRequest.swift": 2,
        "Sources/LupineURLSession/Protocols/ProtocolProperties.swift": 1,
        "Sources/LupineURLSession/Protocols/ProtocolTransfer.swift": 1,
        "Sources/LupineURLSession/Messages/HTTPURLResponse.swift": 1,
        "Sources/LupineURLSession/Session/URLSession.swift": 1,
        "Sources/LupineURLSession/Session/URLSessionConfiguration.swift": 1,
        "Sources/LupineURLSession/Streams/URLSessionStreamTask.swift": 1,
        "Sources/LupineURLSession/Support/EventClosure.swift": 2,
        "Sources/LupineURLSession/Session/SerialQueue.swift": 1,
        "Sources/LupineURLSession/Tasks/URLSessionDataTask.swift": 2,
        "Sources/LupineURLSession/Tasks/URLSessionDownloadTask.swift": 1,
        "Sources/LupineURLSession/Tasks/URLSessionTask.swift": 2,
        "Sources/LupineURLSession/Transfers/PieceMemory.swift": 1,
        "Sources/LupineURLSession/WebSocket/URLSessionWebSocketTask.swift": 1,
        "Sources/LupineURLSession/Messages/URLResponse.swift": 1,
        "Sources/LupineURLSession/Messages/URLRequest.swift": 1,
        "Sources/LupineCoding/RawDeflateStreams.swift": 2,
        "Sources/LupineBench/Load/Scenario.swift": 1,
        "Sources/LupineEngine/EngineRequest.swift": 1,
        "Sources/LupineEngine/Response/Latch.swift": 1,
        "Sources/LupineReactor/Loop/EventLoop.swift": 1,
      ])
  }

  @Test(
    "only the listed targets and files use unsafe code, and they have SAFETY comments", arguments: SourceTree.sources)
  func unsafe(_ file: SourceFile) {
    let words = ["withUnsafe", "UnsafePointer", "UnsafeMutable", "UnsafeRaw", "Unmanaged", "nonisolated(unsafe)"]
    let uses = words.flatMap(file.lineNumbers(of:))
    guard !uses.isEmpty else { return }
    let isFenced =
      ["LupineTLS", "LupineReactor", "LupineCoding", "LupineLoopback", "LupineGSSAPI", "LupineJSON"]
      .contains(file.target)
      || file.path == "Sources/LupineWire/Heads/ByteScan.swift"
      || file.path == "Sources/LupineWebSocket/MaskingKey.swift"
      || file.path == "Sources/LupineURLSession/Transfers/PieceMemory.swift"
      // swift-http-types gives bytes that aren't UTF-8 only through a pointer.
      || file.path == "Sources/LupineHTTPTypes/Fields+HTTPFields.swift"
      // InputStream and OutputStream declare methods with pointers.
      || file.path == "Sources/Lupine/Streams/ResponseInputStream.swift"
      || file.path == "Sources/LupineURLSession/Streams/CapturedStreams.swift"
    #expect(isFenced, "\(file.path):\(uses[0])")
    #expect(file.lines.contains { $0.contains("SAFETY:") }, "\(file.path) has unsafe code without a SAFETY comment")
  }

  @Test(
    "the tests wait for events instead of sleeping", arguments: SourceTree.tests.filter { $0.target != "TidyTests" })
  func noSleeps(_ file: SourceFile) {
    for word in ["Task.sleep", "Thread.sleep", "usleep(", "nanosleep("] {
      #expect(file.lineNumbers(of: word).isEmpty, "\(file.path) calls \(word)")
    }
  }

  @Test("the package's source files contain no TODO or FIXME", arguments: SourceTree.sources)
  func finished(_ file: SourceFile) {
    for (index, line) in file.lines.enumerated() {
      #expect(!line.contains("TODO") && !line.contains("FIXME"), "\(file.path):\(index + 1)")
    }
  }
}
