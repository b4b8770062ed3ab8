// StreamTaskTests+Owners: stream tasks of sessions that end, through proxies, and captured streams.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

extension StreamTaskTests {
  // MARK: Sessions

  @Test("finishTasksAndInvalidate waits for a stream, and a new one is canceled")
  func finishing() async throws {
    let notes = StreamNotes()
    try await withStream(
      delegate: notes,
      server: { peer in
        try peer.send(try Self.readAll(peer))
        peer.finishSending()
        _ = try peer.awaitClose()
      }
    ) { task, session in
      task.resume()
      session.finishTasksAndInvalidate()
      let late = session.streamTask(withHostName: "127.0.0.1", port: 1)
      late.resume()
      #expect(await code { try await late.readData(ofMinLength: 1, maxLength: 1, timeout: 0) } == .cancelled)
      try await task.write(Data("abc".utf8), timeout: 60)
      task.closeWrite()
      #expect(try await text(task.readData(ofMinLength: 9, maxLength: 9, timeout: 60)) == "abc")
      let events = await notes.events.first(7)
      #expect(events.suffix(3) == ["metrics true false", "end", "invalid"])
    }
  }

  @Test("invalidateAndCancel cancels streams")
  func invalidated() async throws {
    let notes = StreamNotes()
    try await withStream(delegate: notes, server: { peer in try peer.wait(for: Gate()) }) { task, session in
      task.resume()
      try await task.write(Data("x".utf8), timeout: 60)
      session.invalidateAndCancel()
      #expect(await notes.events.first(3) == ["metrics true false", "end -999", "invalid"])
    }
  }

  // MARK: Proxies

  @Test("an HTTP proxy opens a tunnel, and bytes that arrive with its reply belong to the stream")
  func tunnel() async throws {
    let proxy = try OriginServer { peer in
      guard let head = try peer.readHead() else { return }
      #expect(head.method == "CONNECT" && head.target == "mail.invalid:25")
      #expect(head.fields.first("Proxy-Authorization") == "Basic dXNlcjpwYXNz")
      try peer.send("HTTP/1.1 200 OK\r\n\r\n220 hello\r\n")
      #expect(try peer.receive() == Array("QUIT".utf8))
      try peer.send("221 bye")
      peer.close()
    }
    defer { proxy.stop() }
    let settings = ProxySettings.fixed(try Proxy("http://user:pass@127.0.0.1:\(proxy.port)"))
    try await withSession({ $0.engine.proxy = settings }) { session in
      let task = session.streamTask(withHostName: "mail.invalid", port: 25)
      task.resume()
      #expect(try await text(task.readData(ofMinLength: 11, maxLength: 100, timeout: 60)) == "220 hello\r\n")
      try await task.write(Data("QUIT".utf8), timeout: 60)
      #expect(try await text(task.readData(ofMinLength: 100, maxLength: 100, timeout: 60)) == "221 bye")
    }
  }

  @Test("a proxy that refuses the tunnel fails the stream, which isn't opened directly")
  func refusedTunnel() async throws {
    let proxy = try OriginServer { peer in
      _ = try peer.readHead()
      try peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
      peer.close()
    }
    defer { proxy.stop() }
    let isReached = Atomic(false)
    let settings = ProxySettings.fixed(try Proxy("http://127.0.0.1:\(proxy.port)"))
    try await withStream(
      { $0.engine.proxy = settings },
      server: { _ in
        isReached.store(true, ordering: .relaxed)
      }
    ) { task, _ in
      task.resume()
      #expect(await code { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 60) } == .cannotConnectToHost)
    }
    let wasReached = isReached.load(ordering: .relaxed)
    #expect(!wasReached)
  }

  // MARK: Captured streams

  @Test("captured streams read and write after the task has completed and the session has been invalidated")
  func captured() async throws {
    let notes = StreamNotes()
    let heard = Recorder<String>()
    try await withStream(
      delegate: notes,
      server: { peer in
        try peer.send("first second")
        heard.record(try Self.readAll(peer))
        peer.finishSending()
      }
    ) { task, session in
      task.resume()
      #expect(try await text(task.readData(ofMinLength: 6, maxLength: 6, timeout: 60)) == "first ")
      try await task.write(Data("by the task, ".utf8), timeout: 60)
      task.captureStreams()
      let streams = try #require(await notes.streams.next())
      #expect(await notes.events.next() == "captured, running")
      #expect(await settles { task.state == .completed })
      #expect(task.error == nil)
      #expect(await code { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) } == .cancelled)
      session.finishTasksAndInvalidate()
      // No other call about the task.
      #expect(await notes.events.next() == "invalid")
      let (text, count) = await onThread {
        let (input, output) = (streams.input, streams.output)
        var byte: UInt8 = 0
        #expect(input.read(&byte, maxLength: 1) == -1 && output.streamStatus == .notOpen)
        input.open()
        output.open()
        #expect(input.hasBytesAvailable && output.hasSpaceAvailable)
        let text = (try? input.readBytes(upToCount: 100)).map { String(decoding: $0, as: UTF8.self) }
        let count = output.write(Array("by a stream".utf8), maxLength: 11)
        output.close()
        #expect(output.streamStatus == .closed && output.write([1], maxLength: 1) == -1)
        #expect((try? input.readBytes(upToCount: 100))?.isEmpty == true)
        #expect(input.streamStatus == .atEnd && !input.hasBytesAvailable && input.streamError == nil)
        input.close()
        return (text, count)
      }
      #expect(text == "second" && count == 11)
      #expect(await heard.next() == "by the task, by a stream")
    }
  }

  @Test("captured streams that are released close the connection")
  func unwantedStreams() async throws {
    let ending = Recorder<Peer.Ending.Cause>()
    try await withStream(server: { peer in ending.record(try peer.awaitClose().cause) }) { task, _ in
      task.resume()
      task.captureStreams()
      #expect(await ending.next() == .closed)
    }
  }
}

/// Runs blocking code on a thread that no Swift task uses.
private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread { continuation.resume(returning: body()) }.start()
  }
}
