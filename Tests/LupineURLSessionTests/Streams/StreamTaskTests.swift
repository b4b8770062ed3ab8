// StreamTaskTests: stream tasks with a scripted server: reads and writes, half closes, time limits, cancellation and captured streams.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite("Stream tasks", .timeLimit(.minutes(10)))
struct StreamTaskTests {
  /// A delegate that records the events of stream tasks.
  final class StreamNotes: NSObject, URLSessionStreamDelegate, Sendable {
    let events = Recorder<String>()
    let streams = Recorder<Streams>()

    // Unchecked because only one thread at a time uses the streams.
    struct Streams: @unchecked Sendable {
      let input: InputStream
      let output: OutputStream
    }

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
      events.record("read closed")
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
      events.record("write closed")
    }

    func urlSession(
      _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
      outputStream: OutputStream
    ) {
      events.record("captured, \(streamTask.state == .running ? "running" : "not running")")
      streams.record(Streams(input: inputStream, output: outputStream))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
      let transaction = metrics.transactionMetrics.first
      events.record("metrics \(transaction?.remotePort != nil) \(transaction?.negotiatedTLSProtocolVersion != nil)")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      events.record(error == nil ? "end" : "end \((error as? URLError)?.code.rawValue ?? 0)")
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { events.record("invalid") }
  }

  func withStream<Value>(
    delegate: StreamNotes? = nil, _ configure: (URLSessionConfiguration) -> Void = { _ in },
    server handler: @escaping @Sendable (Peer) throws -> Void,
    _ body: (URLSessionStreamTask, URLSession) async throws -> Value
  ) async throws -> Value {
    let server = try OriginServer(handler: handler)
    defer { server.stop() }
    return try await withSession(
      delegate: delegate,
      {
        $0.engine.proxy = .none; configure($0)
      }
    ) { session in
      try await body(session.streamTask(withHostName: "127.0.0.1", port: Int(server.port)), session)
    }
  }

  static func readAll(_ peer: Peer) throws -> String {
    var text = ""
    while true {
      let bytes = try peer.receive()
      if bytes.isEmpty { return text }
      text += String(decoding: bytes, as: UTF8.self)
    }
  }

  func text(_ read: (Data?, Bool)) -> String? { read.0.map { String(decoding: $0, as: UTF8.self) } }

  // MARK: Reading and writing

  @Test("the server reads the end after closeWrite, and reads of its reply respect their minimum and maximum lengths")
  func clientCloses() async throws {
    let notes = StreamNotes()
    try await withStream(
      delegate: notes,
      server: { peer in
        let heard = try Self.readAll(peer)
        try peer.send("you said: \(heard)")
        peer.finishSending()
        _ = try peer.awaitClose()
      }
    ) { task, session in
      #expect(task.state == .suspended && task.originalRequest == nil && task.currentRequest == nil)
      task.resume()
      try await task.write(Data("one ".utf8), timeout: 60)
      try await task.write(Data("two".utf8), timeout: 60)
      task.closeWrite()
      #expect(await session.allTasks == [task])
      let first = try await task.readData(ofMinLength: 5, maxLength: 8, timeout: 60)
      #expect(first.0.map { 5...8 ~= $0.count } == true && !first.1)
      let rest = try await task.readData(ofMinLength: 1000, maxLength: 2000, timeout: 60)
      #expect((text(first) ?? "") + (text(rest) ?? "") == "you said: one two" && rest.1)
      #expect(await notes.events.first(4) == ["write closed", "read closed", "metrics true false", "end"])
      #expect(task.state == .completed && task.error == nil)
      #expect(task.countOfBytesSent == 7 && task.countOfBytesReceived == 17)
      #expect(await session.allTasks.isEmpty)
      // The end stays readable, and writes fail.
      let end = try await task.readData(ofMinLength: 1, maxLength: 9, timeout: 60)
      #expect(end.0 == Data() && end.1)
      #expect(await code { try await task.write(Data("x".utf8), timeout: 60) } == .networkConnectionLost)
    }
  }

  @Test("after the server has closed its direction, the client can still write")
  func serverCloses() async throws {
    let heard = Recorder<String>()
    let notes = StreamNotes()
    try await withStream(
      delegate: notes,
      server: { peer in
        try peer.send("bye")
        peer.finishSending()
        heard.record(try Self.readAll(peer))
      }
    ) { task, _ in
      task.resume()
      let all = try await task.readData(ofMinLength: 100, maxLength: 100, timeout: 60)
      #expect(text(all) == "bye" && all.1)
      try await task.write(Data("still here".utf8), timeout: 60)
      task.closeWrite()
      #expect(await heard.next() == "still here")
      #expect(await notes.events.first(4) == ["read closed", "write closed", "metrics true false", "end"])
    }
  }

  @Test("after closeRead, the task writes on although the server keeps sending, and later reads fail")
  func readingClosed() async throws {
    let heard = Recorder<String>()
    try await withStream(server: { peer in
      // More than the kernel's buffers hold.
      try peer.send([UInt8](repeating: 1, count: 32 << 20))
      heard.record(String(decoding: try peer.receive(), as: UTF8.self))
      heard.record(try Self.readAll(peer))
    }) { task, _ in
      task.resume()
      task.closeRead()
      #expect(
        await code { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 60) } == .networkConnectionLost)
      try await task.write(Data("done".utf8), timeout: 60)
      // When both directions are closed, the system resets the connection if the server still sends.
      #expect(await heard.next() == "done")
      task.closeWrite()
      #expect(await heard.next()?.isEmpty == true)
    }
  }

  @Test("a server that sends before a read fills no memory, and nothing is lost when it is read slowly")
  func backpressure() async throws {
    let total = 64 << 20
    let sentCount = Atomic(0)
    try await withStream(server: { peer in
      for _ in 0..<total >> 20 {
        try peer.send([UInt8](repeating: 7, count: 1 << 20))
        sentCount.add(1 << 20, ordering: .relaxed)
      }
      peer.finishSending()
      _ = try peer.awaitClose()
    }) { task, _ in
      task.resume()
      var count = 0
      for _ in 0..<3 { count += try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 60).0?.count ?? 0 }
      // Reading one byte three times mustn't fetch the rest: the server waits, with full buffers of the kernel.
      var before = -1
      _ = await settles(every: .milliseconds(50)) {
        defer { before = sentCount.load(ordering: .relaxed) }
        return before == sentCount.load(ordering: .relaxed)
      }
      #expect(before < total / 2)
      let transfer = try #require(task.transfer as? StreamTransfer)
      #expect(transfer.receivedByteCount == 3)
      var isAtEnd = false
      while !isAtEnd {
        let (data, isLast) = try await task.readData(ofMinLength: 1, maxLength: 100_000, timeout: 60)
        count += data?.count ?? 0
        isAtEnd = isLast
        #expect(transfer.bufferedByteCount <= StreamTaskState.readAheadBytesMax)
      }
      #expect(count == total)
    }
  }

  @Test("large data is written and read at the same time")
  func bothWays() async throws {
    let data = Data((0..<(8 << 20) / testsDivisor).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    try await withStream(server: { peer in
      while true {
        let bytes = try peer.receive()
        if bytes.isEmpty { break }
        try peer.send(bytes)
      }
      peer.finishSending()
      _ = try peer.awaitClose()
    }) { task, _ in
      task.resume()
      async let written: Void = task.write(data, timeout: 100)
      let half = data.count / 2
      var heard = try await task.readData(ofMinLength: half, maxLength: half, timeout: 100).0 ?? Data()
      #expect(heard.count == half)
      try await written
      task.closeWrite()
      let (rest, isAtEnd) = try await task.readData(ofMinLength: .max, maxLength: .max, timeout: 100)
      heard += rest ?? Data()
      #expect(isAtEnd && heard == data)
    }
  }

  @Test("a suspended task neither reads nor writes")
  func suspended() async throws {
    let heard = Recorder<String>()
    try await withStream(server: { peer in
      heard.record(String(decoding: try peer.receive(), as: UTF8.self))
      try peer.send("pong")
      _ = try peer.awaitClose()
    }) { task, _ in
      task.resume()
      task.suspend()
      let isDone = Mutex(false)
      async let read = task.readData(ofMinLength: 4, maxLength: 4, timeout: 60)
      task.write(Data("ping".utf8), timeout: 60) { _ in isDone.withLock { $0 = true } }
      // The connection opens nevertheless; the server gets no byte.
      #expect(await settles { task.transfer != nil })
      #expect(task.state == .suspended && !isDone.withLock { $0 } && task.countOfBytesSent == 0)
      task.resume()
      #expect(await heard.next() == "ping")
      let answer = try await read
      #expect(text(answer) == "pong")
    }
  }

  // MARK: Failures

  @Test("a read that times out fails alone, and its bytes stay for the next read")
  func readTimeout() async throws {
    let go = Gate()
    try await withStream(server: { peer in
      try peer.send("abc")
      try peer.wait(for: go)
      try peer.send("def")
      _ = try peer.awaitClose()
    }) { task, _ in
      task.resume()
      let transferred = { (task.transfer as? StreamTransfer)?.receivedByteCount ?? 0 }
      async let late = code { try await task.readData(ofMinLength: 6, maxLength: 6, timeout: 0.2) }
      let lateCode = await late
      #expect(lateCode == .timedOut)
      go.open()
      let whole = try await task.readData(ofMinLength: 6, maxLength: 6, timeout: 60)
      #expect(text(whole) == "abcdef")
      #expect(transferred() == 6)
    }
  }

  @Test("a write to a server that doesn't read times out, and later writes fail")
  func writeTimeout() async throws {
    try await withStream(server: { peer in try peer.wait(for: Gate()) }) { task, _ in
      task.resume()
      let large = Data(count: 64 << 20)
      #expect(await code { try await task.write(large, timeout: 0.3) } == .timedOut)
      #expect(await code { try await task.write(Data([1]), timeout: 0) } == .timedOut)
    }
  }

  @Test("a reset by the server fails the operations and the task")
  func reset() async throws {
    let notes = StreamNotes()
    let ready = Gate()
    try await withStream(
      delegate: notes,
      server: { peer in
        _ = try peer.receive()
        try peer.wait(for: ready)
        peer.reset()
      }
    ) { task, _ in
      task.resume()
      try await task.write(Data("x".utf8), timeout: 60)
      async let read = code { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 60) }
      ready.open()
      let readCode = await read
      #expect(readCode == .networkConnectionLost)
      #expect(await notes.events.first(2) == ["metrics true false", "end -1005"])
      #expect(await code { try await task.write(Data("x".utf8), timeout: 60) } == .networkConnectionLost)
    }
  }

  @Test("a task is canceled before it starts, while it connects, and while it reads and writes")
  func canceled() async throws {
    let notes = StreamNotes()
    try await withStream(delegate: notes, server: { peer in try peer.wait(for: Gate()) }) { task, session in
      task.resume()
      async let read = code { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) }
      async let write = code { try await task.write(Data(count: 64 << 20), timeout: 0) }
      #expect(await settles { task.countOfBytesSent > 0 })
      task.cancel()
      let readCode = await read
      #expect(readCode == .cancelled)
      let writeCode = await write
      #expect(writeCode == .cancelled)
      #expect(await notes.events.first(2) == ["metrics true false", "end -999"])

      let unstarted = session.streamTask(withHostName: "127.0.0.1", port: 1)
      async let early = code { try await unstarted.readData(ofMinLength: 1, maxLength: 1, timeout: 0) }
      unstarted.cancel()
      let earlyCode = await early
      #expect(earlyCode == .cancelled)
      #expect(await notes.events.first(2) == ["metrics false false", "end -999"])

      // 192.0.2.0/24 is reserved for documentation (RFC 5737), so connecting takes until the time limit, or fails at once.
      let connecting = session.streamTask(withHostName: "192.0.2.1", port: 9)
      connecting.resume()
      connecting.cancel()
      #expect(await code { try await connecting.readData(ofMinLength: 1, maxLength: 1, timeout: 0) } != nil)
    }
  }

  @Test("a refused connection fails the operations that were added before")
  func refused() async throws {
    let server = try OriginServer { _ in }
    let port = Int(server.port)
    server.stop()
    try await withSession({ $0.engine.proxy = .none }) { session in
      let task = session.streamTask(withHostName: "127.0.0.1", port: port)
      async let read = task.readData(ofMinLength: 1, maxLength: 1, timeout: 60)
      task.resume()
      do {
        _ = try await read
        Issue.record("no server listens")
      } catch let error as URLError {
        #expect(error.code == .cannotConnectToHost)
        #expect(error.localizedDescription.hasPrefix("127.0.0.1:\(port): "))
      }
    }
  }

  @Test(
    "a host that isn't a host name, and a port out of range, fail as malformed",
    arguments: [("", 80), ("a b", 80), ("user@host", 80), ("host/path", 80), ("host?", 80), ("a", 0), ("a", 65_536)])
  func malformed(host: String, port: Int) async throws {
    try await withSession { session in
      let task = session.streamTask(withHostName: host, port: port)
      task.resume()
      #expect(await code { try await task.write(Data([1]), timeout: 0) } == .badURL)
      #expect(await settles { task.state == .completed })
      #expect((task.error as? URLError)?.code == .badURL)
    }
  }

  @Test("the address policy of the session applies")
  func policy() async throws {
    try await withStream({ $0.engine.addressPolicy = .publicOnly }, server: { _ in }) { task, _ in
      task.resume()
      #expect(await code { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 60) } == .resourceUnavailable)
    }
  }
}
