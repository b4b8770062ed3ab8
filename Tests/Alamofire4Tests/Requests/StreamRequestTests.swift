// StreamRequestTests: requests that open a TCP connection, and the closures of the session delegate for their tasks.

import Foundation
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct StreamRequestTests {
  private let manager = makeManager()

  private func text(_ task: URLSessionStreamTask) async throws -> String {
    let (data, _) = try await task.readData(ofMinLength: 1, maxLength: 1000, timeout: 60)
    return String(decoding: data ?? Data(), as: UTF8.self)
  }

  @Test("a stream request's task reads and writes, and the delegate's closures report closed directions")
  func closures() async throws {
    let server = try OriginServer { peer in
      try peer.send("hello")
      let heard = try peer.receive()
      try peer.send(heard.reversed())
      peer.finishSending()
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let (readClosed, writeClosed, ended) = (Gate(), Gate(), Gate())
    manager.delegate.streamTaskReadClosed = { _, _ in readClosed.open() }
    manager.delegate.streamTaskWriteClosed = { _, _ in writeClosed.open() }
    manager.delegate.taskDidComplete = { _, _, error in if error == nil { ended.open() } }
    let request: StreamRequest = manager.stream(withHostName: "127.0.0.1", port: Int(server.port))
    let task = try #require(request.task as? URLSessionStreamTask)
    #expect(manager.delegate[task] === request && request.request == nil)
    #expect(try await text(task) == "hello")
    try await task.write(Data("abc".utf8), timeout: 60)
    #expect(try await text(task) == "cba")
    #expect(try await text(task) == "")
    await readClosed.wait()
    task.closeWrite()
    await writeClosed.wait()
    await ended.wait()
    #expect(request.response == nil && request.delegate.error == nil)
  }

  @Test("the delegate's closure receives the captured streams, and the task then belongs to no request")
  func captured() async throws {
    let server = try OriginServer { peer in
      try peer.send("hello")
      _ = try peer.awaitClose()
    }
    defer { server.stop() }
    let (received, isCaptured) = (Shared(""), Gate())
    manager.delegate.streamTaskDidBecomeInputAndOutputStreams = { _, _, input, output in
      input.open()
      var bytes = [UInt8](repeating: 0, count: 5)
      let count = input.read(&bytes, maxLength: 5)
      let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
      received.update { $0 = text }
      input.close()
      output.close()
      isCaptured.open()
    }
    let request = manager.stream(withHostName: "127.0.0.1", port: Int(server.port))
    let task = try #require(request.task as? URLSessionStreamTask)
    task.captureStreams()
    await isCaptured.wait()
    #expect(received.value == "hello")
    await withCheckedContinuation { continuation in
      manager.session.delegateQueue.addOperation { continuation.resume() }
    }
    #expect(manager.delegate[task] == nil && task.state == .completed)
  }

  @Test("a subclass overrides the delegate's closures and methods for streams")
  func overridden() async throws {
    final class Overriding: SessionDelegate, @unchecked Sendable {
      let isClosed = Gate()
      override var streamTaskWriteClosed: ((URLSession, URLSessionStreamTask) -> Void)? {
        get { { [isClosed] _, _ in isClosed.open() } }
        set {}
      }
    }
    let server = try OriginServer { peer in _ = try peer.awaitClose() }
    defer { server.stop() }
    let delegate = Overriding()
    let manager = makeManager(delegate: delegate)
    let request = manager.stream(withHostName: "127.0.0.1", port: Int(server.port))
    (request.task as? URLSessionStreamTask)?.closeWrite()
    await delegate.isClosed.wait()
  }

  @Test("a cancelled stream request completes with the error cancelled, and its pending read fails")
  func cancelled() async throws {
    let server = try OriginServer { peer in _ = try peer.awaitClose() }
    defer { server.stop() }
    let (code, ended) = (Shared(0), Gate())
    manager.delegate.taskDidComplete = { _, _, error in
      code.update { $0 = (error as? URLError)?.code.rawValue ?? 0 }
      ended.open()
    }
    let request = manager.stream(withHostName: "127.0.0.1", port: Int(server.port))
    let task = try #require(request.task as? URLSessionStreamTask)
    async let read = try? text(task)
    request.cancel()
    await ended.wait()
    #expect(code.value == URLError.cancelled.rawValue)
    let heard = await read
    #expect(heard == nil)
  }
}
