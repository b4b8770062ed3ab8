// The interceptors to build others from: one closure, or a chain.

public import LupineURLSession
import Synchronization

// Unchecked since the class is open: all of it is constant.
/// An adapter made of a closure; it retries nothing.
open class Adapter: RequestInterceptor, @unchecked Sendable {
  private let adaptHandler: AdaptHandler

  /// An adapter that does what `adaptHandler` does.
  @preconcurrency
  public init(_ adaptHandler: @escaping AdaptHandler) {
    self.adaptHandler = adaptHandler
  }

  /// Calls the closure.
  @preconcurrency
  open func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    adaptHandler(urlRequest, session, completion)
  }

  /// Calls `adapt(_:for:completion:)`, which the closure has no need to know more than.
  @preconcurrency
  open func adapt(
    _ urlRequest: URLRequest, using state: RequestAdapterState,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    adapt(urlRequest, for: state.session, completion: completion)
  }
}

// Unchecked since the class is open: all of it is constant.
/// A retrier made of a closure; it adapts nothing.
open class Retrier: RequestInterceptor, @unchecked Sendable {
  private let retryHandler: RetryHandler

  /// A retrier that does what `retryHandler` does.
  @preconcurrency
  public init(_ retryHandler: @escaping RetryHandler) {
    self.retryHandler = retryHandler
  }

  /// Calls the closure.
  @preconcurrency
  open func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (_ result: RetryResult) -> Void
  ) {
    retryHandler(request, session, error, completion)
  }
}

// Unchecked since the class is open: all of it is constant.
/// A chain of adapters and one of retriers.
///
/// Each adapter gets what the one before it made of the request, and the first that fails is the last. Of the retriers
/// the first that doesn't answer ``RetryResult/doNotRetry`` decides. A member's first answer counts; the next member
/// is asked on the thread on which that came. A chain may be as long as it likes.
open class Interceptor: RequestInterceptor, @unchecked Sendable {
  /// The adapters in the order in which they are asked.
  public let adapters: [any RequestAdapter]
  /// The retriers in the order in which they are asked.
  public let retriers: [any RequestRetrier]

  /// A chain of one closure each.
  @preconcurrency
  public init(adaptHandler: @escaping AdaptHandler, retryHandler: @escaping RetryHandler) {
    adapters = [Adapter(adaptHandler)]
    retriers = [Retrier(retryHandler)]
  }

  /// A chain of one each.
  public init(adapter: any RequestAdapter, retrier: any RequestRetrier) {
    adapters = [adapter]
    retriers = [retrier]
  }

  /// A chain of any number; `interceptors` are asked after the others, as adapters and as retriers.
  public init(
    adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
    interceptors: [any RequestInterceptor] = []
  ) {
    self.adapters = adapters + interceptors
    self.retriers = retriers + interceptors
  }

  /// Asks the adapters by `adapt(_:for:completion:)`. A session calls `adapt(_:using:completion:)`: override that too.
  @preconcurrency
  open func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    InterceptorChain(
      members: adapters,
      // Weakly, here and below: a member that takes its time doesn't keep the session.
      ask: { [weak session] adapter, urlRequest, completion in
        guard let session else { return completion(.failure(AFError.sessionDeinitialized)) }
        adapter.adapt(urlRequest, for: session, completion: completion)
      }, carry: { try? $0.get() }
    ).run(from: .success(urlRequest), completion: completion)
  }

  /// Asks the adapters by `adapt(_:using:completion:)`.
  @preconcurrency
  open func adapt(
    _ urlRequest: URLRequest, using state: RequestAdapterState,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    InterceptorChain(
      members: adapters,
      ask: { [weak session = state.session, id = state.requestID] adapter, urlRequest, completion in
        guard let session else { return completion(.failure(AFError.sessionDeinitialized)) }
        adapter.adapt(urlRequest, using: RequestAdapterState(requestID: id, session: session), completion: completion)
      }, carry: { try? $0.get() }
    ).run(from: .success(urlRequest), completion: completion)
  }

  /// Asks the retriers.
  @preconcurrency
  open func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (_ result: RetryResult) -> Void
  ) {
    InterceptorChain(
      members: retriers,
      ask: { [weak session] retrier, _, completion in
        guard let session else { return completion(.doNotRetry) }
        retrier.retry(request, for: session, dueTo: error, completion: completion)
      },
      carry: { (answer: RetryResult) -> Void? in if case .doNotRetry = answer { () } else { nil } }
    ).run(from: .doNotRetry, completion: completion)
  }
}

extension RequestAdapter where Self == Adapter {
  /// An adapter that does what `closure` does.
  @preconcurrency
  public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}

extension RequestRetrier where Self == Retrier {
  /// A retrier that does what `closure` does.
  @preconcurrency
  public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}

extension RequestInterceptor where Self == Interceptor {
  /// A chain of one closure each.
  @preconcurrency
  public static func interceptor(
    adapter: @escaping AdaptHandler, retrier: @escaping RetryHandler
  ) -> Interceptor {
    Interceptor(adaptHandler: adapter, retryHandler: retrier)
  }

  /// A chain of one each.
  public static func interceptor(adapter: any RequestAdapter, retrier: any RequestRetrier) -> Interceptor {
    Interceptor(adapter: adapter, retrier: retrier)
  }

  /// A chain of any number; `interceptors` are asked after the others, as adapters and as retriers.
  public static func interceptor(
    adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
    interceptors: [any RequestInterceptor] = []
  ) -> Interceptor {
    Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
  }
}

/// The interceptors of one request, in the order in which they are asked, after the session's. The request keeps them
/// without knowing their protocol, which names the session; one list, so that their number costs no stack.
struct InterceptorList: Sendable {
  fileprivate(set) var members: [any RequestInterceptor] = []
}

extension Request.MutableState {
  /// Adds an interceptor after the others.
  mutating func append(_ interceptor: any RequestInterceptor) {
    var list = interceptors as? InterceptorList ?? InterceptorList()
    list.members.append(interceptor)
    interceptors = list
  }
}

extension Request {
  /// The request's interceptors, without the session's.
  var interceptors: [any RequestInterceptor] {
    guard let interceptors = mutableState.withLock({ $0.interceptors }) else { return [] }
    return (interceptors as? InterceptorList)?.members ?? []
  }
}
