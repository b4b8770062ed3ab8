// Servers, sessions and delegates of the tests for URLSession.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization

@testable import LupineURLSession

/// Calls `body` with a server that answers each request with the result of `reply`, and then stops the server.
func withServer<Value>(
  tls: ServerIdentity? = nil, _ reply: @escaping @Sendable (ReceivedRequest) throws -> Reply,
  _ body: (OriginServer) async throws -> Value
) async throws -> Value {
  let origin = try OriginServer.serving(tls: tls, reply)
  defer { origin.stop() }
  return try await body(origin)
}

/// Calls `body` with a session, and invalidates the session afterward.
func withSession<Value>(
  delegate: (any URLSessionDelegate)? = nil, _ configure: (URLSessionConfiguration) -> Void = { _ in },
  _ body: (URLSession) async throws -> Value
) async throws -> Value {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.timeoutIntervalForRequest = 100
  configure(configuration)
  let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  defer { session.invalidateAndCancel() }
  return try await body(session)
}

extension OriginServer {
  func request(_ path: String = "/", _ method: String = "GET") -> URLRequest {
    guard let url = URL(string: url + path) else { preconditionFailure("\(path) is no path") }
    var request = URLRequest(url: url)
    request.httpMethod = method
    return request
  }
}

/// The arguments with which a task's completion handler was called: data, response and error.
struct Outcome: Sendable {
  var data: Data?
  var file: URL?
  var response: URLResponse?
  var error: (any Error)?

  var text: String? { data.map { String(decoding: $0, as: UTF8.self) } }
  var status: Int? { (response as? HTTPURLResponse)?.statusCode }
  var code: URLError.Code? { (error as? URLError)?.code }
}

/// Resumes the task that `start` creates with a completion handler. Returns the arguments that the handler receives.
func outcome(
  _ start: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
) async -> Outcome {
  await firstValue { completion in
    start { completion(Outcome(data: $0, response: $1, error: $2)) }.resume()
  }
}

/// A list of events, as text, to which any thread may append.
final class Notes: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Returns the code of the `URLError` that `body` throws, or nil if `body` throws no URLError.
func code<Value>(_ body: () async throws -> Value) async -> URLError.Code? {
  do {
    _ = try await body()
    return nil
  } catch {
    return (error as? URLError)?.code
  }
}

/// A delegate of a session or a task that records the calls of its methods.
final class NotingDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, Sendable {
  let notes = Notes()
  let isInvalid = Gate()

  func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
    notes.add("invalid")
    isInvalid.open()
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    notes.add("redirect \(response.statusCode)")
    completionHandler(request)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    notes.add("challenge")
    completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    notes.add("response")
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    notes.add("data \(String(decoding: data, as: UTF8.self))")
  }

  func urlSession(
    _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
  ) {
    notes.add("file \((try? String(contentsOf: location, encoding: .utf8)) ?? "unreadable")")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    notes.add("metrics \(metrics.transactionMetrics.count)")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let code = (error as? URLError)?.code.rawValue
    notes.add(error == nil ? "end" : "end \(code.map(String.init) ?? "\(String(describing: error))")")
  }
}
