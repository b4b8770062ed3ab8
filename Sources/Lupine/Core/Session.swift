// A session: what its requests share. It makes them, keeps those that run, and owns the engine.

public import Foundation
import Synchronization

// Unchecked since the class is open: all state is constant or in a Mutex or an Atomic.
/// Makes requests. A session keeps its connections, so use one for many requests.
///
/// Requests that are under way when a session is released fail with `AFError.sessionDeinitialized`.
open class Session: @unchecked Sendable {
  /// Changes a request before it is sent, or throws to refuse it.
  public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

  /// The session that `AF` stands for.
  public static let `default` = Session()

  /// The configuration as it was when the session was made; later changes to it have no effect.
  public let sessionConfiguration: URLSessionConfiguration
  /// The serial queue on which requests do their work.
  public let rootQueue: DispatchQueue
  /// Whether a request is resumed when it gets its first response handler.
  public let startRequestsImmediately: Bool
  /// The queue on which requests are built; the root queue unless another was given.
  public let requestQueue: DispatchQueue
  /// The queue on which responses are serialised; the root queue unless another was given.
  public let serializationQueue: DispatchQueue

  private let client: EngineClient
  private let taskCount = Atomic<Int>(0)
  private let activeRequests = Mutex<Set<Request>>([])

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - configuration: copied; Alamofire's default headers by default.
  ///   - rootQueue: where internal work is done. If it is concurrent, a serial queue in front of it is used.
  ///   - startRequestsImmediately: whether a request is resumed when it gets its first response handler.
  ///   - requestQueue: where requests are built; the root queue if nil.
  ///   - serializationQueue: where responses are serialised; the root queue if nil.
  public init(
    configuration: URLSessionConfiguration = URLSessionConfiguration.af.default,
    rootQueue: DispatchQueue = DispatchQueue(label: "lupine.session.root"),
    startRequestsImmediately: Bool = true,
    requestQueue: DispatchQueue? = nil,
    serializationQueue: DispatchQueue? = nil
  ) {
    sessionConfiguration = configuration.copy() as? URLSessionConfiguration ?? configuration
    self.rootQueue = rootQueue.serialized
    self.startRequestsImmediately = startRequestsImmediately
    self.requestQueue = requestQueue ?? self.rootQueue
    self.serializationQueue = serializationQueue ?? self.rootQueue
    client = EngineClient(sessionConfiguration.snapshot)
  }

  deinit {
    for request in activeRequests.withLock({ $0 }) {
      request.underlyingQueue.async { request.finish(with: .sessionDeinitialized) }
    }
  }

  // MARK: Requests

  /// Makes a request from a URL, a method, header fields, and a dictionary of parameters, if any, that `encoding` puts
  /// into the query or the body.
  open func request(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: HTTPHeaders? = nil,
    shouldAutomaticallyResume: Bool? = nil, requestModifier: RequestModifier? = nil
  ) -> DataRequest {
    request(
      BuiltRequest(
        url: convertible, method: method, headers: headers, encode: { try encoding.encode($0, with: parameters) },
        modify: requestModifier),
      shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Makes a request with parameters that `encoder` puts into the query or the body.
  open func request<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
    shouldAutomaticallyResume: Bool? = nil, requestModifier: RequestModifier? = nil
  ) -> DataRequest {
    var encode: (@Sendable (URLRequest) throws -> URLRequest)?
    if let parameters { encode = { try encoder.encode(parameters, into: $0) } }
    return request(
      BuiltRequest(url: convertible, method: method, headers: headers, encode: encode, modify: requestModifier),
      shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Makes a request from whatever can be made one.
  open func request(
    _ convertible: any URLRequestConvertible, shouldAutomaticallyResume: Bool? = nil
  ) -> DataRequest {
    DataRequest(convertible, session: self, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Calls `action` on the root queue with every request that is under way.
  public func withAllRequests(perform action: @escaping @Sendable (Set<Request>) -> Void) {
    rootQueue.async { action(self.activeRequests.withLock { $0 }) }
  }

  /// Cancels every request that is under way, then calls `completion` on `queue`.
  public func cancelAllRequests(
    completingOnQueue queue: DispatchQueue = .main, completion: (@Sendable () -> Void)? = nil
  ) {
    withAllRequests { requests in
      for request in requests { request.cancel() }
      if let completion { queue.async(execute: completion) }
    }
  }

  // MARK: What requests ask for

  var requestQueueIsRoot: Bool { requestQueue === rootQueue }

  func makeDataTask(_ request: URLRequest, delegate: any TaskDelegate) -> URLSessionTask {
    let identifier = taskCount.add(1, ordering: .relaxed).newValue
    return URLSessionDataTask(identifier: identifier, request: request, client: client, delegate: delegate)
  }

  /// A request has been resumed: it lives until it has finished.
  func keep(_ request: Request) {
    _ = activeRequests.withLock { $0.insert(request) }
  }

  /// A request has finished.
  func forget(_ request: Request) {
    _ = activeRequests.withLock { $0.remove(request) }
  }
}

/// A request made of its parts when it is needed.
private struct BuiltRequest: URLRequestConvertible {
  let url: any URLConvertible
  let method: HTTPMethod
  let headers: HTTPHeaders?
  let encode: (@Sendable (URLRequest) throws -> URLRequest)?
  let modify: Session.RequestModifier?

  func asURLRequest() throws -> URLRequest {
    var request = try URLRequest(url: url, method: method, headers: headers)
    try modify?(&request)
    return try encode?(request) ?? request
  }
}

extension DispatchQueue {
  /// The queue itself if it is the main queue, otherwise a serial one in front of it.
  fileprivate var serialized: DispatchQueue {
    // Not compared by ===: on Linux the main queue is another object at each access.
    label == DispatchQueue.main.label ? self : DispatchQueue(label: label, target: self)
  }
}
