// Redirect handlers of sessions and requests: which one is called, what it may change, and when it may answer.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct RedirectDecisionTests {
  @Test("if a request has a redirect handler, the session's redirect handler isn't called for the request")
  func whose() async throws {
    try await withServer(Self.chain) { origin in
      let session = Session(configuration: .forTests, redirectHandler: Redirector.doNotFollow)
      try await keeping(session) { session in
        #expect(await session.request("\(origin.url)/2").outcome().response?.statusCode == 302)
        let own = await session.request("\(origin.url)/2").redirect(using: .follow).serializingString().response
        #expect(own.value == "GET /0")
      }
      try await keeping(Session(configuration: .forTests, redirectHandler: Redirector.follow)) { session in
        #expect(
          await session.request("\(origin.url)/2").redirect(using: .doNotFollow).outcome().response?.statusCode == 302)
      }
    }
  }

  @Test("a redirect that isn't followed is delivered as the response, with its body and without an error")
  func notFollowed() async throws {
    try await withServer { _ in
      Reply(status: 302, fields: ["Location": "/there"], .bytes(Array("moved".utf8)))
    } _: { origin in
      try await withSession { session in
        let heads = Log<Int>()
        let request = session.request(origin.url).redirect(using: .doNotFollow)
          .onHTTPResponse(on: .global()) { heads.note($0.statusCode) }
        let response = await request.outcome()
        #expect(response.error == nil && response.response?.statusCode == 302)
        #expect(response.data == Data("moved".utf8))
        #expect(response.response?.headers["Location"] == "/there" && heads.entries == [302])
        #expect(response.response?.url?.absoluteString == origin.url)
        #expect(request.performedRequests == [request.lastRequest] && response.metrics?.redirectCount == 0)
        #expect(origin.requestCount == 1)
      }
    }
  }

  @Test(
    "a redirect handler may decline a redirect that can't be followed, or choose another URL",
    arguments: ["myapp://callback?code=1", "ftp://127.0.0.1/", "http://127.0.0.1:99999/"])
  func refused(location: String) async throws {
    try await withServer { request in
      request.path == "/" ? redirect(to: location) : .text(request.fields.first("Authorization") ?? "none")
    } _: { origin in
      try await withSession { session in
        func request(_ redirector: Redirector) -> DataRequest {
          session.request(origin.url, headers: [.authorization(bearerToken: "secret")]).redirect(using: redirector)
        }
        let taken = await request(.doNotFollow).outcome()
        #expect(taken.error == nil && taken.response?.statusCode == 302 && taken.data == nil)
        #expect(taken.response?.headers["Location"] == location)
        let led = await request(
          .modify { _, proposed, _ in
            #expect(proposed.url?.absoluteString == location && proposed.headers["Authorization"] == nil)
            var proposed = proposed
            proposed.url = URL(string: "\(origin.url)/there")
            return proposed
          }
        ).serializingString().response
        #expect(led.value == "none")
        let followed = await request(.follow).outcome()
        #expect((followed.error?.underlyingError as? URLError)?.code == .badServerResponse)
      }
    }
  }

  @Test("a cancelled request doesn't call its redirect handler, not even for a redirect that can't be followed")
  func refusedAndCancelled() async throws {
    let running = Mutex<DataRequest?>(nil)
    try await withScripts([
      { _, peer in
        try peer.send("HTTP/1.1 302 Found\r\nLocation: myapp://there\r\nContent-Length: 10\r\n\r\nab")
        _ = try peer.awaitClose()
      }
    ]) { origin, _ in
      try await withSession(startRequestsImmediately: false) {
        // The tracer is called on the event loop, so the request is cancelled before the redirect is handled.
        $0.engine.tracer = { if case .headReceived = $0.kind { running.withLock { $0 }?.cancel() } }
      } _: { session in
        let held = Held<URLRequest?>()
        let request = session.request(origin.url).redirect(using: RedirectClosure { _, _, answer in held.hold(answer) })
        running.withLock { $0 = request }
        // This breaks a reference cycle: the request retains the session, and the session retains the tracer.
        defer { running.withLock { $0 = nil } }
        request.resume()
        #expect(await request.outcome().error?.isExplicitlyCancelledError == true)
        #expect(!held.isAsked.isOpen && (request.task?.error as? URLError)?.code == .cancelled)
      }
    }
  }

  @Test("the redirect handler is called for each redirect, and may change the URL, the method and the fields")
  func modify() async throws {
    try await withServer(Self.chain) { origin in
      try await withSession { session in
        let hops = Log<String>()
        let request = session.request("\(origin.url)/3").redirect(
          using: .modify { task, request, response in
            hops.note("\(response.statusCode) \(response.url?.path() ?? "") to \(request.url?.path() ?? "")")
            #expect(task.originalRequest?.url?.path() == "/3")
            guard request.url?.path() == "/1" else { return request }
            var request = request
            request.method = .put
            request.url = URL(string: "\(origin.url)/1?changed")
            request.headers.add(name: "X-Own", value: "set")
            return request
          })
        let response = await request.serializingString().response
        // A 302 keeps the method PUT.
        #expect(response.value == "PUT /0 set")
        #expect(hops.entries == ["302 /3 to /2", "302 /2 to /1", "302 /1 to /0"])
        #expect(response.response?.url?.path() == "/0" && response.request?.url?.path() == "/3")
        #expect(request.performedRequests.last?.method == .put)
      }
    }
  }

  @Test("a redirect handler may call its completion later and on another thread, and only the first call has an effect")
  func late() async throws {
    try await withServer(Self.chain) { origin in
      try await withSession { session in
        let held = Held<URLRequest?>()
        let handler = RedirectClosure { request, _, answer in
          held.hold { _ in
            answer(request)
            answer(nil)
            answer(request)
          }
        }
        let request = session.request("\(origin.url)/1").redirect(using: handler)
        async let response = request.serializingString().response
        await held.isAsked.wait()
        #expect(await session.request("\(origin.url)/0").serializingString().response.value == "GET /0")
        #expect(request.isResumed && request.task?.state == .running)
        held.answer(nil)
        #expect(await response.value == "GET /0")
        #expect(origin.requestCount == 3)
      }
    }
  }

  @Test("if a redirect handler chooses a URL that can't be requested, the task fails")
  func nonsense() async throws {
    try await withServer(Self.chain) { origin in
      try await withSession { session in
        let response = await session.request("\(origin.url)/1").redirect(
          using: .modify { _, request, _ in
            var request = request
            request.url = URL(string: "mailto:somebody")
            return request
          }
        ).outcome()
        #expect(response.error?.isSessionTaskError == true && response.error?.underlyingError is URLError)
      }
    }
  }

  @Test(
    "no secrets are sent to another origin that a redirect handler has chosen, unless the handler sets them",
    arguments: [true, false], [true, false])
  func secrets(isSessions: Bool, isSetAnew: Bool) async throws {
    let secrets: HTTPHeaders = ["Authorization": "Bearer secret", "Cookie": "a=secret", "X-Own": "kept"]
    try await withServer {
      .text(String(decoding: $0.rawHead, as: UTF8.self))
    } _: { other in
      try await withServer { request in
        request.path == "/" ? redirect(to: "/there") : .text("not there")
      } _: { first in
        try await withSession {
          if isSessions { $0.headers = secrets }
        } _: { session in
          let request = session.request(first.url, headers: isSessions ? nil : secrets)
            .redirect(
              using: .modify { _, request, _ in
                var request = request
                request.url = URL(string: other.url)
                if isSetAnew { request.headers.update(.authorization(bearerToken: "fresh")) }
                return request
              })
          let head = try await request.serializingString().value
          #expect(!head.contains("secret") && head.contains("X-Own: kept"))
          #expect(head.contains("Authorization: Bearer fresh") == isSetAnew)
        }
      }
    }
  }

  /// A server's reply that redirects /3 to /2, /2 to /1 and /1 to /0. The body for /0 contains the request's method, path and
  /// X-Own field.
  @Sendable private static func chain(_ request: ReceivedRequest) -> Reply {
    guard let number = Int(request.path.dropFirst()), number > 0 else {
      let words = [request.method, request.path, request.fields.first("X-Own")].compactMap { $0 }
      return .text(words.joined(separator: " "))
    }
    return redirect(to: "/\(number - 1)")
  }
}
