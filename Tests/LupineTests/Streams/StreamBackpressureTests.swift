// A slow consumer of a body holds the server back, through a handler, an async sequence and an input stream.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct StreamBackpressureTests {
  private static let windowBytes = EngineConfiguration().windowBytes
  /// The size of the response body in bytes. It exceeds the kernel's socket buffers of the client and the server.
  private static let byteCount = 64 * 1024 * 1024

  /// Calls `body` with the URL of a server that sends a large response body, and with a function that returns the number of
  /// bytes that the server has sent.
  private func withLargeBody(
    _ body: (_ session: Session, _ url: String, _ sentCount: @escaping @Sendable () -> Int) async throws -> Void
  ) async throws {
    let sentCount = Mutex(0)
    let block = [UInt8](repeating: 0x2E, count: 65_536)
    try await withOrigin { peer in
      guard let request = try peer.readRequest() else { return }
      if request.path == "/short" { return try peer.respond(fields: ["Connection": "close"], body: [1]) }
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.byteCount)\r\n\r\n")
      for _ in 0..<Self.byteCount / block.count {
        try peer.send(block)
        sentCount.withLock { $0 += block.count }
      }
      _ = try peer.awaitClose()
    } _: { origin in
      try await withSession { session in
        try await body(session, origin.url) { sentCount.withLock { $0 } }
      }
    }
  }

  /// Waits until the request has filled its receive window, and checks that it receives no more while other requests complete.
  private func expectHeldBack(
    _ request: DataStreamRequest, _ session: Session, at byteCount: ClosedRange<Int>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let isFull = await settles { Int(request.task?.countOfBytesReceived ?? 0) >= byteCount.lowerBound }
    #expect(isFull, sourceLocation: sourceLocation)
    let url = (request.request?.url?.absoluteString ?? "") + "/short"
    for _ in 0..<20 {
      #expect(await session.request(url).serializingData().response.data == Data([1]), sourceLocation: sourceLocation)
    }
    let count = Int(request.task?.countOfBytesReceived ?? 0)
    #expect(byteCount.contains(count), "\(count) bytes were received", sourceLocation: sourceLocation)
  }

  @Test("while a stream handler blocks, the server has to stop sending, and later the handler receives the rest")
  func slowHandler() async throws {
    try await withLargeBody { session, url, sentCount in
      let (goOn, ended) = (Gate(), Gate())
      let received = Mutex(0)
      let request = session.streamRequest(url)
      request.responseStream(on: DispatchQueue(label: "slow")) { stream in
        goOn.waitBlocking()
        received.withLock { $0 += stream.value?.count ?? 0 }
        if stream.completion != nil { ended.open() }
      }
      // A second stream handler, which returns immediately, doesn't affect the backpressure.
      request.responseStream(on: .global()) { _ in }
      await expectHeldBack(request, session, at: Self.windowBytes...Self.windowBytes)
      #expect(sentCount() < Self.byteCount)
      goOn.open()
      await ended.wait()
      #expect(received.withLock { $0 } == Self.byteCount && request.error == nil)
    }
  }

  @Test(
    "a stream request receives at most the configuration's windowBytes before a handler has handled the bytes",
    arguments: [1000, 1_000_000])
  func window(windowBytes: Int) async throws {
    try await withServer { request in
      request.path == "/short"
        ? Reply(fields: ["Connection": "close"], .bytes([1])) : Reply(.pattern(byteCount: UInt64(Self.byteCount)))
    } _: { origin in
      try await withSession {
        $0.engine.windowBytes = windowBytes
      } _: { session in
        let request = session.streamRequest(origin.url)
        let goOn = Gate()
        request.responseStream(on: DispatchQueue(label: "slow")) { _ in goOn.waitBlocking() }
        await expectHeldBack(request, session, at: windowBytes...windowBytes)
        request.cancel()
        goOn.open()
        #expect(await request.outcome().completion.error?.isExplicitlyCancelledError == true)
      }
    }
  }

  @Test(
    "the unread elements of a stream's async sequence apply backpressure to the server, even with an unbounded buffer")
  func slowLoop() async throws {
    try await withLargeBody { session, url, sentCount in
      let request = session.streamRequest(url)
      var pieces = request.streamTask().streamingData().makeAsyncIterator()
      let first = try #require(await pieces.next()?.value).count
      // The window opens again once the consumer has consumed half of it.
      await expectHeldBack(request, session, at: Self.windowBytes...(Self.windowBytes + first))
      #expect(sentCount() < Self.byteCount)
      var count = first
      while let stream = await pieces.next() { count += stream.value?.count ?? 0 }
      #expect(count == Self.byteCount && request.error == nil)
    }
  }

  @Test("the elements that a stream's buffering policy drops apply no backpressure to the server")
  func droppedElements() async throws {
    try await withLargeBody { session, url, _ in
      let request = session.streamRequest(url)
      var pieces = request.streamTask().streamingData(bufferingPolicy: .bufferingNewest(1)).makeAsyncIterator()
      #expect(await settles { request.isFinished })
      // The buffer keeps one element: the completion, or the last bytes if the completion hasn't been delivered yet.
      var elements: [DataStreamRequest.Stream<Data, Never>] = []
      while let element = await pieces.next() { elements.append(element) }
      #expect((1...2).contains(elements.count))
      let completion = try #require(elements.last?.completion)
      #expect(completion.error == nil)
      #expect(request.task?.countOfBytesReceived == Int64(Self.byteCount))
    }
  }

  @Test(
    "after the caller leaves a loop over a stream, the request continues, and unread elements apply no backpressure")
  func leftLoop() async throws {
    try await withLargeBody { session, url, _ in
      let request = session.streamRequest(url)
      for await stream in request.streamTask().streamingData(automaticallyCancelling: false) {
        #expect(stream.value != nil)
        // The loop ends while the window is full of elements that the loop hasn't consumed. The window
        // opens again once half of it has been consumed.
        let byteCounts = Int64(Self.windowBytes)...Int64(Self.windowBytes + (stream.value?.count ?? 0))
        #expect(await settles { request.task.map { byteCounts.contains($0.countOfBytesReceived) } == true })
        break
      }
      #expect(await request.outcome().completion.error == nil)
      #expect(request.task?.countOfBytesReceived == Int64(Self.byteCount))
    }
  }

  @Test("if a stream request's InputStream isn't read, the server has to stop sending", arguments: [0, 1024, 300_000])
  func inputStream(bufferSize: Int) async throws {
    try await withLargeBody { session, url, sentCount in
      let request = session.streamRequest(url)
      let (began, goOn) = (Gate(), Gate())
      async let count = onThread {
        guard let stream = request.asInputStream(bufferSize: bufferSize) else { return 0 }
        began.open()
        goOn.waitBlocking()
        stream.open()
        var count = 0
        while let bytes = try? stream.readBytes(upToCount: 100_000), !bytes.isEmpty { count += bytes.count }
        return count
      }
      await began.wait()
      await expectHeldBack(request, session, at: Self.windowBytes...(Self.windowBytes + bufferSize))
      #expect(sentCount() < Self.byteCount)
      goOn.open()
      #expect(await count == Self.byteCount)
    }
  }
}
