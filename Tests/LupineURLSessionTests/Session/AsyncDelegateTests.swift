// AsyncDelegateTests: delegates that implement the async forms of methods: the session obeys their answers.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite("Async forms of delegate methods", .timeLimit(.minutes(10))) struct AsyncDelegateTests {
  /// A delegate that implements only the async forms. Each records its call, and waits for the gate, if there is one. At
  /// most one of them refuses; the others permit.
  final class AsyncDelegate: NSObject, URLSessionDataDelegate, Sendable {
    let notes = Notes()
    let ended = Recorder<URLError.Code?>()
    let asked = Gate()
    private let refused: AsyncForm?
    private let gate: Gate?

    init(refusing refused: AsyncForm? = nil, at gate: Gate? = nil) { (self.refused, self.gate) = (refused, gate) }

    private func refuses(_ form: AsyncForm) async -> Bool {
      notes.add("\(form)")
      asked.open()
      if let gate { await gate.wait() } else { await Task.yield() }
      return form == refused
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest
    ) async -> URLRequest? {
      await refuses(.redirect) ? nil : request
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
      if await refuses(.taskChallenge) { return (.cancelAuthenticationChallenge, nil) }
      return (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
      await refuses(.bodyStream) ? nil : InputStream(data: Data("body".utf8))
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
      if await refuses(.delayedRequest) { return (.cancel, nil) }
      var other = request
      other.url?.append(path: "later")
      return (.useNewRequest, other)
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
      await refuses(.response) ? .cancel : .allow
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
      await refuses(.caching) ? nil : proposedResponse
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { notes.add("data") }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      ended.record((error as? URLError)?.code)
    }

    /// Resumes the task, waits for its end, and returns the code of its error, or nil if it succeeded.
    func end(of task: URLSessionTask) async -> URLError.Code? {
      task.resume()
      return await ended.next() ?? nil
    }
  }

  /// Answers "/moved" with a redirect to "/target", "/login" with a challenge unless the request has a credential, and other
  /// paths with the path and the request's body.
  @Sendable static func reply(to request: ReceivedRequest) -> Reply {
    switch request.path {
    case "/moved": Reply(status: 302, fields: ["Location": "/target"], .bytes(Array("moved".utf8)))
    case "/login" where request.fields.first("Authorization") == nil:
      Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
    default:
      Reply(
        fields: ["Cache-Control": "max-age=60", "Content-Type": "text/plain"],
        .bytes(Array(request.path.utf8) + request.body))
    }
  }

  // MARK: Answers

  @Test(
    "an async method that refuses a redirect is obeyed: the redirect's response is delivered", arguments: [true, false])
  func redirect(isRefused: Bool) async throws {
    let delegate = AsyncDelegate(refusing: isRefused ? .redirect : nil)
    try await withServer(Self.reply) { origin in
      try await withSession(delegate: delegate) { session in
        for _ in 0..<2 {
          let task = session.dataTask(with: origin.request("/moved"))
          #expect(await delegate.end(of: task) == nil)
          #expect((task.response as? HTTPURLResponse)?.statusCode == (isRefused ? 302 : 200))
        }
        #expect(origin.requestCount == (isRefused ? 2 : 3))
        #expect(delegate.notes.all.count { $0 == "redirect" } == 2)
      }
    }
  }

  @Test(
    "an async method that cancels a server's challenge is obeyed, and its credential is sent", arguments: [true, false])
  func challenge(isRefused: Bool) async throws {
    let delegate = AsyncDelegate(refusing: isRefused ? .taskChallenge : nil)
    try await withServer(Self.reply) { origin in
      try await withSession(delegate: delegate) { session in
        let task = session.dataTask(with: origin.request("/login"))
        #expect(await delegate.end(of: task) == (isRefused ? .cancelled : nil))
        #expect((task.response as? HTTPURLResponse)?.statusCode == (isRefused ? 401 : 200))
        #expect(delegate.notes.all.first == "taskChallenge" && origin.requestCount == (isRefused ? 1 : 2))
      }
    }
  }

  @Test(
    "an async method that cancels a response is obeyed: no byte of the body is delivered", arguments: [true, false])
  func response(isRefused: Bool) async throws {
    let delegate = AsyncDelegate(refusing: isRefused ? .response : nil)
    try await withServer(Self.reply) { origin in
      try await withSession(delegate: delegate, { $0.urlCache = nil }) { session in
        for _ in 0..<2 {
          let task = session.dataTask(with: origin.request("/a"))
          #expect(await delegate.end(of: task) == (isRefused ? .cancelled : nil))
        }
        let notes = delegate.notes.all.filter { $0 != "caching" }
        #expect(notes == (isRefused ? ["response", "response"] : ["response", "data", "response", "data"]))
      }
    }
  }

  @Test(
    "an async method that refuses to store a response is obeyed: the cache stores nothing", arguments: [true, false])
  func caching(isRefused: Bool) async throws {
    let delegate = AsyncDelegate(refusing: isRefused ? .caching : nil)
    try await withCache(delegate: delegate) { fixture in
      fixture.script.on("/a", "one")
      for _ in 0..<2 {
        let task = fixture.session.dataTask(with: fixture.request())
        #expect(await delegate.end(of: task) == nil)
      }
      #expect(fixture.script.count == (isRefused ? 2 : 1))
      #expect(delegate.notes.all.count { $0 == "caching" } == (isRefused ? 2 : 1))
    }
  }

  @Test(
    "an async method provides the stream of an upload; without a stream, the upload fails", arguments: [true, false])
  func bodyStream(isRefused: Bool) async throws {
    let delegate = AsyncDelegate(refusing: isRefused ? .bodyStream : nil)
    try await withServer(Self.reply) { origin in
      try await withSession(delegate: delegate, { $0.urlCache = nil }) { session in
        let task = session.uploadTask(withStreamedRequest: origin.request("/up", "POST"))
        #expect(await delegate.end(of: task) == (isRefused ? .requestBodyStreamExhausted : nil))
        #expect(delegate.notes.all.first == "bodyStream")
        #expect(task.countOfBytesReceived == (isRefused ? 0 : Int64("/upbody".utf8.count)))
      }
    }
  }

  @Test("an async method that cancels a delayed request is obeyed, or replaces the request", arguments: [true, false])
  func delayedRequest(isRefused: Bool) async throws {
    let delegate = AsyncDelegate(refusing: isRefused ? .delayedRequest : nil)
    try await withServer(Self.reply) { origin in
      try await withSession(delegate: delegate, { $0.urlCache = nil }) { session in
        let task = session.dataTask(with: origin.request("/a"))
        task.earliestBeginDate = Date(timeIntervalSinceNow: 0.01)
        #expect(await delegate.end(of: task) == (isRefused ? .cancelled : nil))
        #expect(task.response?.url?.path == (isRefused ? nil : "/a/later"))
        #expect(delegate.notes.all.first == "delayedRequest" && origin.requestCount == (isRefused ? 0 : 1))
      }
    }
  }

  @Test("a task calls its delegate's async methods before those of the session's delegate")
  func ownDelegate() async throws {
    let (own, shared) = (AsyncDelegate(refusing: .redirect), AsyncDelegate())
    try await withServer(Self.reply) { origin in
      try await withSession(delegate: shared) { session in
        for _ in 0..<2 {
          let (_, response) = try await session.data(for: origin.request("/moved"), delegate: own)
          #expect((response as? HTTPURLResponse)?.statusCode == 302)
        }
        #expect(own.notes.all == ["redirect", "redirect"] && shared.notes.all.isEmpty)
        let bare = Bare()
        let (_, followed) = try await session.data(for: origin.request("/moved"), delegate: bare)
        #expect((followed as? HTTPURLResponse)?.statusCode == 200 && shared.notes.all == ["redirect"])
      }
    }
  }

  // MARK: Late answers

  @Test(
    "the answer of an async method after its task was cancelled has no effect",
    arguments: [(AsyncForm.redirect, "/moved"), (.taskChallenge, "/login"), (.response, "/a"), (.caching, "/a")])
  func lateAnswer(form: AsyncForm, path: String) async throws {
    let gate = Gate()
    defer { gate.open() }
    let delegate = AsyncDelegate(at: gate)
    try await withCache(delegate: form == .caching ? CachingOnly(delegate) : delegate) { fixture in
      fixture.script.on(path) { request, _ in Self.reply(to: request) }
      fixture.script.on("/target") { request, _ in Self.reply(to: request) }
      let task = fixture.session.dataTask(with: fixture.request(path))
      task.resume()
      await delegate.asked.wait()
      #expect(delegate.notes.all.filter { $0 != "data" } == ["\(form)"])
      task.cancel()
      #expect(await delegate.ended.next() == .cancelled)
      let count = fixture.script.count
      gate.open()
      let (text, _) = try await fixture.load("/b", in: fixture.sibling())
      #expect(text == "no script" && fixture.script.count == count + 1)
      #expect(fixture.cache.cachedResponse(for: fixture.request(path)) == nil)
    }
  }

  /// A delegate that passes on only the calls for the cache, the body and the end.
  private final class CachingOnly: NSObject, URLSessionDataDelegate, Sendable {
    private let inner: AsyncDelegate

    init(_ inner: AsyncDelegate) { self.inner = inner }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
      await inner.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      inner.urlSession(session, task: task, didCompleteWithError: error)
    }
  }
}

/// A delegate that implements no method.
final class Bare: NSObject, URLSessionDataDelegate, Sendable {}
