// URLProtocol: a class that answers requests in place of the network, for custom schemes and for tests.

public import Foundation
import Synchronization

/// An object that answers a request in place of a server. Subclasses implement custom URL schemes, or replace servers in tests.
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
/// If a request is redirected, by a server or by a URL protocol, the session asks all classes again whether they answer the new
/// request. While a URL protocol answers a request, no time limit applies to the task.
///
/// As in Foundation, the class isn't `Sendable`: a session uses each object only on one queue. A subclass that reports events on
/// other threads may declare `@unchecked Sendable`, because the methods of ``client`` are thread-safe.
open class URLProtocol: NSObject {
  /// The request that this object answers.
  public let request: URLRequest
  /// The cached response that was passed to the initializer. Sessions pass nil: they use no cache for requests that URL protocols
  /// answer.
  public let cachedResponse: CachedURLResponse?
  private let storedClient: (any URLProtocolClient)?
  private let storedTask = Mutex<URLSessionTask?>(nil)

  /// Creates an object that answers `request` and reports the response to `client`.
  public required init(
    request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
  ) {
    self.request = request
    self.cachedResponse = cachedResponse
    storedClient = client
  }

  /// Creates an object that answers the request of `task` and reports the response to `client`.
  public required convenience init(
    task: URLSessionTask, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?
  ) {
    let request = task.protocolRequest ?? task.currentRequest ?? URLRequest(url: Self.noURL)
    self.init(request: request, cachedResponse: cachedResponse, client: client)
    storedTask.withLock { $0 = task }
  }

  /// A placeholder URL for a task without a request. It identifies no resource.
  private static let noURL = URL(filePath: "/dev/null")

  /// The object to which this URL protocol reports the response. Nil if none was passed to the initializer. The client's methods
  /// may be called on any thread.
  open var client: (any URLProtocolClient)? { storedClient }

  /// The task whose request this object answers. Nil if the object was created without a task.
  open var task: URLSessionTask? { storedTask.withLock { $0 } }

  /// A textual description of the object: the name of its class, followed by the request.
  open override var description: String { "\(type(of: self)): \(request)" }

  // MARK: Implemented by subclasses

  /// Returns whether objects of this class answer the request. The default implementation returns false. Called on the thread that
  /// resumes the task, or on any thread if the request was redirected or delayed.
  open class func canInit(with request: URLRequest) -> Bool { false }

  /// Returns whether objects of this class answer the task's request. The default implementation passes the task's request to the
  /// `canInit(with:)` that takes a request.
  open class func canInit(with task: URLSessionTask) -> Bool {
    (task.protocolRequest ?? task.currentRequest).map { canInit(with: $0) } ?? false
  }

  /// Returns a canonical form of the request, such as with a normalized URL. The default implementation returns the request
  /// unchanged.
  open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  /// Returns whether the cached response to one request may answer the other request. The default implementation returns whether
  /// the canonical forms of the requests are equal.
  open class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool {
    canonicalRequest(for: a) == canonicalRequest(for: b)
  }

  /// Starts to answer the request. Called once, on a dispatch queue for this task.
  open func startLoading() {}

  /// Stops answering the request, because the task has ended or the request was redirected. Called once, after ``startLoading()``,
  /// on the same queue. Afterward, calls to the client have no effect.
  open func stopLoading() {}

  // MARK: Values attached to requests

  /// Returns the value that is attached to a request under `key`, or nil if there is none.
  open class func property(forKey key: String, in request: URLRequest) -> Any? { request.properties?.values[key] }

  /// Attaches a value to a request under `key`. With such a value, a class can recognize a request that it has sent itself.
  open class func setProperty(_ value: Any, forKey key: String, in request: NSMutableURLRequest) {
    request.changeProperties { $0[key] = value }
  }

  /// Removes the value that is attached to a request under `key`.
  open class func removeProperty(forKey key: String, in request: NSMutableURLRequest) {
    request.changeProperties { $0[key] = nil }
  }

  // MARK: Registration

  /// The classes that were passed to `registerClass(_:)`, in the order of their registration.
  private static let registered = Mutex<[URLProtocol.Type]>([])
  /// Whether `registered` contains classes. Read without the lock at the start of each task.
  static let hasRegistered = Atomic(false)

  /// Registers a class that may answer the requests of all sessions. Sessions ask this class before the classes that were
  /// registered earlier. Returns false, without effect, if `protocolClass` isn't a subclass of `URLProtocol`.
  @discardableResult
  open class func registerClass(_ protocolClass: AnyClass) -> Bool {
    guard let type = protocolClass as? URLProtocol.Type else { return false }
    registered.withLock { types in
      types.removeAll { $0 == type }
      types.append(type)
      hasRegistered.store(true, ordering: .relaxed)
    }
    return true
  }

  /// Removes a registered class, so that it answers no new requests. Its existing objects continue to answer their requests.
  open class func unregisterClass(_ protocolClass: AnyClass) {
    registered.withLock { types in
      types.removeAll { $0 == protocolClass }
      hasRegistered.store(!types.isEmpty, ordering: .relaxed)
    }
  }

  /// Returns the class that answers the task's request. Returns nil if no class does, so that the request is sent over the network.
  static func answering(_ task: URLSessionTask, among types: [URLProtocol.Type]) -> URLProtocol.Type? {
    let (types, registered) = (task.permitted(types), task.permitted(registered.withLock { $0 }))
    if types.isEmpty, registered.isEmpty { return nil }
    return types.first { $0.canInit(with: task) } ?? registered.last { $0.canInit(with: task) }
  }
}

/// The object to which a ``URLProtocol`` reports its response. A session creates a client for each task whose request a URL
/// protocol answers.
public protocol URLProtocolClient: NSObjectProtocol, Sendable {
  /// Reports that the response redirects to `request`. The session's delegate decides whether to follow the redirect. If it does,
  /// the session stops the URL protocol, and asks all URL protocol classes whether they answer the new request.
  ///
  /// The new request has the method and the body of `request`. If this body is still the body of the redirected request, the task's
  /// body is sent again, unless the method has become GET or HEAD. If the new request is for another origin, it doesn't have the
  /// fields that ``URLSessionConfiguration/redirectRule`` binds to their origin, unless `request` has other values for them. A
  /// request for an `http` or `https` URL can't be redirected to a local file.
  func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)
  /// Reports that the cached response is still valid. The task receives the cached response, and completes.
  func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse)
  /// Reports the head of the response. Only the first call has an effect. The session doesn't store the response in its cache,
  /// whatever the policy is.
  func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
  )
  /// Reports the next part of the response's body. A part that is reported before the head is delivered after the head. If no head
  /// is reported, the task fails with `URLError.badServerResponse` at the end.
  func urlProtocol(_ protocol: URLProtocol, didLoad data: Data)
  /// Reports the end of the response's body, after which the task completes.
  func urlProtocolDidFinishLoading(_ protocol: URLProtocol)
  /// Reports that loading the request has failed. The task completes with this error.
  func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error)
  /// Reports an authentication challenge, which the session's delegate answers. The session passes the answer to the challenge's
  /// `sender`.
  func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)
  /// Reports that an authentication challenge no longer needs an answer.
  func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}

/// Default implementations of all methods, which do nothing. A client in a test can implement only the methods that the test needs.
/// The client that a session creates implements all methods.
extension URLProtocolClient {
  /// Default implementation. Does nothing.
  public func urlProtocol(
    _ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
  ) {}
  /// Default implementation. Does nothing.
  public func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {}
  /// Default implementation. Does nothing.
  public func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
  ) {}
  /// Default implementation. Does nothing.
  public func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) {}
  /// Default implementation. Does nothing.
  public func urlProtocolDidFinishLoading(_ protocol: URLProtocol) {}
  /// Default implementation. Does nothing.
  public func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) {}
  /// Default implementation. Does nothing.
  public func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {}
  /// Default implementation. Does nothing.
  public func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
}
