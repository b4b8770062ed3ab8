// DownloadTests: large and slow bodies: constant memory, backpressure and cancellation.

import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@Suite("Downloads from real servers", .timeLimit(.minutes(10)))
struct DownloadTests {
  private static let bigByteCount = 256 * 1024 * 1024
  /// The maximum memory in KiB that a download may take in addition to a small request: 4 MiB. 1.2 MiB were measured in a debug
  /// build.
  private static let kibibytesMax = 4 * 1024 * ProcessStatus.memoryFactor

  // This runs in a separate process, because the memory of other tests would count.
  @Test(
    "downloading 256 MiB takes the client at most 4 MiB of memory",
    arguments: [Server.nginx.rawValue, Server.nginxTLS.rawValue])
  func constantMemory(port: UInt16) async throws {
    try #require(Server(rawValue: port)).require()
    await #expect(processExitsWith: .success) { [port] in
      let server = try #require(Server(rawValue: port))
      let engine = try Engine.forServers()
      // The first request allocates memory that isn't freed: the authority's certificate and the loop's buffers.
      _ = try await engine.collect(server, "/small.txt")
      let before = try ProcessStatus.kibibytes("VmRSS")
      let sink = CountingSink(.zeros)
      engine.submit(EngineRequest(uri: try await server.uri("/big.bin")), to: sink)
      await sink.finished.wait()
      let growth = try ProcessStatus.kibibytes("VmHWM") - before
      #expect(sink.error == nil)
      #expect(sink.receivedCount == DownloadTests.bigByteCount)
      #expect(sink.isRight)
      #expect(sink.metrics?.responseBodyBytes == UInt64(DownloadTests.bigByteCount))
      #expect(sink.metrics?.isReusedConnection == true)
      #expect(growth < DownloadTests.kibibytesMax, "memory grew by \(growth) KiB")
      // Without the shutdown, the process may end while OpenSSL's memory is being freed, which looks like a leak.
      await engine.shutdown(isGraceful: false)
      #expect(await settles { threadCount(named: "lupine-loop") == 0 })
    }
  }

  @Test("reading a body of 256 MiB as a sequence takes at most 4 MiB of memory")
  func constantMemoryOfSequence() async throws {
    try Server.nginx.require()
    await #expect(processExitsWith: .success) {
      let engine = try Engine.forServers()
      _ = try await engine.collect(.nginx, "/small.txt")
      let before = try ProcessStatus.kibibytes("VmRSS")
      let response = try await engine.execute(EngineRequest(uri: try await Server.nginx.uri("/big.bin")))
      var count = 0
      for try await piece in response.body { count += piece.count }
      let growth = try ProcessStatus.kibibytes("VmHWM") - before
      #expect(count == DownloadTests.bigByteCount)
      #expect(growth < DownloadTests.kibibytesMax, "memory grew by \(growth) KiB")
    }
  }

  @Test(
    "a server stops sending while the reader of a response is paused, and sends the rest when reading resumes",
    arguments: Server.withPages)
  func heldBack(server: Server) async throws {
    let engine = try Engine.forServers()
    let byteCount = 32 * 1024 * 1024
    let windowBytes = 1024 * 1024
    let full = Gate()
    let sink = CountingSink(.zeros) { if $0 >= windowBytes { full.open() } }
    let request = EngineRequest(
      uri: try await server.uri("/big.bin"), fields: ["Range": "bytes=0-\(byteCount - 1)"],
      timeouts: Timeouts(everyPhase: .seconds(600), total: nil))
    let handle = engine.submit(request, to: sink, windowBytes: windowBytes)
    await full.wait()
    #expect(sink.receivedCount == windowBytes)
    // Other requests are served while the download is paused.
    for _ in 0..<50 { #expect(try await engine.collect(server, "/small.txt").text == "small\n") }
    #expect(sink.receivedCount == windowBytes)
    // The kernel's buffers on both sides are full, so the server can't send any more.
    #expect(
      try await settles {
        let held = try KernelConnection.all(to: server.rawValue).filter { $0.unreadCount > 0 }
        return try held.contains { here in
          try KernelConnection.all(from: server.rawValue, to: here.localPort).contains { $0.unsentCount > 0 }
        }
      })
    handle.extendWindow(by: .max)
    await sink.finished.wait()
    #expect(sink.error == nil)
    #expect(sink.receivedCount == byteCount)
    #expect(sink.isRight)
  }

  @Test("a compressed body that is read slowly in small parts is decoded completely")
  func slowReader() async throws {
    let engine = try Engine.forServers { $0.windowBytes = 1000 }
    for (server, coding) in [(Server.nginx, "br"), (.apache, "gzip"), (.caddy, "identity")] {
      let request = EngineRequest(uri: try await server.uri("/text.txt"), fields: ["Accept-Encoding": coding])
      let response = try await engine.execute(request)
      var body: [UInt8] = []
      for try await piece in response.body {
        #expect(piece.count <= 1000)
        body += piece
        await Task.yield()
      }
      #expect(String(decoding: body, as: UTF8.self) == TextPage.text)
    }
  }

  @Test("cancelling a download ends the transfer and closes the connection")
  func cancelled() async throws {
    let engine = try Engine.forServers()
    let begun = Gate()
    let sink = CountingSink { _ in begun.open() }
    let handle = engine.submit(
      EngineRequest(uri: try await Server.nginx.uri("/big.bin")), to: sink, windowBytes: 100_000)
    await begun.wait()
    handle.cancel()
    await sink.finished.wait()
    #expect(sink.status == 200)
    #expect(sink.error?.code == .cancelled)
    #expect(sink.error?.phase == .receive)
    #expect(sink.error?.progress == .responseBegan)
    #expect(sink.receivedCount <= 100_000)
    let port = try #require(sink.metrics?.localAddress?.port)
    #expect(try await KernelConnection.closes(from: port, to: .nginx))
    #expect(try await engine.collect(.nginx, "/hello").metric.isReusedConnection == false)
  }

  @Test("cancelling the task that reads a response ends the request")
  func cancelledTask() async throws {
    let engine = try Engine.forServers()
    let uri = try await Server.nginx.uri("/big.bin")
    let begun = Gate()
    let task = Task { () -> EngineError? in
      do {
        let response = try await engine.execute(EngineRequest(uri: uri))
        for try await _ in response.body {
          begun.open()
          // Suspends until the task is cancelled.
          await Gate().wait()
        }
        return nil
      } catch let error as EngineError {
        return error
      }
    }
    await begun.wait()
    task.cancel()
    let error = try #require(try await task.value)
    #expect(error.code == .cancelled)
    #expect(error.phase == .receive)
  }

  @Test(
    "releasing an unread response keeps the connection if the rest of the body is short, and closes it if it is 256 MiB"
  )
  func abandoned() async throws {
    // With a limit of one connection, the next request waits until the previous connection is kept for reuse or closed.
    let engine = try Engine.forServers { $0.pool.connectionsPerOriginMax = 1 }
    do {
      let response = try await engine.execute(EngineRequest(uri: try await Server.nginx.uri("/big.bin")))
      #expect(response.head.status == 200)
    }
    #expect(try await engine.collect(.nginx, "/hello").metric.connectionID == 2)
    let small = EngineRequest(uri: try await Server.nginx.uri("/text.txt"), fields: ["Range": "bytes=0-29999"])
    #expect(try await engine.execute(small).head.status == 206)
    #expect(try await engine.collect(.nginx, "/hello").metric.connectionID == 2)
  }

  @Test(
    "a response body that exceeds the caller's limit causes an error, with and without Content-Length",
    arguments: ["identity", "gzip", "br"])
  func tooLarge(coding: String) async throws {
    let engine = try Engine.forServers()
    let limit = TextPage.text.utf8.count
    let fields: Fields = ["Accept-Encoding": coding]
    #expect(
      try await engine.collect(.nginx, "/text.txt", fields: fields) { $0.bodyBytesMax = limit }.text == TextPage.text)
    let error = try await engine.failure(.nginx, "/text.txt", fields: fields) { $0.bodyBytesMax = limit - 1 }
    #expect(error.code == .bodyTooLarge)
    #expect(error.phase == .receive)
    let collected = try await engine.failure(.nginx, "/big.bin")
    #expect(collected.code == .bodyTooLarge)
    #expect(collected.description.contains("67108864"))
  }
}
