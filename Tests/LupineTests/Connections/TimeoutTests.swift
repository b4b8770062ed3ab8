// TimeoutTests: each phase of a request has a time limit, also of fractions of a second, and the error names the phase.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct TimeoutTests {
  @Test(
    "if the server doesn't respond within the request's timeout, the EngineError's phase is firstByte",
    arguments: [0.001, 0.05, 0.25])
  func firstByte(seconds: TimeInterval) async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url) { $0.timeoutInterval = seconds }.outcome()
        // The shortest timeout, 1 ms, may expire before the connection is open.
        let error = try expectTransferError(
          response.error, .timedOut, .timedOut, origin.url, "\(seconds) s",
          seconds > 0.001 ? "didn't respond" : "within")
        if seconds > 0.001 { #expect(error.phase == .firstByte && error.progress == .sent) }
        // The engine measures the interval, because this test itself may have to wait for a thread.
        let elapsed = try #require(response.metrics).taskInterval.duration
        #expect(elapsed >= seconds)
        #expect(response.response == nil)
      }
    }
  }

  @Test("the session's timeout applies only to requests without their own timeout")
  func sessionTimeout() async throws {
    let reply = Gate()
    try await withOrigin { peer in
      guard let request = try peer.readRequest() else { return }
      if request.path == "/silent" { _ = try peer.awaitClose() }
      try peer.wait(for: reply)
      try peer.respond(body: [1])
    } _: { origin in
      try await withSession {
        $0.timeoutIntervalForRequest = 0.1
      } _: { session in
        let patient = session.request(origin.url) { $0.timeoutInterval = 3600 }
        async let late = patient.outcome()
        let response = await session.request(origin.url + "/silent").outcome()
        try expectTransferError(response.error, .timedOut, .timedOut, "the server didn't respond within 0.1 s")
        reply.open()
        #expect(await late.value == Data([1]))
      }
    }
  }

  @Test("if a response's body stalls, the timeout error's phase is receive, and the received bytes remain available")
  func stalledBody() async throws {
    try await withOrigin { peer in
      _ = try peer.readRequest()
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
      _ = try peer.awaitClose()
    } _: { origin in
      try await withSession { session in
        let response = await session.request(origin.url) { $0.timeoutInterval = 5 }.outcome()
        let error = try expectTransferError(response.error, .timedOut, .timedOut, "stalled", "5 s")
        #expect(error.phase == .receive && error.progress == .responseBegan)
        #expect(response.data == Data("half".utf8) && response.response?.statusCode == 200)
      }
    }
  }

  @Test("a body that trickles in isn't treated as stalled, but timeoutIntervalForResource ends the request")
  func total() async throws {
    try await withOrigin { peer in
      _ = try peer.readRequest()
      try peer.beginChunked()
      while true {
        try peer.chunk("x")
        try peer.pause(for: .milliseconds(20))
      }
    } _: { origin in
      try await withSession {
        $0.timeoutIntervalForRequest = 60
        $0.timeoutIntervalForResource = 5
      } _: { session in
        let response = await session.request(origin.url).outcome()
        let error = try expectTransferError(response.error, .timedOut, .timedOut, "5 s")
        #expect(error.phase == .receive)
        #expect(response.data?.count ?? 0 > 1)
        let elapsed = try #require(response.metrics).taskInterval.duration
        #expect(elapsed >= 5)
      }
    }
  }

  @Test("timeoutIntervalForResource limits the total time of a request, including all its redirects")
  func totalOverRedirects() async throws {
    try await withOrigin { peer in
      while let request = try peer.readRequest() {
        try peer.pause(for: .milliseconds(400))
        try peer.respond(status: 302, fields: ["Location": request.path + "x"])
      }
    } _: { origin in
      try await withSession {
        $0.timeoutIntervalForResource = 5
      } _: { session in
        let response = await session.request(origin.url).outcome()
        // 20 redirects would take 8 s.
        try expectTransferError(response.error, .timedOut, .timedOut)
        // The task's interval includes all redirects.
        #expect(response.metrics?.taskInterval.duration ?? 0 >= 4.99)
        #expect(response.metrics?.redirectCount ?? 0 > 0)
      }
    }
  }

  @Test("if the server stops reading the request's body, the request times out, and the EngineError's phase is send")
  func send() async throws {
    let done = Gate()
    try await withOrigin { peer in
      try peer.wait(for: done)
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url, method: .post) { request in
          request.httpBody = Data(count: 64 << 20)
          request.timeoutInterval = 0.2
        }
        let response = await request.outcome()
        done.open()
        let error = try expectTransferError(
          response.error, .timedOut, .timedOut, "no data of the request could be sent", "0.2 s")
        #expect(error.phase == .send && error.progress == .sent)
      }
    }
  }

  @Test("if the server doesn't answer the TLS handshake, the request times out, and the EngineError's phase is tls")
  func handshake() async throws {
    try await withOrigin { peer in
      _ = try peer.awaitClose()
    } _: { origin in
      try await withSession { session in
        let url = "https://127.0.0.1:\(origin.port)"
        let response = await session.request(url) { $0.timeoutInterval = 0.15 }.outcome()
        let error = try expectTransferError(
          response.error, .timedOut, .timedOut, url, "the TLS handshake took longer than 0.15 s")
        #expect(error.phase == .tls && error.progress == .nothingSent)
        let metrics = try #require(response.metrics?.transactionMetrics.first)
        #expect(metrics.connectStartDate != nil && metrics.secureConnectionStartDate != nil)
        #expect(metrics.connectEndDate == nil && metrics.secureConnectionEndDate == nil)
      }
    }
  }

  @Test("if the host doesn't accept a connection, the request times out, and the EngineError's phase is connect")
  func connect() async throws {
    let listener = try FullListener()
    try await withSession { session in
      let url = "http://127.0.0.1:\(listener.port)"
      let response = await session.request(url) { $0.timeoutInterval = 0.15 }.outcome()
      let error = try expectTransferError(
        response.error, .timedOut, .timedOut, url, "no connection was established within 0.15 s")
      #expect(error.phase == .connect && error.progress == .nothingSent)
    }
    withExtendedLifetime(listener) {}
  }

  @Test(
    "if a request gets no free connection in time, the error's phase is poolWait, and the next request succeeds")
  func poolWait() async throws {
    let arrived = Gate()
    let reply = Gate()
    try await withOrigin { peer in
      while try peer.readRequest() != nil {
        arrived.open()
        try peer.wait(for: reply)
        try peer.respond(body: [1])
      }
    } _: { origin in
      try await withSession {
        $0.httpMaximumConnectionsPerHost = 1
      } _: { session in
        async let first = session.request(origin.url).outcome()
        await arrived.wait()
        let second = await session.request(origin.url) { $0.timeoutInterval = 0.1 }.outcome()
        let error = try expectTransferError(
          second.error, .timedOut, .timedOut, "no connection became available within 0.1 s")
        #expect(error.phase == .poolWait && error.progress == .nothingSent)
        async let third = session.request(origin.url).outcome()
        reply.open()
        #expect(await first.value == Data([1]))
        #expect(await third.value == Data([1]))
        #expect(origin.connectionCount == 1 && origin.requestCount == 2)
      }
    }
  }

  @Test("while a request is suspended, its timeout doesn't expire")
  func suspended() async throws {
    let running = Mutex<DataRequest?>(nil)
    let (arrived, mayRespond, suspended) = (Gate(), Gate(), Gate())
    let (rest, isSent) = (Gate(), Gate())
    try await withOrigin { peer in
      guard try peer.readRequest()?.path == "/suspended" else { return _ = try peer.awaitClose() }
      arrived.open()
      try peer.wait(for: mayRespond)
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
      try peer.wait(for: rest)
      try peer.send("half")
      isSent.open()
    } _: { origin in
      try await withSession {
        // The tracer is called on the event loop, so the request is suspended before its time limit can expire.
        $0.engine.tracer = { event in
          guard case .headReceived = event.kind, let request = running.withLock({ $0.take() }) else { return }
          request.suspend()
          suspended.open()
        }
      } _: { session in
        let request = session.request(origin.url + "/suspended") {
          var timeouts = Timeouts(everyPhase: .seconds(100), total: nil)
          timeouts.idle = .milliseconds(200)
          $0.lupine.timeouts = timeouts
        }
        async let response = request.outcome()
        await arrived.wait()
        // The queue's current job has sent the request to the event loop. After this job, the task can pause its exchange.
        await session.rootQueue.drain()
        running.withLock { $0 = request }
        mayRespond.open()
        await suspended.wait()
        // Each of these requests times out after 200 ms, the same limit as that of the suspended request.
        for _ in 0..<2 {
          let other = await session.request(origin.url) { $0.timeoutInterval = 0.2 }.outcome()
          try expectTransferError(other.error, .timedOut, .timedOut)
        }
        #expect(request.isSuspended)
        rest.open()
        // The rest has arrived before the time limit applies again.
        await isSent.wait()
        request.resume()
        #expect(await response.value == Data("halfhalf".utf8))
      }
    }
  }

  @Test("after a suspended request is resumed, the time limit for getting a connection applies again")
  func suspendedWait() async throws {
    let running = Mutex<DataRequest?>(nil)
    let (arrived, suspended) = (Gate(), Gate())
    try await withOrigin { peer in
      guard try peer.readRequest() != nil else { return }
      arrived.open()
      _ = try peer.awaitClose()
    } _: { origin in
      try await withServer { _ in
        .hold
      } _: { silent in
        try await withSession {
          $0.httpMaximumConnectionsPerHost = 1
          // The tracer is called on the event loop, so the request is suspended before its time limit can expire.
          $0.engine.tracer = { event in
            guard case .exchangeWaits = event.kind, let request = running.withLock({ $0.take() }) else { return }
            // The queue's current job has sent the request to the event loop. After this job, the task can pause its exchange.
            request.underlyingQueue.sync {}
            request.suspend()
            suspended.open()
          }
        } _: { session in
          // A long timeout, so that this request holds the connection on a busy machine too.
          let first = session.request(origin.url) { $0.timeoutInterval = 600 }
          async let held = first.outcome()
          await arrived.wait()
          let second = session.request(origin.url) { $0.timeoutInterval = 0.2 }
          running.withLock { $0 = second }
          async let waiting = second.outcome()
          await suspended.wait()
          // This request takes 0.4 s, longer than the time limit of `second`.
          _ = await session.request(silent.url) { $0.timeoutInterval = 0.4 }.outcome()
          #expect(second.isSuspended)
          second.resume()
          #expect(await settles { second.isFinished })
          // Both are cancelled, so that a failing test doesn't wait for the session's limit.
          second.cancel()
          first.cancel()
          try expectTransferError(await waiting.error, .timedOut, .timedOut, "became available within 0.2 s")
          #expect(await held.error?.isExplicitlyCancelledError == true)
        }
      }
    }
  }
}
