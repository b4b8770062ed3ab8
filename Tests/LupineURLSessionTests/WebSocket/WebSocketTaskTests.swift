// WebSocketTaskTests: the messages of WebSocket tasks, and every kind of end.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite("WebSocket tasks", .timeLimit(.minutes(10)))
struct WebSocketTaskTests {
  // MARK: Messages

  @Test("messages are sent and received in order, also before the task is resumed, and closing completes the task")
  func conversation() async throws {
    let delegate = SocketDelegate()
    try await withSocketServer(echoMessages) { origin in
      try await withSession(delegate: delegate) { session in
        let task = session.webSocketTask(with: try origin.socketURL())
        let sent = Recorder<String>()
        task.send(.string("early")) { sent.record($0.map(errorName) ?? "-") }
        task.resume()
        #expect(try await task.receive().text == "early")
        #expect(await sent.next() == "-")
        try await task.send(.data(Data([1, 2, 3])))
        try await task.send(.string("é"))
        #expect(try await task.receive().data == Data([1, 2, 3]))
        #expect(try await task.receive().text == "é")
        try await task.sendPing()
        // Four frames each way. The client's have a mask of 4 bytes.
        #expect(task.countOfBytesSent == 11 + 9 + 8 + 10 && task.countOfBytesReceived == 7 + 5 + 4 + 6)
        #expect(task.closeCode == .invalid && task.closeReason == nil && task.state == .running)
        #expect(task.currentRequest?.url == task.originalRequest?.url)
        task.cancel(with: .goingAway, reason: Data("bye".utf8))
        #expect(await delegate.events.first(4) == ["open -", "close 1001 bye", "metrics 1", "end -"])
        #expect(task.closeCode == .goingAway && task.closeReason == Data("bye".utf8))
        #expect(task.state == .completed && task.error == nil)
        await #expect(throws: POSIXError(.ENOTCONN)) { try await task.receive() }
        await #expect(throws: POSIXError(.ENOTCONN)) { try await task.send(.string("late")) }
        await #expect(throws: POSIXError(.ENOTCONN)) { try await task.sendPing() }
      }
    }
  }

  @Test("an interval of pings that isn't positive and finite means that none are sent")
  func pingInterval() throws {
    let task = URLSession.shared.webSocketTask(with: try #require(URL(string: "ws://a.test/")))
    for interval in [TimeInterval.infinity, .nan, 0, -1] {
      task.pingInterval = interval
      #expect(task.pingInterval == nil)
    }
    let century: TimeInterval = 100 * 365 * 24 * 60 * 60
    task.pingInterval = .greatestFiniteMagnitude
    #expect(task.pingInterval == century)
    task.cancel()
  }

  @Test("several receive calls that wait get the messages in order, on the delegate queue")
  func waiting() async throws {
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer), try socket.next() != nil else { return }
      try socket.send(.text("1"), .text("2"), .text("3"))
      try socket.echo()
    } _: { origin in
      let queue = OperationQueue()
      queue.maxConcurrentOperationCount = 1
      let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: queue)
      defer { session.invalidateAndCancel() }
      let task = session.webSocketTask(with: try origin.socketURL())
      let received = Recorder<String>()
      for _ in 0..<4 {
        task.receive { result in
          let isOnQueue = OperationQueue.current == queue
          received.record("\((try? result.get().text) ?? "failed") \(isOnQueue)")
        }
      }
      task.resume()
      task.send(.string("go")) { _ in }
      #expect(await received.first(3) == ["1 true", "2 true", "3 true"])
      task.cancel()
      #expect(await received.next() == "failed true")
    }
  }

  @Test("a message may have maximumMessageSize bytes, and a longer one fails the task with EMSGSIZE and code 1009")
  func messageSize() async throws {
    let frames = Recorder<ServerFrame?>()
    let delegate = SocketDelegate()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer) else { return }
      try socket.send(ServerFrame(2, [UInt8](repeating: 1, count: 2000)))
      try socket.send(ServerFrame(2, [UInt8](repeating: 1, count: 2001)))
      frames.record(try socket.next())
    } _: { origin in
      try await withSession(delegate: delegate) { session in
        let task = session.webSocketTask(with: try origin.socketURL())
        #expect(task.maximumMessageSize == 1_048_576)
        task.maximumMessageSize = 2000
        task.resume()
        #expect(try await task.receive().data?.count == 2000)
        await #expect { try await task.receive() } throws: { errorName($0) == "POSIX \(POSIXError.EMSGSIZE.rawValue)" }
        #expect(await frames.next()??.payload == ServerFrame.close(1009).payload)
        let end = "end POSIX \(POSIXError.EMSGSIZE.rawValue)"
        #expect(await delegate.events.first(3) == ["open -", "metrics 1", end])
        #expect(task.closeCode == .messageTooBig)
      }
    }
  }

  // MARK: Ending

  @Test("cancel ends the connection without a Close frame, and everything that waits fails with cancelled")
  func canceled() async throws {
    let frames = Recorder<ServerFrame?>()
    let delegate = SocketDelegate()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer) else { return }
      frames.record(try? socket.next())
    } _: { origin in
      try await withSession(delegate: delegate) { session in
        let task = session.webSocketTask(with: try origin.socketURL())
        task.resume()
        #expect(await delegate.events.next() == "open -")
        let results = Recorder<String>()
        task.receive { result in if case .failure(let error) = result { results.record(errorName(error)) } }
        task.cancel()
        #expect(await results.next() == "URL -999")
        #expect(await delegate.events.first(2) == ["metrics 1", "end URL -999"])
        #expect(await frames.next() == .some(nil))
        #expect(await code { try await task.send(.string("late")) } == .cancelled)
      }
    }
  }

  @Test("a task that is canceled before it is resumed, with or without a code, fails everything that waits")
  func canceledEarly() async throws {
    try await withSession { session in
      for withCode in [false, true] {
        let task = session.webSocketTask(with: try #require(URL(string: "ws://127.0.0.1:1/")))
        let results = Recorder<String>()
        task.send(.string("x")) { results.record($0.map(errorName) ?? "-") }
        task.sendPing { results.record($0.map(errorName) ?? "-") }
        task.receive { result in if case .failure(let error) = result { results.record(errorName(error)) } }
        if withCode { task.cancel(with: .normalClosure, reason: nil) } else { task.cancel() }
        #expect(await results.first(3) == ["URL -999", "URL -999", "URL -999"])
      }
    }
  }

  @Test("the server's Close frame is reported with its code, also a private one, and then the task completes")
  func closedByServer() async throws {
    let delegate = SocketDelegate()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer, then: [.text("last"), .close(4321, "why")]) else { return }
      #expect(try socket.next()?.payload == ServerFrame.close(4321).payload)
    } _: { origin in
      try await withSession(delegate: delegate) { session in
        let task = session.webSocketTask(with: try origin.socketURL())
        task.resume()
        #expect(try await task.receive().text == "last")
        #expect(await delegate.events.first(4) == ["open -", "close 4321 why", "metrics 1", "end -"])
        #expect(task.closeCode == URLSessionWebSocketTask.CloseCode(rawValue: 4321))
        await #expect(throws: POSIXError(.ENOTCONN)) { try await task.receive() }
      }
    }
  }

  @Test("closing a connection that is already being closed doesn't abort it, whoever has closed it first")
  func closedTwice() async throws {
    for isClosedByServer in [false, true] {
      let delegate = SocketDelegate()
      let closed = Gate()
      try await withSocketServer { peer in
        guard let socket = try ServerSocket(peer, then: isClosedByServer ? [.close(1000)] : []) else { return }
        _ = try socket.next()
        try peer.wait(for: closed)
        if !isClosedByServer { try socket.send(.close(1000)) }
      } _: { origin in
        try await withSession(delegate: delegate) { session in
          let task = session.webSocketTask(with: try origin.socketURL())
          task.resume()
          #expect(await delegate.events.next() == "open -")
          if isClosedByServer {
            #expect(await delegate.events.next() == "close 1000 -")
          } else {
            task.cancel(with: .normalClosure, reason: nil)
          }
          task.cancel(with: .goingAway, reason: nil)
          closed.open()
          let events = isClosedByServer ? [] : ["close 1000 -"]
          #expect(await delegate.events.first(events.count + 2) == events + ["metrics 1", "end -"])
        }
      }
    }
  }

  @Test("a connection that is lost fails the task, with the code for a missing Close frame")
  func lost() async throws {
    let delegate = SocketDelegate()
    try await withSocketServer { peer in
      _ = try ServerSocket(peer, then: [.text("last")])
    } _: { origin in
      try await withSession(delegate: delegate) { session in
        let task = session.webSocketTask(with: try origin.socketURL())
        task.resume()
        #expect(try await task.receive().text == "last")
        await #expect(throws: (any Error).self) { try await task.receive() }
        let end = "end URL \(URLError.networkConnectionLost.rawValue)"
        #expect(await delegate.events.first(3) == ["open -", "metrics 1", end])
        #expect(task.closeCode == .abnormalClosure)
      }
    }
  }

  @Test("a violation of the protocol fails the task with EPROTO, and the server gets the code")
  func violation() async throws {
    let frames = Recorder<ServerFrame?>()
    try await withSocketServer { peer in
      guard let socket = try ServerSocket(peer, then: [ServerFrame(5)]) else { return }
      frames.record(try socket.next())
    } _: { origin in
      try await withSession { session in
        let task = session.webSocketTask(with: try origin.socketURL())
        task.resume()
        await #expect(throws: POSIXError(.EPROTO)) { try await task.receive() }
        #expect(await frames.next()??.payload == ServerFrame.close(1002).payload)
        #expect(await settles { task.state == .completed })
        #expect(task.closeCode == .protocolError)
      }
    }
  }

  @Test("a suspended task reads nothing, and continues when it is resumed")
  func suspension() async throws {
    let delegate = SocketDelegate()
    try await withSocketServer(echoMessages) { origin in
      try await withSession(delegate: delegate) { session in
        let task = session.webSocketTask(with: try origin.socketURL())
        task.resume()
        #expect(await delegate.events.next() == "open -")
        task.suspend()
        #expect(task.state == .suspended)
        let received = Recorder<String?>()
        task.receive { received.record(try? $0.get().text) }
        try await task.send(.string("waiting"))
        task.resume()
        #expect(await received.next() == "waiting")
        task.suspend()
        task.cancel(with: .normalClosure, reason: nil)
        #expect(await delegate.events.first(3) == ["close 1000 -", "metrics 1", "end -"])
      }
    }
  }

  @Test("a task's own delegate is called, and the session's delegate for methods that it doesn't implement")
  func ownDelegate() async throws {
    final class Own: NSObject, URLSessionWebSocketDelegate, Sendable {
      let opened = Recorder<String?>()
      func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
      ) { opened.record(`protocol`) }
    }
    let (delegate, own) = (SocketDelegate(), Own())
    try await withSocketServer(echoMessages) { origin in
      try await withSession(delegate: delegate) { session in
        let task = session.webSocketTask(with: try origin.socketURL())
        task.delegate = own
        task.resume()
        #expect(await own.opened.next() == .some(nil))
        task.cancel(with: .normalClosure, reason: nil)
        #expect(await delegate.events.first(3) == ["close 1000 -", "metrics 1", "end -"])
      }
    }
  }
}
