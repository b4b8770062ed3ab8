// CallbackTests: response handlers, adapters and retriers that cancel their request, send others or add handlers.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CallbackTests {
  // MARK: Response handlers

  @Test("a response handler that cancels, suspends and resumes its finished request is called only once")
  func cancellingHandler() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let retrier = ScriptedRetrier([.retry, .retry])
      try await keeping(Session(configuration: .forTests, interceptor: retrier)) { session in
        let (values, isCalled) = (Log<String?>(), Gate())
        let request = session.request(origin.url).validate()
        request.responseString(queue: session.rootQueue) { [unowned request] response in
          values.note(response.value)
          request.cancel().suspend().resume()
          isCalled.open()
        }
        await isCalled.wait()
        await session.rootQueue.drain()
        #expect(values.entries == ["here"])
        #expect(request.isFinished && request.error == nil && retrier.errors.entries.isEmpty)
      }
      #expect(origin.requestCount == 1)
    }
  }

  @Test("a response handler can add another response handler to its request, which receives the same response")
  func addingHandler() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let (root, values) = (session.rootQueue, Recorder<String>())
        let request = session.request(origin.url)
        request.responseString(queue: root) { [unowned request] first in
          values.record("first \(first.value ?? "none")")
          request.responseString(queue: root) { second in values.record("second \(second.value ?? "none")") }
        }
        #expect(await values.first(2) == ["first here", "second here"])
        #expect(request.isFinished)
        #expect(await session.running.isEmpty)
      }
      #expect(origin.requestCount == 1)
    }
  }

  @Test("a response handler on the root queue can send another request of its session")
  func sendingHandler() async throws {
    try await withServer { request in
      .text(request.path)
    } _: { origin in
      try await withSession { session in
        let (root, url, values) = (session.rootQueue, origin.url, Recorder<String>())
        session.request(url + "/first").responseString(queue: root) { [unowned session] first in
          values.record(first.value ?? "none")
          session.request(url + "/second").responseString(queue: root) { second in
            values.record(second.value ?? "none")
          }
        }
        #expect(await values.first(2) == ["/first", "/second"])
      }
    }
  }

  // MARK: Adapters and retriers

  @Test("an adapter can send another request of the same session, and adapt its own request with the response")
  func sendingAdapter() async throws {
    try await withServer { request in
      .text(request.path == "/token" ? "secret" : request.fields.first("Authorization") ?? "none")
    } _: { origin in
      try await withSession { session in
        let (root, url) = (session.rootQueue, origin.url)
        let adapter = Adapter { urlRequest, session, completion in
          session.request(url + "/token").responseString(queue: root) { token in
            var urlRequest = urlRequest
            urlRequest.headers.add(.authorization(bearerToken: token.value ?? "none"))
            completion(.success(urlRequest))
          }
        }
        let request = session.request(url + "/data", interceptor: adapter)
        #expect(await request.serializingString().response.value == "Bearer secret")
      }
    }
  }

  @Test("a retrier can cancel all requests of its session, and each of them calls its response handler once")
  func cancellingRetrier() async throws {
    let count = 20
    try await withServer { _ in
      Reply(status: 401)
    } _: { origin in
      let retrier = Retrier { _, session, _, completion in
        session.cancelAllRequests(completingOnQueue: .global()) { completion(.doNotRetry) }
      }
      try await keeping(Session(configuration: .forTests, interceptor: retrier)) { session in
        let (errors, haveAllEnded) = (Log<AFError?>(), Gate())
        let requests = (0..<count).map { _ in
          session.request(origin.url).validate().response(queue: session.rootQueue) { response in
            if errors.note(response.error) == count { haveAllEnded.open() }
          }
        }
        await haveAllEnded.wait()
        await session.rootQueue.drain()
        let kinds = errors.entries.map { $0?.responseCode == 401 || $0?.isExplicitlyCancelledError == true }
        #expect(kinds == Array(repeating: true, count: count))
        // A request that was cancelled while its retrier was deciding is cancelled too, with its earlier error.
        #expect(requests.filter(\.isCancelled).count == count)
        #expect(requests.map(\.retryCount).max() == 0)
        #expect(await session.running.isEmpty)
      }
    }
  }

  @Test("cancelAllRequests also cancels a request that was resumed immediately before the call")
  func cancellingAtOnce() async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      try await withSession { session in
        for _ in 0..<100 {
          let task = session.request(origin.url).serializingData()
          session.cancelAllRequests()
          #expect(await task.response.error?.isExplicitlyCancelledError == true)
        }
        #expect(await session.running.isEmpty)
      }
    }
  }
}
