// `onHTTPResponse`: the caller's decision on a response after its head has arrived.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct OnHTTPResponseTests {
  @Test("the onHTTPResponse handler receives the response head on its own queue, before the body")
  func head() async throws {
    let mayEnd = Gate()
    try await withOrigin { peer in
      _ = try peer.readRequest()
      try peer.beginChunked(status: 203, fields: ["X-Own": "set"])
      try peer.wait(for: mayEnd)
      try peer.chunk("here")
      try peer.endChunked()
    } _: { origin in
      try await withSession { session in
        let queue = DispatchQueue(label: "heads")
        let isOnQueue = queue.marked()
        let heads = Log<(Int, String?, Bool)>()
        let request = session.request(origin.url).onHTTPResponse(on: queue) { response in
          heads.note((response.statusCode, response.headers["X-Own"], isOnQueue()))
          mayEnd.open()
        }
        #expect(await request.serializingString().response.value == "here")
        #expect(
          heads.entries.map(\.0) == [203] && heads.entries.map(\.1) == ["set"] && heads.entries.map(\.2) == [true])
      }
    }
  }

  @Test(
    "if the onHTTPResponse handler returns .cancel, the request discards its data and fails with explicitlyCancelled",
    arguments: [true, false])
  func cancel(isEndless: Bool) async throws {
    let serve: @Sendable (Peer) throws -> Void = { peer in
      _ = try peer.readRequest()
      if !isEndless { return try peer.respond(body: Array("here".utf8)) }
      try peer.beginChunked()
      while true { try peer.chunk(Array(repeating: 46, count: 10_000)) }
    }
    try await withOrigin(serve) { origin in
      try await withSession { session in
        let retrier = ScriptedRetrier([.retry])
        let progress = Log<Void>()
        let request = session.request(origin.url, interceptor: retrier)
          .downloadProgress(queue: session.rootQueue) { _ in progress.note(()) }
          .onHTTPResponse(on: .global()) { _, answer in answer(.cancel) }
        let response = await request.outcome()
        #expect(response.error?.isExplicitlyCancelledError == true && request.isCancelled)
        #expect(response.data == nil && progress.entries.isEmpty && response.response?.statusCode == 200)
        #expect(retrier.errors.entries.isEmpty)
        #expect(await session.session.allTasks.isEmpty)
      }
    }
  }

  @Test(
    "after the onHTTPResponse handler allows the body, even late and on another thread, the complete body is delivered")
  func late() async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: 3_000_000))
    } _: { origin in
      try await withSession { session in
        let held = Held<Request.ResponseDisposition>()
        let request = session.request(origin.url).onHTTPResponse(on: .global()) { _, answer in held.hold(answer) }
        let progress = request.downloadProgress
        async let response = request.outcome()
        await held.isAsked.wait()
        // While the handler's decision is pending, other requests complete.
        #expect(await session.request(origin.url).serializingData().response.value?.count == 3_000_000)
        #expect(request.data == nil && progress.completedUnitCount == 0 && request.isResumed)
        held.answer(.allow)
        #expect(await response.data == Pattern.data(3_000_000))
      }
    }
  }

  @Test("only the onHTTPResponse handler that was set last is called, with the final response of each attempt")
  func finalResponse() async throws {
    try await withServer { request in
      switch (request.path, request.fields.first("Authorization")) {
      case ("/", _): redirect(to: "/there")
      case (_, nil): Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
      default: Reply(status: 503)
      }
    } _: { origin in
      try await withSession { session in
        let statuses = Log<Int>()
        let request = session.request(origin.url, interceptor: ScriptedRetrier([.retry])).validate()
          .authenticate(username: "u", password: "p")
          .onHTTPResponse(on: .global()) { _ in Issue.record("a replaced handler was called") }
          .onHTTPResponse(on: .global()) { statuses.note($0.statusCode) }
        #expect(await request.outcome().error?.responseCode == 503)
        #expect(statuses.entries == [503, 503])
      }
    }
  }
}
