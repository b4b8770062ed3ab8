// TidyTests: rules for the package: allowed imports, the length of files, and places for unchecked and unsafe code.

import Foundation
import Testing

@Suite struct TidyTests {
  /// The modules that each target may import. The compiler checks the order of the targets; this table also limits the
  /// system's modules.
  private static let allowedImports: [String: Set<String>] = [
    "LupineWire": [],
    "LupineRandom": [],
    "LupineCoding": ["CLupineZlib", "CLupineBrotli"],
    "LupineTLS": ["CLupineOpenSSL", "Glibc", "Synchronization"],
    "LupineReactor": ["CLupineLinux", "Glibc", "Synchronization"],
    "LupineEngine": ["LupineWire", "LupineCoding", "LupineTLS", "LupineReactor", "Synchronization"],
    "LupineLoopback": ["CLupineLoopback", "CLupineOpenSSL", "LupineTLS", "LupineReactor", "Glibc"],
    "LupineOrigin": [
      "LupineWire", "LupineCoding", "LupineTLS", "LupineReactor", "LupineLoopback", "Glibc", "Synchronization",
    ],
    "LupineCommand": ["LupineEngine", "LupineRandom", "CLupineLinux", "Glibc", "Synchronization"],
    "Lupine": ["LupineEngine", "Foundation", "Dispatch", "Synchronization", "Glibc"],
    "Alamofire": ["Lupine"],
    "LupineDemo": ["Lupine", "LupineEngine", "LupineOrigin", "Foundation", "Dispatch", "Synchronization"],
  ]

  @Test("the source tree contains sources and tests")
  func treeIsFound() {
    #expect(SourceTree.sources.count > 50)
    #expect(SourceTree.tests.count > 10)
  }

  @Test("a target imports only what its layer allows", arguments: SourceTree.sources)
  func imports(_ file: SourceFile) throws {
    let allowed = try #require(Self.allowedImports[file.target], "no rule for the target \(file.target)")
    for module in file.imports {
      #expect(allowed.contains(module), "\(file.path) imports \(module)")
    }
  }

  @Test("no file imports FoundationNetworking, which loads libcurl")
  func noFoundationNetworking() {
    for file in SourceTree.sources + SourceTree.tests {
      #expect(!file.imports.contains("FoundationNetworking"), "\(file.path)")
    }
  }

  @Test("only files in Engine/ and the bridges to Foundation's types import the engine")
  func engineIsTalkedToInOnePlace() {
    let files = SourceTree.sources.filter { $0.target == "Lupine" && $0.imports.contains("LupineEngine") }
    let bridges =
      ["URLSessionConfiguration", "URLSessionTask", "URLSessionUploadTask", "URLSessionDownloadTask"]
      .map { "Sources/Lupine/Foundation/Session/\($0).swift" }
      + ["SecCertificate", "SecTrust"].map { "Sources/Lupine/Foundation/Trust/\($0).swift" }
    for file in files {
      #expect(file.path.hasPrefix("Sources/Lupine/Engine/") || bridges.contains(file.path), "\(file.path)")
    }
  }

  @Test(
    "a file is at most 400 lines long, a table of vectors at most 600", arguments: SourceTree.sources + SourceTree.tests
  )
  func length(_ file: SourceFile) {
    let isTable = file.path.contains("Vectors")
    #expect(file.lines.count <= (isTable ? 600 : 400), "\(file.path) has \(file.lines.count) lines: two things?")
  }

  @Test("a file starts with a comment", arguments: SourceTree.sources + SourceTree.tests)
  func opening(_ file: SourceFile) {
    #expect(file.lines.first?.hasPrefix("// ") == true, "\(file.path)")
  }

  @Test("@unchecked Sendable is used only in the listed files")
  func unchecked() {
    var counts: [String: Int] = [:]
    for file in SourceTree.sources {
      let count = file.lineNumbers(of: "@unchecked Sendable").count
      if count > 0 { counts[file.path] = count }
    }
    #expect(
      counts == [
        "Sources/Lupine/Core/DataRequest.swift": 1,
        "Sources/Lupine/Core/DataStreamRequest.swift": 1,
        "Sources/Lupine/Core/DownloadRequest.swift": 1,
        "Sources/Lupine/Core/ParameterEncoder.swift": 2,
        "Sources/Lupine/Core/PropertyListParameterEncoder.swift": 1,
        "Sources/Lupine/Core/Request.swift": 1,
        "Sources/Lupine/Core/Session.swift": 1,
        "Sources/Lupine/Core/SessionDelegate.swift": 1,
        "Sources/Lupine/Core/UploadRequest.swift": 2,
        "Sources/Lupine/Features/AlamofireNotifications.swift": 1,
        "Sources/Lupine/Features/ClosureEventMonitor.swift": 1,
        "Sources/Lupine/Features/EventClosures.swift": 1,
        "Sources/Lupine/Features/Interceptor.swift": 3,
        "Sources/Lupine/Features/MultipartUpload.swift": 1,
        "Sources/Lupine/Features/RetryPolicy.swift": 2,
        "Sources/Lupine/Features/ServerTrustEvaluation.swift": 1,
        "Sources/Lupine/Foundation/BodyStream.swift": 1,
        "Sources/Lupine/Foundation/CachedURLResponse.swift": 1,
        "Sources/Lupine/Foundation/HTTPURLResponse.swift": 1,
        "Sources/Lupine/Foundation/Session/URLSession.swift": 1,
        "Sources/Lupine/Foundation/Session/URLSessionConfiguration.swift": 1,
        "Sources/Lupine/Foundation/Session/URLSessionDataTask.swift": 1,
        "Sources/Lupine/Foundation/Session/URLSessionDownloadTask.swift": 1,
        "Sources/Lupine/Foundation/Session/URLSessionTask.swift": 1,
        "Sources/Lupine/Foundation/Session/URLSessionUploadTask.swift": 1,
        "Sources/Lupine/Foundation/URLResponse.swift": 1,
        "Sources/LupineReactor/EventLoop.swift": 1,
      ])
  }

  @Test("unsafe code is in the allowed targets only, and has a SAFETY comment", arguments: SourceTree.sources)
  func unsafe(_ file: SourceFile) {
    let words = ["withUnsafe", "UnsafePointer", "UnsafeMutable", "UnsafeRaw", "Unmanaged", "nonisolated(unsafe)"]
    let uses = words.flatMap(file.lineNumbers(of:))
    guard !uses.isEmpty else { return }
    let isFenced =
      ["LupineTLS", "LupineReactor", "LupineCoding", "LupineLoopback"].contains(file.target)
      || file.path == "Sources/LupineWire/ByteScan.swift"
      // InputStream declares methods with pointers.
      || file.path == "Sources/Lupine/Core/ResponseInputStream.swift"
    #expect(isFenced, "\(file.path):\(uses[0])")
    #expect(file.lines.contains { $0.contains("SAFETY:") }, "\(file.path) doesn't say why it is safe")
  }

  @Test("tests wait for events instead of sleeping", arguments: SourceTree.tests.filter { $0.target != "TidyTests" })
  func noSleeps(_ file: SourceFile) {
    for word in ["Task.sleep", "Thread.sleep", "usleep(", "nanosleep("] {
      #expect(file.lineNumbers(of: word).isEmpty, "\(file.path) sleeps")
    }
  }

  @Test("the sources contain no TODO or FIXME", arguments: SourceTree.sources)
  func finished(_ file: SourceFile) {
    for (index, line) in file.lines.enumerated() {
      #expect(!line.contains("TODO") && !line.contains("FIXME"), "\(file.path):\(index + 1)")
    }
  }
}
