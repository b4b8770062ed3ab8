// URLProtocol: a class that answers requests in place of the network, for custom schemes and for tests.

public import Foundation
import Synchronization

/// An object that answers a request in place of a server. Subclasses implement custom URL schemes, or stub servers in tests.
///
/// A session asks the classes of its configuration's ``URLSessionConfiguration/protocolClasses`` in order, then the classes that
/// ``registerClass(_:)`` has registered, starting with the class that was registered last. The first class whose `canInit(with:)`
/// returns true answers the request. If there is none, the session sends the request.
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
/// If a request is redirected, by a server or by a protocol, the session asks all classes again whether they answer the new
/// request.
///
/// As in Foundation, the class isn't `Sendable`: a session uses each object on one queue. A subclass that reports from other
/// threads may declare `@unchecked Sendable`. The reports themselves, and ``client``, are thread-safe.
open class URLProtocol: NSObject {
  private struct State {
    var client: (any URLProtocolClient)?
    var task: URLSessionTask?
  }

  /// The request that the protocol answers.
  public let request: URLRequest
  /// The response that a cache has stored for the request. Nil if none is stored.
  public let cachedResponse: CachedURLResponse?
  private let state: Mutex<State>

  /// Creates an object that answers a request and reports to `client`.
  public required init(
    request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
  ) {
    self.request = request
    self.cachedResponse = cachedResponse
    state = Mutex(State(client: client))
  }

  /// Creates an object that answers a task's request and reports to `client`.
  public required convenience init(
    task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
  ) {
    let request = task.protocolRequest ?? task.currentRequest ?? URLRequest(url: Self.noURL)
    self.init(request: request, cachedResponse: cachedResponse, client: client)
    state.withLock { $0.task = task }
  }

  /// A URL that identifies no resource, for a task without a request.
  private static let noURL = URL(filePath: "/dev/null")

  /// The object to which the protocol reports its response. Nil if none was passed. The client's methods may be called on any
  /// thread.
  open var client: (any URLProtocolClient)? { state.withLock { $0.client } }

  /// The task whose request the protocol answers. Nil if the object was created without a task.
  open var task: URLSessionTask? { state.withLock { $0.task } }

  /// A textual description: the name of the protocol's class, followed by the request.
  open override var description: String { "\(type(of: self)): \(request)" }

  // MARK: Implemented by subclasses

  /// Returns whether this class answers the request. The default implementation returns false. Called on the thread that resumes
  /// the task, or on any thread if the request was redirected or delayed.
  open class func canInit(with request: URLRequest) -> Bool { false }

  /// Returns whether this class answers the task's request. The default implementation passes the request to the other
  /// `canInit(with:)`.
  open class func canInit(with task: URLSessionTask) -> Bool {
    (task.protocolRequest ?? task.currentRequest).map { canInit(with: $0) } ?? false
  }

  /// Returns the standard form of a request. The default implementation returns the request itself.
  open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  /// Returns whether a cache may answer one of two requests with the response to the other. The default implementation returns
  /// whether the standard forms of the requests are equal.
  open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool {
    canonicalRequest(for: a) == canonicalRequest(for: b)
  }

  /// Starts answering the request. Called once, on a queue that belongs to the task.
  open func startLoading() {}

  /// Stops answering the request, because the task has ended or the request was redirected. Called once, after ``startLoading()``,
  /// on the same queue. The client ignores reports after this call.
  open func stopLoading() {}

  // MARK: Values attached to requests

  /// Returns the value that is attached to a request under `key`, or nil if there is none.
  open class func property(forKey key: String, in request: URLRequest) -> Any? { request.properties?.values[key] }

  /// Attaches a value to a request under `key`, for example so that the class recognizes a request that it has sent itself.
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

  /// Registers a class that may answer the requests of all sessions. Sessions ask it before the classes that were registered
  /// earlier. Returns false, without effect, if `protocolClass` isn't a subclass of `URLProtocol`.
  @discardableResult
  open class func registerClass(_ protocolClass: AnyClass) -> Bool {
    guard let type = protocolClass as? URLProtocol.Type else { return false }
    registered.withLock { types in
      types.removeAll { $0 == type }
      types.append(type)
    }
    return true
  }

  /// Removes a registered class, so that it answers no new requests. It continues to answer requests that it has already accepted.
  open class func unregisterClass(_ protocolClass: AnyClass) {
    registered.withLock { types in types.removeAll { $0 == protocolClass } }
  }

  /// Whether any class is registered.
  static var hasRegisteredClass: Bool { registered.withLock { !$0.isEmpty } }

  /// Returns the class that answers the task's request. Returns nil if none does, so that the request is sent over the network.
  static func answering(_ task: URLSessionTask, among types: [URLProtocol.Type]) -> URLProtocol.Type? {
    let registered = registered.withLock { $0 }
    if types.isEmpty, registered.isEmpty { return nil }
    return types.first { $0.canInit(with: task) } ?? registered.last { $0.canInit(with: task) }
  }
}

/// The object to which a ``URLProtocol`` reports its response. A session creates such an object for each task that a protocol
/// answers.
public protocol URLProtocolClient: NSObjectProtocol, Sendable {
  /// Reports a redirect to `request`. The session's delegate decides whether to follow it. If it does, the session stops the
  /// protocol, and asks all protocol classes again whether they answer the new request.
  ///
  /// The new request has the method and the body of `request`. If that body is still the body of the protocol's own request, the
  /// task's body is sent again, unless the method has become GET or HEAD. If the new request is for another origin, it doesn't have
  /// the fields that ``URLSessionConfiguration/redirectRule`` binds to their origin, unless `request` has other values for them. A
  /// request for an `http` or `https` URL can't be redirected to a local file.
  func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
  /// Reports that the cached response may be used. The task receives this response, and completes.
  func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)
  /// Reports the response's head. Only the first call has an effect.
  func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
  )
  /// Reports the next part of the body. If the response's head hasn't been reported before, the task fails with
  /// `URLError.badServerResponse`.
  func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
  /// Reports the end of the body, after which the task completes.
  func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
  /// Reports an error, with which the task completes.
  func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
  /// Reports a challenge, which the session's delegate answers. The session passes the answer to the challenge's `sender`.
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
