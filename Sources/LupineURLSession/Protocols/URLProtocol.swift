// URLProtocol: a class that answers requests in place of the network, for custom schemes and for tests.

public import Foundation
import Synchronization

/// Answers requests in place of the network. Subclasses implement custom schemes, or stub servers in tests.
///
/// A session asks the classes of its configuration's ``URLSessionConfiguration/protocolClasses`` in order, then the classes
/// that ``registerClass(_:)`` has registered, starting with the latest. The first class whose `canInit(with:)` returns true
/// answers the request. If there is none, the request is sent.
///
/// ```swift
/// final class Stub: URLProtocol {
///   override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "api.example.com" }
///   override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
///
///   override func startLoading() {
///     guard let url = request.url,
///       let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: nil)
///     else { return }
///     client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
///     client?.urlProtocol(self, didLoad: Data("stubbed".utf8))
///     client?.urlProtocolDidFinishLoading(self)
///   }
///
///   override func stopLoading() {}
/// }
/// ```
///
/// If a request is redirected, by a server or by a protocol, the new request is offered to all classes again.
///
/// As in Foundation, the class isn't `Sendable`: a session uses each object on one queue. A subclass that reports from other
/// threads may declare `@unchecked Sendable`. The reports themselves, and ``client``, are thread-safe.
open class URLProtocol: NSObject {
  private struct State {
    var client: (any URLProtocolClient)?
    var task: URLSessionTask?
  }

  /// The request to answer.
  public let request: URLRequest
  /// The response that a cache has stored for the request, or nil if there is none.
  public let cachedResponse: CachedURLResponse?
  private let state: Mutex<State>

  /// Creates a protocol for a request.
  public required init(
    request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
  ) {
    self.request = request
    self.cachedResponse = cachedResponse
    state = Mutex(State(client: client))
  }

  /// Creates a protocol for a task's request.
  public required convenience init(
    task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
  ) {
    let request = task.protocolRequest ?? task.currentRequest ?? URLRequest(url: Self.noURL)
    self.init(request: request, cachedResponse: cachedResponse, client: client)
    state.withLock { $0.task = task }
  }

  /// A URL that identifies no resource, for a task without a request.
  private static let noURL = URL(filePath: "/dev/null")

  /// The object to which the protocol reports, or nil if there is none. Its methods may be called on any thread.
  open var client: (any URLProtocolClient)? { state.withLock { $0.client } }

  /// The task whose request the protocol answers, or nil if there is none.
  open var task: URLSessionTask? { state.withLock { $0.task } }

  /// The name of the protocol's class, followed by the request.
  open override var description: String { "\(type(of: self)): \(request)" }

  // MARK: Implemented by subclasses

  /// Returns whether the class answers a request. By default, returns false. Called on the thread that resumes the task, or on
  /// any thread if the request was redirected or delayed.
  open class func canInit(with request: URLRequest) -> Bool { false }

  /// Returns whether the class answers a task's request. By default, returns the result of `canInit(with:)` for the task's
  /// request.
  open class func canInit(with task: URLSessionTask) -> Bool {
    (task.protocolRequest ?? task.currentRequest).map { canInit(with: $0) } ?? false
  }

  /// Returns the standard form of a request. By default, returns the request itself.
  open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  /// Returns whether a cache may answer one of two requests with the response to the other. By default, returns whether their
  /// standard forms are equal.
  open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool {
    canonicalRequest(for: a) == canonicalRequest(for: b)
  }

  /// Starts answering the request. Called once, on a queue that belongs to the task.
  open func startLoading() {}

  /// Stops answering the request, because the task has ended or the request was redirected. Called once, after
  /// ``startLoading()``, on the same queue. Reports after this call are ignored.
  open func stopLoading() {}

  // MARK: Values attached to requests

  /// Returns the value that is attached to a request under `key`, or nil if there is none.
  open class func property(forKey key: String, in request: URLRequest) -> Any? { request.properties?.values[key] }

  /// Attaches a value to a request under `key`, for example to recognize a request that the class itself has sent.
  open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
    request.changeProperties { $0[key] = value }
  }

  /// Removes the value that is attached to a request under `key`.
  open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
    request.changeProperties { $0[key] = nil }
  }

  // MARK: Registration

  /// The registered classes, in the order of their registration.
  private static let registered = Mutex<[URLProtocol.Type]>([])

  /// Registers a class for the requests of all sessions, ahead of the classes registered before. Returns true if `protocolClass`
  /// is a subclass of `URLProtocol`.
  @discardableResult
  open class func registerClass(_ protocolClass: AnyClass) -> Bool {
    guard let type = protocolClass as? URLProtocol.Type else { return false }
    registered.withLock { types in
      types.removeAll { $0 == type }
      types.append(type)
    }
    return true
  }

  /// Removes a registered class. Requests that it already answers continue.
  open class func unregisterClass(_ protocolClass: AnyClass) {
    registered.withLock { types in types.removeAll { $0 == protocolClass } }
  }

  /// Whether any class is registered.
  static var hasRegisteredClass: Bool { registered.withLock { !$0.isEmpty } }

  /// Returns the class that answers the task's request, or nil if the request is sent over the network.
  static func answering(_ task: URLSessionTask, among types: [URLProtocol.Type]) -> URLProtocol.Type? {
    let registered = registered.withLock { $0 }
    if types.isEmpty, registered.isEmpty { return nil }
    return types.first { $0.canInit(with: task) } ?? registered.last { $0.canInit(with: task) }
  }
}

/// The object to which a ``URLProtocol`` reports, which is a session's task.
public protocol URLProtocolClient: NSObjectProtocol, Sendable {
  /// Reports a redirect. The session's delegate decides whether to follow it. The protocol is stopped, and the new request is
  /// offered to all protocols.
  ///
  /// The new request's method and body are those of `request`. If its body is still that of the protocol's request, the task's
  /// body is sent again, unless the method has become GET or HEAD. Another origin doesn't receive the fields that
  /// ``URLSessionConfiguration/redirectRule`` binds to their origin, unless `request` has other values for them. A request for an
  /// `http` or `https` URL can't be redirected to a local file.
  func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
  /// Reports that a cached response may be used. The response is delivered, and the task completes.
  func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)
  /// Reports the response's head. Only the first call has an effect.
  func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
  )
  /// Reports the next part of the body. If it precedes the head, the task fails with `URLError.badServerResponse`.
  func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
  /// Reports the end of the body. The task then completes.
  func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
  /// Reports an error. The task completes with this error.
  func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
  /// Requests a credential from the session's delegate. The decision is passed to the challenge's `sender`.
  func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)
  /// Reports that a challenge no longer needs an answer.
  func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}

/// Default implementations, so that a client written for a test can implement only the methods that the test needs. A session's
/// client implements all methods.
extension URLProtocolClient {
  /// Does nothing.
  public func urlProtocol(
    _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
  ) {}
  /// Does nothing.
  public func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {}
  /// Does nothing.
  public func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
  ) {}
  /// Does nothing.
  public func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) {}
  /// Does nothing.
  public func urlProtocolDidFinishLoading(_ protocol: URLProtocol) {}
  /// Does nothing.
  public func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {}
  /// Does nothing.
  public func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {}
  /// Does nothing.
  public func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
}
