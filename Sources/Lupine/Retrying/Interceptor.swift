// `Adapter`, `Retrier` and `Interceptor`: interceptors made of closures and of other interceptors.

public import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is constant.
/// An adapter that calls a closure. It never retries requests.
open class Adapter: RequestInterceptor, @unchecked Sendable {
  private let adaptHandler: AdaptHandler

  /// Creates an adapter that calls `adaptHandler`.
  @preconcurrency
  public init(_ adaptHandler: @escaping AdaptHandler) {
    self.adaptHandler = adaptHandler
  }

  /// Adapts `urlRequest` with the closure that was passed to the initializer.
  @preconcurrency
  open func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    adaptHandler(urlRequest, session, completion)
  }

  /// Calls `adapt(_:for:completion:)` with the session that `state` contains.
  @preconcurrency
  open func adapt(
    _ urlRequest: URLRequest, using state: RequestAdapterState,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    adapt(urlRequest, for: state.session, completion: completion)
  }
}

// Unchecked because the class is open. All state is constant.
/// A retrier that calls a closure. It doesn't adapt requests.
open class Retrier: RequestInterceptor, @unchecked Sendable {
  private let retryHandler: RetryHandler

  /// Creates a retrier that calls `retryHandler`.
  @preconcurrency
  public init(_ retryHandler: @escaping RetryHandler) {
    self.retryHandler = retryHandler
  }

  /// Decides about a retry with the closure that was passed to the initializer.
  @preconcurrency
  open func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (_ result: RetryResult) -> Void
  ) {
    retryHandler(request, session, error, completion)
  }
}

// Unchecked because the class is open. All state is constant.
/// An interceptor that calls a sequence of adapters and a sequence of retriers.
///
/// Each adapter receives the request that the previous adapter returned. The first failure ends the sequence. The first retrier
/// that answers anything but ``RetryResult/doNotRetry`` decides. Only the first answer of each adapter or retrier has an effect.
/// Each adapter or retrier is called on the thread on which the previous one answered. The sequences may have any length.
open class Interceptor: RequestInterceptor, @unchecked Sendable {
  /// The adapters in the order in which they are called. None by default.
  public let adapters: [any RequestAdapter]
  /// The retriers in the order in which they are called. None by default.
  public let retriers: [any RequestRetrier]

  /// Creates an interceptor that adapts requests with `adaptHandler`, and decides about retries with `retryHandler`.
  @preconcurrency
  public init(adaptHandler: @escaping AdaptHandler, retryHandler: @escaping RetryHandler) {
    adapters = [Adapter(adaptHandler)]
    retriers = [Retrier(retryHandler)]
  }

  /// Creates an interceptor that calls one adapter and one retrier.
  public init(adapter: any RequestAdapter, retrier: any RequestRetrier) {
    adapters = [adapter]
    retriers = [retrier]
  }

  /// Creates an interceptor that calls any number of adapters, retriers and interceptors. It calls `interceptors` after `adapters`
  /// and `retriers`.
  public init(
    adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
    interceptors: [any RequestInterceptor] = []
  ) {
    // Converted one by one, because converting a whole array looks up the protocols of its elements at run time.
    self.adapters = adapters + interceptors.map { $0 as any RequestAdapter }
    self.retriers = retriers + interceptors.map { $0 as any RequestRetrier }
  }

  /// Calls the method `adapt(_:for:completion:)` of each adapter in order. A subclass that overrides this method must also override
  /// `adapt(_:using:completion:)`, which sessions call.
  @preconcurrency
  open func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
  ) {
    InterceptorChain(
      members: adapters,
      // The session is captured weakly, here and below, so that a slow adapter or retrier doesn't keep it alive.
      ask: { [weak session] adapter, urlRequest, completion in
        guard let session else { return completion(.failure(AFError.sessionDeinitialized)) }
        adapter.adapt(urlRequest, for: session, completion: completion)
      }, nextInput: { try? $0.get() }
    ).run(from: .success(urlRequest), completion: completion)
  }

  /// Calls the method `adapt(_:using:completion:)` of each adapter in order.
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
      }, nextInput: { try? $0.get() }
    ).run(from: .success(urlRequest), completion: completion)
  }

  /// Calls the retriers in order, until one of them makes a decision other than ``RetryResult/doNotRetry``.
  @preconcurrency
  open func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (_ result: RetryResult) -> Void
  ) {
    InterceptorChain(
      members: retriers,
      // A retrier that waits keeps this closure, but not the request, which may have been cancelled meanwhile.
      ask: { [weak session, weak request] retrier, _, completion in
        guard let session, let request else { return completion(.doNotRetry) }
        retrier.retry(request, for: session, dueTo: error, completion: completion)
      },
      nextInput: { (answer: RetryResult) -> Void? in if case .doNotRetry = answer { () } else { nil } },
      endsDuringCall: true
    ).run(from: .doNotRetry, completion: completion)
  }
}

extension RequestAdapter where Self == Adapter {
  /// An adapter that calls `closure`.
  @preconcurrency
  public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}

extension RequestRetrier where Self == Retrier {
  /// A retrier that calls `closure`.
  @preconcurrency
  public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}

extension RequestInterceptor where Self == Interceptor {
  /// An interceptor that adapts requests with the closure `adapter`, and decides about retries with the closure `retrier`.
  @preconcurrency
  public static func interceptor(
    adapter: @escaping AdaptHandler, retrier: @escaping RetryHandler
  ) -> Interceptor {
    Interceptor(adaptHandler: adapter, retryHandler: retrier)
  }

  /// An interceptor that calls one adapter and one retrier.
  public static func interceptor(adapter: any RequestAdapter, retrier: any RequestRetrier) -> Interceptor {
    Interceptor(adapter: adapter, retrier: retrier)
  }

  /// An interceptor that calls any number of adapters, retriers and interceptors. It calls `interceptors` after `adapters` and
  /// `retriers`.
  public static func interceptor(
    adapters: [any RequestAdapter] = [], retriers: [any RequestRetrier] = [],
    interceptors: [any RequestInterceptor] = []
  ) -> Interceptor {
    Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
  }
}
