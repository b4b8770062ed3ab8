// Leaks: ended requests leave no objects, descriptors or threads behind.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct LeakTests {
  // The test runs in a dedicated process, because other tests open descriptors concurrently.
  @Test("500 requests with all kinds of outcomes leave no request object, file descriptor or thread behind")
  func everythingGoes() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      // The first run opens the descriptors that the process keeps: those of the runtime and of the resolver's library.
      try await Load.run(count: 20)
      var left: [String] = []
      if await !settles({ threadCount(named: "lupine-loop") == 0 }) { left.append("threads of the first run") }
      let descriptors = Load.descriptors
      let alive = try await Load.run(count: 500)
      if await !settles({ alive.allSatisfy { $0.request == nil } }) { left.append("requests") }
      if await !settles({ threadCount(named: "lupine-loop") == 0 }) { left.append("threads") }
      if await !settles({ Load.descriptors.count <= descriptors.count }) {
        left.append("descriptors: \(Load.descriptors) instead of \(descriptors)")
      }
      try FileHandle.standardError.write(contentsOf: Data("left: \(left)\n".utf8))
    }
    let words = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("left: []\n"), "\(words)")
  }

  @Test("releasing the last reference to a request that was never resumed also releases its handlers")
  func neverResumed() async throws {
    try await withSession(startRequestsImmediately: false) { session in
      let weakly = Weak(session.request("http://127.0.0.1:1").response { _ in })
      #expect(weakly.request == nil)
    }
  }

  @Test("a response retains neither its request nor the uploaded data")
  func keptResponse() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let isFreed = Atomic(false)
        let weakly: Weak
        let response: AFDataResponse<String>
        do {
          let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 100_000, alignment: 1)
          bytes.initializeMemory(as: UInt8.self, repeating: 7)
          let free: (UnsafeMutableRawPointer, Int) -> Void = { bytes, _ in
            bytes.deallocate()
            isFreed.store(true, ordering: .relaxed)
          }
          // SAFETY: only `data` refers to the bytes, and its deallocator frees them.
          let data = Data(
            bytesNoCopy: try #require(bytes.baseAddress), count: bytes.count, deallocator: .custom(free))
          let request = session.upload(data, to: origin.url)
          weakly = Weak(request)
          response = await request.serializingString().response
        }
        #expect(response.value == "here")
        #expect(await settles { weakly.request == nil && isFreed.load(ordering: .relaxed) })
        #expect(response.metrics?.transactionMetrics.first?.countOfRequestBodyBytesBeforeEncoding == 100_000)
      }
    }
  }

  @Test("a suspended request is released when its session is released")
  func suspended() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let weakly: Weak
      do {
        var session: Session? = Session()
        let (built, suspended) = (Gate(), Gate())
        let request = try #require(session?.request(origin.url) { _ in suspended.waitBlocking() })
        request.cURLDescription { _ in built.open() }
        let response = request.serializingString()
        request.suspend()
        suspended.open()
        await built.wait()
        weakly = Weak(request)
        session = nil
        #expect(await response.response.error?.isSessionDeinitializedError == true)
      }
      #expect(await settles { weakly.request == nil })
      #expect(origin.requestCount == 0)
    }
  }
}

private struct Weak: Sendable {
  weak let request: Request?

  init(_ request: Request) {
    self.request = request
  }
}

/// Sends requests with every kind of outcome, and lists the descriptors that the process has open.
private enum Load {
  @discardableResult
  static func run(count: Int) async throws -> [Weak] {
    let identity = try ServerIdentity.throwaway()
    let plain = try OriginServer(handler: serve)
    let secure = try OriginServer(tls: identity, handler: serve)
    let configuration = URLSessionConfiguration.af.ephemeral
    configuration.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
    var session: Session? = Session(configuration: configuration)
    var alive: [Weak] = []
    var tasks: [DataTask<Data>] = []
    for index in 0..<count {
      guard let session else { break }
      let base = index.isMultiple(of: 3) ? secure.url : plain.url
      let path = ["/", "/big", "/redirect", "/cut", "/close", "/nonsense", "/hold"][index % 7]
      let request = session.request(base + path) { if path == "/hold" { $0.timeoutInterval = 0.2 } }
        .validate().downloadProgress(queue: .global()) { _ in }
      alive.append(Weak(request))
      tasks.append(request.serializingData())
      switch index % 11 {
      case 3: request.cancel()
      case 5: request.suspend().resume()
      default: break
      }
      // The requests are sent in groups of 50, so that connections are reused and requests wait for connections.
      if index % 50 == 49 {
        for task in tasks { _ = await task.response }
        tasks = []
      }
    }
    for task in tasks { _ = await task.response }
    tasks = []
    // The last requests are in flight when the session is released.
    let last = (0..<5).compactMap { _ in session?.request(plain.url + "/hold").serializingData() }
    session = nil
    for task in last { #expect(await task.response.error?.isSessionDeinitializedError == true) }
    plain.stop()
    secure.stop()
    return alive
  }

  @Sendable private static func serve(_ peer: Peer) throws {
    try peer.serve { request in
      switch request.path {
      case "/big": return Reply(.pattern(byteCount: 300_000))
      case "/redirect": return Reply(status: 302, fields: ["Location": "/"])
      case "/cut":
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        peer.close()
        throw OriginError.closed
      case "/close": return Reply(fields: ["Connection": "close"], .bytes([1]))
      case "/nonsense":
        try peer.send("nonsense\r\n\r\n")
        peer.close()
        throw OriginError.closed
      case "/hold": return .hold
      default: return .text("here")
      }
    }
  }

  /// The targets of the process's open sockets, epoll descriptors and eventfd descriptors, which an engine opens. Descriptors
  /// of other kinds are ignored, because the runtime or a sanitizer may open some at any time.
  static var descriptors: [String] {
    names(in: "/proc/self/fd").compactMap { number in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
      return ["socket:", "anon_inode:[eventpoll]", "anon_inode:[eventfd]"].contains { target?.hasPrefix($0) == true }
        ? target : nil
    }
  }

  private static func names(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }
}
