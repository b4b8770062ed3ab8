// SessionDelegateTests: the closures of a session delegate, their precedence, and subclasses.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct SessionDelegateTests {
  private let server: OriginServer
  private let manager = makeManager()
  private var delegate: SessionDelegate { manager.delegate }

  init() throws {
    server = try OriginServer.serving { request in
      switch request.path {
      case "/cached":
        Reply(fields: ["Cache-Control": "max-age=60", "Content-Type": "text/plain"], .bytes(Array("kept".utf8)))
      case "/login":
        request.fields.first("authorization") == nil
          ? Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""]) : .text("in")
      default: DemoRoutes.reply(to: request)
      }
    }
  }

  @Test("SessionDelegate's subscript returns the request of a task until the notification of its completion was posted")
  func requests() async throws {
    let request = manager.request("\(server.url)/slow")
    let task = try #require(request.task)
    #expect(delegate[task] === request && delegate[task: task] === request)
    let notified = Shared(false)
    let token = NotificationCenter.default.addObserver(
      forName: Notification.Name.Task.DidComplete, object: delegate, queue: nil
    ) { note in
      guard let delegate = note.object as? SessionDelegate,
        let task = note.userInfo?[Notification.Key.Task] as? URLSessionTask
      else { return }
      let isKnown = delegate[task]?.delegate.data != nil
      notified.update { $0 = isKnown }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    request.cancel()
    _ = await request.finished()
    // The request is forgotten after the response handlers have started.
    await withCheckedContinuation { continuation in
      manager.session.delegateQueue.addOperation { continuation.resume() }
    }
    #expect(notified.value)
    #expect(delegate[task] == nil)
  }

  @Test("setting SessionDelegate's closures on several threads loses no closure, and doesn't deadlock")
  func concurrentChanges() {
    let delegate = SessionDelegate()
    let lost = Shared(0)
    DispatchQueue.concurrentPerform(iterations: 2) { index in
      for _ in 0..<1_000 {
        if index == 0 {
          let user = DelegateUser(delegate)
          delegate.sessionDidBecomeInvalidWithError = { _, _ in _ = user }
          if delegate.sessionDidBecomeInvalidWithError == nil { lost.update { $0 += 1 } }
          delegate.sessionDidBecomeInvalidWithError = nil
        } else {
          delegate.taskDidComplete = { _, _, _ in }
          if delegate.taskDidComplete == nil { lost.update { $0 += 1 } }
          delegate.taskDidComplete = nil
        }
      }
    }
    #expect(lost.value == 0)
  }

  @Test("SessionDelegate's redirection closure decides whether a redirect is followed, changed or refused")
  func redirects() async {
    #expect(await manager.request("\(server.url)/redirect").finished().response?.url?.path == "/json")
    delegate.taskWillPerformHTTPRedirection = { _, _, _, request in
      var request = request
      request.url = request.url?.deletingLastPathComponent().appendingPathComponent("gzip")
      return request
    }
    #expect(await manager.request("\(server.url)/redirect").finished().response?.url?.path == "/gzip")
    delegate.taskWillPerformHTTPRedirection = { _, _, _, _ in nil }
    #expect(await manager.request("\(server.url)/redirect").finished().response?.statusCode == 302)
  }

  @Test("if both forms of a SessionDelegate closure are set, the form with a completion handler is called")
  func redirectsWithCompletion() async {
    let calls = Shared(0)
    delegate.taskWillPerformHTTPRedirection = { _, _, _, request in
      calls.update { $0 += 1 }
      return request
    }
    delegate.taskWillPerformHTTPRedirectionWithCompletion = { _, _, _, _, completion in
      completion(nil)
    }
    #expect(await manager.request("\(server.url)/redirect").finished().response?.statusCode == 302)
    #expect(calls.value == 0)
  }

  @Test("a challenge for a request is passed to SessionDelegate's closures before the request's credential is used")
  func challenges() async {
    let calls = Shared<[String]>([])
    let credential = URLCredential(user: "u", password: "p", persistence: .none)
    func login() async -> Int? {
      await manager.request("\(server.url)/login").authenticate(user: "x", password: "y").finished().response?
        .statusCode
    }
    delegate.sessionDidReceiveChallenge = { _, _ in
      calls.update { $0.append("session") }
      return (.performDefaultHandling, nil)
    }
    delegate.taskDidReceiveChallenge = { _, _, challenge in
      calls.update { $0.append("task") }
      return challenge.previousFailureCount == 0 ? (.useCredential, credential) : (.rejectProtectionSpace, nil)
    }
    #expect(await login() == 200)
    delegate.taskDidReceiveChallengeWithCompletion = { _, _, _, completion in
      calls.update { $0.append("completion") }
      completion(.rejectProtectionSpace, nil)
    }
    #expect(await login() == 401)
    #expect(calls.value == ["task", "completion"])
  }

  @Test("a challenge for a task without a request is passed to SessionDelegate's session closures")
  func sessionChallenges() async throws {
    let calls = Shared<[String]>([])
    let credential = URLCredential(user: "u", password: "p", persistence: .none)
    manager.startRequestsImmediately = false
    func login() async throws -> Int? {
      let task = try #require(manager.request("\(server.url)/login").task)
      delegate[task] = nil
      let done = Gate()
      delegate.taskDidComplete = { _, _, _ in done.open() }
      task.resume()
      await done.wait()
      return (task.response as? HTTPURLResponse)?.statusCode
    }
    #expect(try await login() == 401)
    delegate.sessionDidReceiveChallenge = { _, _ in
      calls.update { $0.append("session") }
      return (.useCredential, credential)
    }
    #expect(try await login() == 200)
    delegate.sessionDidReceiveChallengeWithCompletion = { _, _, completion in
      calls.update { $0.append("completion") }
      completion(.rejectProtectionSpace, nil)
    }
    #expect(try await login() == 401)
    #expect(calls.value == ["session", "completion"])
  }

  @Test("dataTaskDidReceiveResponse decides whether the response's body is received")
  func responses() async {
    delegate.dataTaskDidReceiveResponse = { _, _, _ in .cancel }
    #expect((await manager.request("\(server.url)/json").finished().error as? URLError)?.code == .cancelled)
    delegate.dataTaskDidReceiveResponseWithCompletion = { _, _, _, completion in completion(.allow) }
    #expect(await manager.request("\(server.url)/json").finished().error == nil)
  }

  @Test("if dataTaskDidReceiveData is set, the body is passed to this closure, and not to the request")
  func bodies() async {
    let received = Shared(0)
    delegate.dataTaskDidReceiveData = { _, _, data in received.update { $0 += data.count } }
    let response = await manager.request("\(server.url)/big?bytes=5000").finished()
    #expect(received.value == 5_000 && response.data == Data())
  }

  @Test("dataTaskWillCacheResponse decides whether a response is stored in the cache")
  func caching() async {
    let calls = Shared<[String]>([])
    delegate.dataTaskWillCacheResponse = { _, _, response in
      let text = String(decoding: response.data, as: UTF8.self)
      calls.update { $0.append(text) }
      return nil
    }
    #expect(await manager.request("\(server.url)/cached").string().value == "kept")
    delegate.dataTaskWillCacheResponseWithCompletion = { _, _, _, completion in
      calls.update { $0.append("completion") }
      completion(nil)
    }
    #expect(await manager.request("\(server.url)/cached").string().value == "kept")
    #expect(calls.value == ["kept", "completion"])
  }

  @Test("a SessionDelegate closure can replace the stream that provides an upload's body")
  func streams() async {
    func upload() async -> String? {
      await manager.upload(InputStream(data: Data("own".utf8)), to: "\(server.url)/echo").object()["body"]
    }
    #expect(await upload() == "own")
    delegate.taskNeedNewBodyStream = { _, _ in InputStream(data: Data("closure".utf8)) }
    #expect(await upload() == "closure")
    delegate.taskNeedNewBodyStreamWithCompletion = { _, _, completion in
      completion(InputStream(data: Data("completion".utf8)))
    }
    #expect(await upload() == "completion")
  }

  @Test("SessionDelegate's closures receive the progress of uploads and downloads, and the finished file of a download")
  func transfers() async throws {
    let counts = Shared<[String: Int64]>([:])
    delegate.taskDidSendBodyData = { _, _, _, total, _ in counts.update { $0["sent"] = total } }
    delegate.downloadTaskDidWriteData = { _, _, _, total, _ in counts.update { $0["written"] = total } }
    delegate.downloadTaskDidFinishDownloadingToURL = { _, _, url in
      let count = Int64((try? Data(contentsOf: url).count) ?? -1)
      counts.update { $0["file"] = count }
    }
    let upload = manager.upload(Data(repeating: 1, count: 5_000), to: "\(server.url)/echo")
    _ = await upload.finished()
    #expect(upload.uploadProgress.completedUnitCount == 0)
    let download = manager.download("\(server.url)/big?bytes=7000")
    let response = await download.finished()
    #expect(response.temporaryURL == nil)
    #expect(counts.value == ["sent": 5_000, "written": 7_000, "file": 7_000])
  }

  @Test("SessionDelegate's taskDidComplete is called once per request, with the error, before the response handlers")
  func completion() async {
    let errors = Shared<[Bool]>([])
    delegate.taskDidComplete = { _, _, error in
      let failed = error != nil
      errors.update { $0.append(failed) }
    }
    _ = await manager.request("\(server.url)/json").finished()
    #expect(errors.value == [false])
    // If the validation were added after the response, the closure wouldn't receive its error.
    manager.startRequestsImmediately = false
    let failing = manager.request("\(server.url)/status/500").validate()
    failing.resume()
    _ = await failing.finished()
    #expect(errors.value == [false, true])
  }

  @Test("SessionDelegate has closures for converted tasks, resumed downloads, background events and invalidation")
  func sessionEvents() async {
    let calls = Shared<[String]>([])
    let done = Gate()
    let delegate = SessionDelegate()
    let manager = makeManager(delegate: delegate)
    delegate.dataTaskDidBecomeDownloadTask = { _, _, _ in calls.update { $0.append("converted") } }
    delegate.downloadTaskDidResumeAtOffset = { _, _, offset, _ in calls.update { $0.append("resumed at \(offset)") } }
    delegate.urlSession(manager.session, dataTask: URLSessionDataTask(), didBecome: URLSessionDownloadTask())
    delegate.urlSession(
      manager.session, downloadTask: URLSessionDownloadTask(), didResumeAtOffset: 7, expectedTotalBytes: 9)
    delegate.sessionDidFinishEventsForBackgroundURLSession = { _ in calls.update { $0.append("background") } }
    delegate.urlSessionDidFinishEvents(forBackgroundURLSession: manager.session)
    delegate.sessionDidBecomeInvalidWithError = { _, _ in
      calls.update { $0.append("invalid") }
      done.open()
    }
    manager.session.invalidateAndCancel()
    await done.wait()
    #expect(calls.value == ["converted", "resumed at 7", "background", "invalid"])
  }

  private final class Subclass: SessionDelegate, @unchecked Sendable {
    let calls = Shared<[String]>([])

    override func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      calls.update { $0.append("redirect") }
      super.urlSession(
        session, task: task, willPerformHTTPRedirection: response, newRequest: request,
        completionHandler: completionHandler)
    }

    override func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      calls.update { calls in if calls.last != "data" { calls.append("data") } }
      super.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    override func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      calls.update { $0.append("complete") }
      super.urlSession(session, task: task, didCompleteWithError: error)
    }
  }

  @Test("a subclass of SessionDelegate receives the delegate calls, and calling super keeps the default behavior")
  func subclass() async {
    let delegate = Subclass()
    let manager = makeManager(delegate: delegate)
    let response = await manager.request("\(server.url)/redirect").string()
    #expect(response.value?.contains("lupine") == true)
    #expect(delegate.calls.value == ["redirect", "data", "complete"])
  }

  @Test("the async forms of SessionDelegate's methods call the methods that a subclass overrides")
  func asyncForms() async throws {
    let delegate = Subclass()
    delegate.taskWillPerformHTTPRedirection = { _, _, _, _ in nil }
    delegate.taskNeedNewBodyStream = { _, _ in InputStream(data: Data("body".utf8)) }
    delegate.taskDidReceiveChallenge = { _, _, _ in (.rejectProtectionSpace, nil) }
    delegate.sessionDidReceiveChallenge = { _, _ in (.cancelAuthenticationChallenge, nil) }
    delegate.dataTaskDidReceiveResponse = { _, _, _ in .cancel }
    delegate.dataTaskWillCacheResponse = { _, _, _ in nil }
    let manager = makeManager(delegate: delegate)
    let session = manager.session
    let url = try #require(URL(string: server.url))
    let task = session.dataTask(with: url)
    let request = URLRequest(url: url)
    let head = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil))
    let redirected = await delegate.urlSession(
      session, task: task, willPerformHTTPRedirection: head, newRequest: request)
    #expect(redirected == nil && delegate.calls.value == ["redirect"])
    #expect(await delegate.urlSession(session, needNewBodyStreamForTask: task) != nil)
    let space = URLProtectionSpace(host: "h", port: 1, protocol: nil, realm: nil, authenticationMethod: nil)
    let challenge = URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
      sender: Sender())
    #expect(await delegate.urlSession(session, task: task, didReceive: challenge).0 == .rejectProtectionSpace)
    #expect(await delegate.urlSession(session, didReceive: challenge).0 == .cancelAuthenticationChallenge)
    #expect(await delegate.urlSession(session, dataTask: task, didReceive: head) == .cancel)
    let cached = CachedURLResponse(response: head, data: Data())
    #expect(await delegate.urlSession(session, dataTask: task, willCacheResponse: cached) == nil)
    withExtendedLifetime(manager) {}
  }

  /// A subclass that overrides closures. It refuses redirects and cancels the responses of "/json".
  private final class Overriding: SessionDelegate, @unchecked Sendable {
    let calls = Shared<[String]>([])

    override var taskWillPerformHTTPRedirection:
      ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> URLRequest?)?
    {
      get {
        { [calls] _, _, _, _ in
          calls.update { $0.append("redirect") }
          return nil
        }
      }
      set {}
    }

    override var dataTaskDidReceiveResponse:
      ((URLSession, URLSessionDataTask, URLResponse) -> URLSession.ResponseDisposition)?
    {
      get { { _, _, response in response.url?.path == "/json" ? .cancel : .allow } }
      set {}
    }

    override var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)? {
      didSet { calls.update { $0.append("set") } }
    }
  }

  @Test("the closures that a subclass of SessionDelegate overrides are called")
  func overriddenClosures() async {
    let delegate = Overriding()
    let manager = makeManager(delegate: delegate)
    delegate.taskWillPerformHTTPRedirection = { _, _, _, request in request }
    delegate.taskDidComplete = { [calls = delegate.calls] _, _, _ in calls.update { $0.append("complete") } }
    #expect(await manager.request("\(server.url)/redirect").finished().response?.statusCode == 302)
    #expect((await manager.request("\(server.url)/json").finished().error as? URLError)?.code == .cancelled)
    #expect(delegate.calls.value == ["set", "redirect", "complete", "complete"])
  }
}

/// A challenge's sender, which ignores the answers.
private final class Sender: NSObject, URLAuthenticationChallengeSender {
  func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
  func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
  func cancel(_ challenge: URLAuthenticationChallenge) {}
  func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}

/// An object whose deinitializer reads one of the SessionDelegate's closures.
private final class DelegateUser: Sendable {
  private let delegate: SessionDelegate

  init(_ delegate: SessionDelegate) { self.delegate = delegate }

  deinit { _ = delegate.taskDidComplete }
}
