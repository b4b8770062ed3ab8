// Recording: records the exchanges of sessions, to replay them in tests without a network.

import Dispatch
import Foundation
public import LupineURLSession
import Synchronization

/// Records the exchanges of sessions with real servers. The recorded exchanges don't contain credentials.
///
/// ```swift
/// let recording = Recording()
/// let session = URLSession(configuration: recording.configuration())
/// let (data, _) = try await session.data(from: URL(string: "https://api.example.com/users/7")!)
/// try recording.archive.write(to: URL(filePath: "users.har"))
/// ```
///
/// Before an exchange is stored, the credentials that ``Redaction`` specifies are removed. Each redirect is a separate exchange.
/// Bodies are recorded after their content coding has been decoded, and held in memory. A recording can be used on any thread, and
/// by several sessions.
public final class Recording: Sendable {
  private struct State: ~Copyable {
    var entries: [(number: Int, entry: HTTPArchive.Entry)] = []
    var count = 0
  }

  private let state = Mutex(State())
  private let redaction: Redaction
  /// The session that sends the recorded requests to the servers. It is created with the configuration that was passed in the first
  /// call of `configuration(from:)`.
  private let sender = Mutex<URLSession?>(nil)

  /// Creates a recording that contains no exchanges yet.
  public init(redaction: Redaction = Redaction()) { self.redaction = redaction }

  deinit { sender.withLock { $0 }?.invalidateAndCancel() }

  /// An archive of the exchanges recorded so far, in the order in which they began.
  public var archive: HTTPArchive {
    HTTPArchive(entries: state.withLock { $0.entries }.sorted { $0.number < $1.number }.map(\.entry))
  }

  /// Returns a configuration for sessions whose exchanges are recorded. The requests of these sessions are sent with the settings
  /// of the `configuration` that was passed in the first call of this method.
  ///
  /// - Parameter configuration: The configuration to copy, by default an ephemeral one.
  public func configuration(from configuration: URLSessionConfiguration = .ephemeral) -> URLSessionConfiguration {
    let copy = configuration.copy() as? URLSessionConfiguration ?? configuration
    sender.withLock { sender in
      if sender == nil { sender = Self.makeSender(configuration) }
    }
    copy.protocolClasses = [RecordingProtocol.self] + (copy.protocolClasses ?? [])
    copy.protocolContext = self
    return copy
  }

  private static func makeSender(_ configuration: URLSessionConfiguration) -> URLSession {
    let own = configuration.copy() as? URLSessionConfiguration ?? configuration
    // The recorded session has already added its header fields to each request. It omits those that the origin of a redirect must
    // not receive.
    own.httpAdditionalHeaders = nil
    // A configuration from one recording can be passed to another recording. The requests that the sender sends aren't recorded
    // again.
    if own.protocolContext is Recording { own.protocolContext = nil }
    return URLSession(configuration: own, delegate: Refusal(), delegateQueue: nil)
  }

  /// Sends a request and records the exchange. This method doesn't follow redirects, because the recorded session follows them.
  ///
  /// - Parameters:
  ///   - request: The request to send. Its body must be data, not a stream.
  ///   - recorded: A copy of the request, which is recorded.
  ///   - completion: The closure that receives the response and its body, or an error.
  func send(
    _ request: URLRequest, _ recorded: RecordedRequest,
    completion: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionTask? {
    guard let session = sender.withLock({ $0 }) else { return nil }
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    let start = Date()
    let task = session.dataTask(with: request) { data, response, error in
      // A truncated response must not be replayed as a complete one.
      let head = error == nil ? response as? HTTPURLResponse : nil
      let body = error == nil ? data ?? Data() : Data()
      let entry = HTTPArchive.Entry(recorded, head, body, start: start, end: Date(), self.redaction)
      self.state.withLock { $0.entries.append((number, entry)) }
      completion(data, response, error)
    }
    task.resume()
    return task
  }

  /// A delegate that refuses redirects, so that the task returns the 3xx response itself.
  private final class Refusal: NSObject, URLSessionTaskDelegate {
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(nil) }
  }
}

// Unchecked because its superclass is open. All state is in the Mutex.
/// The URLProtocol that answers a recorded session's requests, by sending them through the session's recording.
final class RecordingProtocol: URLProtocol, @unchecked Sendable {
  private let sent = Mutex<URLSessionTask?>(nil)

  override class func canInit(with request: URLRequest) -> Bool { false }

  override class func canInit(with task: URLSessionTask) -> Bool {
    task.protocolContext is Recording && ["http", "https"].contains(task.protocolRequest?.url?.scheme?.lowercased())
  }

  override func startLoading() {
    guard let recording = task?.protocolContext as? Recording else { return }
    do {
      let recorded = try RecordedRequest(self.request)
      let request = recorded.withBodyInMemory(self.request)
      let task = recording.send(request, recorded) { [weak self] data, response, error in
        self?.finish(request, data, response, error)
      }
      sent.withLock { $0 = task }
    } catch {
      client?.urlProtocol(self, didFailWithError: error)
    }
  }

  override func stopLoading() { sent.withLock { $0 }?.cancel() }

  private func finish(_ request: URLRequest, _ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
    guard let client else { return }
    if let response = response as? HTTPURLResponse {
      if reportRedirect(of: request, by: response, body: data ?? Data()) { return }
      client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      if let data, !data.isEmpty { client.urlProtocol(self, didLoad: data) }
    }
    if let error { client.urlProtocol(self, didFailWithError: error) } else { client.urlProtocolDidFinishLoading(self) }
  }
}
