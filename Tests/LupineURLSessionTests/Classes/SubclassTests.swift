// Subclasses of URLSession's classes, such as the mocks of tests. This file doesn't use `@testable`, so that it compiles only if
// the members are open.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import LupineURLSession
import Synchronization
import Testing

private typealias Handler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

/// A mock data task that sends no request, and calls a closure when it is resumed. It overrides the members that mocks usually
/// override.
private final class MockTask: URLSessionDataTask, @unchecked Sendable {
  private let request: URLRequest
  private let answer: @Sendable () -> Void
  private let current = Mutex(URLSessionTask.State.suspended)
  private let own = Mutex<(any URLSessionTaskDelegate)?>(nil)

  init(_ request: URLRequest, _ answer: @escaping @Sendable () -> Void) {
    self.request = request
    self.answer = answer
    super.init()
  }

  override var taskIdentifier: Int { 7 }
  override var originalRequest: URLRequest? { request }
  override var currentRequest: URLRequest? { request }
  override var response: URLResponse? { nil }
  override var error: (any Error)? { state == .canceling ? URLError(.cancelled) : nil }
  override var state: URLSessionTask.State { current.withLock { $0 } }
  override var progress: Progress { Progress(totalUnitCount: 3) }
  override var countOfBytesReceived: Int64 { 3 }
  override var countOfBytesSent: Int64 { 2 }
  override var countOfBytesExpectedToReceive: Int64 { 3 }
  override var countOfBytesExpectedToSend: Int64 { 2 }
  override var countOfBytesClientExpectsToReceive: Int64 {
    get { 3 }
    set {}
  }
  override var countOfBytesClientExpectsToSend: Int64 {
    get { 2 }
    set {}
  }
  override var priority: Float {
    get { URLSessionTask.highPriority }
    set {}
  }
  override var earliestBeginDate: Date? {
    get { .distantPast }
    set {}
  }
  override var taskDescription: String? {
    get { "mock" }
    set {}
  }
  override var delegate: (any URLSessionTaskDelegate)? {
    get { own.withLock { $0 } }
    set { own.withLock { $0 = newValue } }
  }

  override func resume() {
    current.withLock { $0 = .running }
    answer()
    current.withLock { $0 = .completed }
  }

  override func suspend() { current.withLock { $0 = .suspended } }
  override func cancel() { current.withLock { $0 = .canceling } }
}

/// A mock session whose tasks with completion handlers receive a response without a network.
private final class MockSession: URLSession, @unchecked Sendable {
  private let body: String
  let notes = Notes()

  init(body: String) {
    self.body = body
    super.init(configuration: .ephemeral)
  }

  private func task(_ request: URLRequest, _ handler: @escaping Handler) -> URLSessionDataTask {
    MockTask(request) { [body] in
      let head = request.url.flatMap { HTTPURLResponse(url: $0, statusCode: 201, httpVersion: nil, headerFields: nil) }
      handler(Data(body.utf8), head, nil)
    }
  }

  override var delegateQueue: OperationQueue { .main }
  override var sessionDescription: String? {
    get { "mock" }
    set {}
  }

  override func dataTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    notes.add("\(request.httpMethod ?? "") \(request.url?.path ?? "")")
    return task(request, completionHandler)
  }

  override func dataTask(
    with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    notes.add(url.path)
    return task(URLRequest(url: url), completionHandler)
  }

  override func finishTasksAndInvalidate() { notes.add("finish") }
  override func flush(completionHandler: @escaping @Sendable () -> Void) { completionHandler() }
  override func reset(completionHandler: @escaping @Sendable () -> Void) { completionHandler() }
  override func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) { completionHandler([]) }
}

/// A subclass of URLSession that records which of its methods are called, and calls the superclass.
private final class NotingSession: URLSession, @unchecked Sendable {
  let notes = Notes()

  override func dataTask(with request: URLRequest) -> URLSessionDataTask {
    notes.add("request")
    guard let url = request.url else { return super.dataTask(with: request) }
    return super.dataTask(with: url)
  }

  override func dataTask(with url: URL) -> URLSessionDataTask {
    notes.add("url")
    return super.dataTask(with: URLRequest(url: url))
  }

  override func dataTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    notes.add("request with handler")
    return super.dataTask(with: request, completionHandler: completionHandler)
  }

  override func dataTask(
    with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    notes.add("url with handler")
    return super.dataTask(with: url, completionHandler: completionHandler)
  }

  override func uploadTask(with request: URLRequest, from bodyData: Data) -> URLSessionUploadTask {
    notes.add("upload")
    return super.uploadTask(with: request, from: bodyData)
  }

  override func uploadTask(
    with request: URLRequest, from bodyData: Data?,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    notes.add("upload with handler")
    return super.uploadTask(with: request, from: bodyData, completionHandler: completionHandler)
  }

  override func downloadTask(with url: URL) -> URLSessionDownloadTask {
    notes.add("download")
    return super.downloadTask(with: url)
  }

  override func downloadTask(
    with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    notes.add("download with handler")
    return super.downloadTask(with: url, completionHandler: completionHandler)
  }
}

/// A subclass of HTTPCookieStorage that stores cookies in an array, without checking them.
private final class OwnCookies: HTTPCookieStorage, @unchecked Sendable {
  private let kept = Mutex<[HTTPCookie]>([])
  let notes = Notes()

  override func cookies(for url: URL) -> [HTTPCookie]? {
    notes.add("get \(url.path)")
    return kept.withLock { $0 }
  }

  override func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
    notes.add("set \(cookies.map(\.name).joined(separator: " ")) \(url?.path ?? "none")")
    kept.withLock { $0 += cookies }
  }
}

/// A subclass of URLCredentialStorage with a single credential, whose subclass provides the password on demand.
private final class OwnCredentials: URLCredentialStorage, @unchecked Sendable {
  private final class Secret: URLCredential, @unchecked Sendable {
    override var password: String? { "p" }
  }

  override func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
    space.realm == "r" ? Secret(user: "u", password: "", persistence: .forSession) : nil
  }
}

private final class OwnSpace: URLProtectionSpace, @unchecked Sendable {
  override var realm: String? { "own" }
}

private final class OwnChallenge: URLAuthenticationChallenge, @unchecked Sendable {
  override var previousFailureCount: Int { 5 }
}

private final class OwnCookie: HTTPCookie, @unchecked Sendable {
  override var name: String { "own" }
}

private final class Sender: NSObject, URLAuthenticationChallengeSender, Sendable {
  func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
  func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
  func cancel(_ challenge: URLAuthenticationChallenge) {}
  func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}

@Suite(.timeLimit(.minutes(10))) struct SubclassTests {
  private let url: URL

  init() throws { url = try #require(URL(string: "https://mock.example/a")) }

  @Test("a mock subclass of URLSession can return mock tasks, and the async methods use these tasks too")
  func mock() async throws {
    let session = MockSession(body: "mocked")
    defer { session.invalidateAndCancel() }
    let result = await outcome { session.dataTask(with: url, completionHandler: $0) }
    #expect(result.text == "mocked" && result.status == 201)
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    let (data, response) = try await session.data(for: request)
    #expect(String(decoding: data, as: UTF8.self) == "mocked" && response.url == url)
    #expect(session.notes.all == ["/a", "POST /a"])
    session.finishTasksAndInvalidate()
    #expect(session.notes.all.last == "finish" && session.delegateQueue === OperationQueue.main)
  }

  @Test("a subclass of URLSessionDataTask can replace all properties and methods of a task")
  func mockTask() {
    let task: URLSessionTask = MockTask(URLRequest(url: url)) {}
    #expect(task.taskIdentifier == 7 && task.originalRequest?.url == url && task.state == .suspended)
    #expect(task.priority == URLSessionTask.highPriority && task.earliestBeginDate == .distantPast)
    #expect(task.progress.totalUnitCount == 3 && task.countOfBytesClientExpectsToSend == 2)
    let delegate = NotingDelegate()
    task.delegate = delegate
    #expect(task.delegate === delegate)
    task.resume()
    #expect(task.state == .completed && task.error == nil)
    task.cancel()
    #expect(task.state == .canceling && (task.error as? URLError)?.code == .cancelled)
    #expect(task.description.contains("mock") && task.copy() as? URLSessionTask === task)
  }

  @Test("each method of URLSession that creates a task works without calling another overridable method")
  func independence() async throws {
    try await withServer { request in
      .text("\(request.method) \(request.path)")
    } _: { origin in
      let session = NotingSession(configuration: .ephemeral)
      defer { session.invalidateAndCancel() }
      let target = try #require(URL(string: origin.url + "/a"))
      for task in [session.dataTask(with: target), session.dataTask(with: URLRequest(url: target))] {
        task.resume()
        #expect(await settles { task.state == .completed })
        #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
      }
      let byURL = await outcome { session.dataTask(with: target, completionHandler: $0) }
      let post = origin.request("/b", "POST")
      let upload = await outcome { session.uploadTask(with: post, from: Data("x".utf8), completionHandler: $0) }
      let downloads = Notes()
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let task = session.downloadTask(with: target) { file, _, _ in
          downloads.add(file == nil ? "no file" : "file")
          continuation.resume()
        }
        task.resume()
      }
      #expect(byURL.text == "GET /a" && upload.text == "POST /b" && downloads.all == ["file"])
      #expect(
        session.notes.all == ["url", "request", "url with handler", "upload with handler", "download with handler"])
    }
  }

  @Test(
    "a session gets cookies from a subclass of HTTPCookieStorage, and passes the cookies of responses to this subclass")
  func cookies() async throws {
    try await withServer { request in
      let cookie = request.fields.first("Cookie") ?? "none"
      guard request.path == "/set" else { return .text(cookie) }
      var reply = Reply.text(cookie)
      reply.fields.append(name: "Set-Cookie", value: "kept=1")
      reply.fields.append(name: "Set-Cookie", value: "foreign=1; Domain=other.example")
      return reply
    } _: { origin in
      let storage = OwnCookies()
      try await withSession {
        $0.httpCookieStorage = storage
      } _: { session in
        let (first, _) = try await session.data(for: origin.request("/set"))
        let (second, _) = try await session.data(for: origin.request("/next"))
        #expect(String(decoding: first, as: UTF8.self) == "none")
        #expect(String(decoding: second, as: UTF8.self) == "kept=1")
        #expect(storage.notes.all == ["get /set", "set kept /set", "get /next"])
      }
    }
  }

  @Test(
    "a session gets credentials from a subclass of URLCredentialStorage, and can send those of a URLCredential subclass"
  )
  func credentials() async throws {
    try await withServer { request in
      guard let authorization = request.fields.first("Authorization") else {
        return Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
      }
      return .text(authorization)
    } _: { origin in
      try await withSession {
        $0.urlCredentialStorage = OwnCredentials()
      } _: { session in
        let (data, _) = try await session.data(for: origin.request())
        #expect(String(decoding: data, as: UTF8.self) == "Basic \(Data("u:p".utf8).base64EncodedString())")
      }
    }
  }

  @Test("URLProtectionSpace, URLAuthenticationChallenge, HTTPCookie and NSURLRequest can be subclassed")
  func values() throws {
    let method = NSURLAuthenticationMethodHTTPBasic
    let space = OwnSpace(host: "h", port: 80, protocol: "http", realm: "r", authenticationMethod: method)
    #expect(
      space == URLProtectionSpace(host: "h", port: 80, protocol: "http", realm: "own", authenticationMethod: method))
    let challenge = OwnChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: 1, failureResponse: nil, error: nil,
      sender: Sender())
    #expect(challenge.previousFailureCount == 5 && challenge.protectionSpace.realm == "own")
    let cookie = try #require(OwnCookie(properties: [.name: "a", .value: "1", .domain: "h", .path: "/"]))
    #expect(cookie.name == "own" && cookie.value == "1")
    final class Marked: NSMutableURLRequest, @unchecked Sendable {
      let mark = "marked"
    }
    let request = Marked(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 3)
    request.httpMethod = "PUT"
    #expect(request.mark == "marked" && URLRequest(request).httpMethod == "PUT")
  }
}
