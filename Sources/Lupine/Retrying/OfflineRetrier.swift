// OfflineRetrier: retries requests that failed for lack of a network, when there is a network again.

public import Dispatch
public import Foundation
public import LupineURLSession
import Synchronization

/// A retrier that retries requests that failed because there was no network, as soon as there is a network path to other machines.
///
/// ```swift
/// let report = AF.request("https://example.com/report", interceptor: .offlineRetrier(maximumWait: .seconds(60)))
/// ```
///
/// A request is retried when the kernel reports a usable default route. If that takes longer than `maximumWait`, the request isn't
/// retried. If a retried request fails again, it waits again for a path, after a pause that grows from 100 ms to 10 s. If many
/// requests wait for the same path, their retries are spread over up to two seconds. A retry builds the request anew, so its body
/// is sent from the start. A cancelled request isn't retried.
public final class OfflineRetrier: RequestAdapter, RequestRetrier, RequestInterceptor, Sendable {
  /// The default maximum time for which a request waits for a network path: 5 s.
  public static let defaultWait: DispatchTimeInterval = .seconds(5)

  /// The codes of the `URLError`s that mean that the machine has no network: `.notConnectedToInternet`.
  public static let defaultURLErrorOfflineCodes: Set<URLError.Code> = [.notConnectedToInternet]

  /// A closure that returns whether an error is a `URLError` with one of ``defaultURLErrorOfflineCodes``, or an ``AFError`` with
  /// such an underlying error.
  public static let defaultIsOfflineError: @Sendable (_ error: any Error) -> Bool = { error in
    let error = error.asAFError?.underlyingError ?? error
    return (error as? URLError).map { defaultURLErrorOfflineCodes.contains($0.code) } ?? false
  }

  private struct State: ~Copyable {
    /// The running waits for a network path, one for each waiting request, by a unique number. Releasing a `PathWait` ends that
    /// wait.
    var waits: [UInt64: PathWait] = [:]
    var latest: UInt64 = 0
  }

  private let monitor: NWPathMonitor
  private let waiters: PathWaiters
  private let maximumWait: Duration?
  private let isOfflineError: @Sendable (_ error: any Error) -> Bool
  private let state = Mutex(State())

  /// Creates a retrier that waits until a network monitor reports a usable network path.
  ///
  /// - Parameters:
  ///   - monitor: Reports the network paths. By default, a monitor of all interfaces. The monitor needn't be started.
  ///   - maximumWait: The maximum time for which a request waits. 5 s by default. `.never` means no limit.
  ///   - isOfflineError: Returns whether the error of a failed request means that there was no network. By default, only
  ///     `URLError.notConnectedToInternet` does.
  public init(
    monitor: @autoclosure () -> NWPathMonitor = NWPathMonitor(),
    maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
    isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
  ) {
    let monitor = monitor()
    self.monitor = monitor
    waiters = monitor.makeWaiters()
    self.maximumWait = Duration(maximumWait)
    self.isOfflineError = isOfflineError
  }

  /// Creates a retrier that waits for a network path through an interface of the given type.
  ///
  /// - Parameters:
  ///   - requiredInterfaceType: The required type of network interface.
  ///   - maximumWait: The longest time for which a request waits; 5 s by default.
  ///   - isOfflineError: Returns whether the error of a failed request means that there was no network. By default, only
  ///     `URLError.notConnectedToInternet` does.
  public convenience init(
    requiredInterfaceType: NWInterface.InterfaceType, maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
    isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
  ) {
    self.init(
      monitor: NWPathMonitor(requiredInterfaceType: requiredInterfaceType), maximumWait: maximumWait,
      isOfflineError: isOfflineError)
  }

  /// Creates a retrier that waits for a network path through an interface of any type except the given ones.
  ///
  /// - Parameters:
  ///   - prohibitedInterfaceTypes: The excluded types of interfaces.
  ///   - maximumWait: The longest time for which a request waits; 5 s by default.
  ///   - isOfflineError: Returns whether the error of a failed request means that there was no network. By default, only
  ///     `URLError.notConnectedToInternet` does.
  public convenience init(
    prohibitedInterfaceTypes: [NWInterface.InterfaceType],
    maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
    isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
  ) {
    self.init(
      monitor: NWPathMonitor(prohibitedInterfaceTypes: prohibitedInterfaceTypes), maximumWait: maximumWait,
      isOfflineError: isOfflineError)
  }

  /// Calls `completion` with `.retry` when there is a usable network path. Calls it with `.doNotRetry` if the maximum wait is over,
  /// if the request is cancelled, or if `error` doesn't mean that there was no network.
  public func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (RetryResult) -> Void
  ) {
    guard isOfflineError(error) else { return completion(.doNotRetry) }
    let number = state.withLock { state in
      state.latest += 1
      return state.latest
    }
    let answered = Atomic(false)
    let wait = waiters.wait(
      attempts: request.retryCount, limit: maximumWait, until: { [monitor] in monitor.isSatisfied(by: $0) }
    ) { [weak self, weak request] outcome in
      guard !answered.exchange(true, ordering: .relaxed) else { return }
      // Releasing the wait is safe here, because this closure runs on the waiters' queue, never within the call of `wait`.
      _ = self?.state.withLock { $0.waits.removeValue(forKey: number) }
      switch outcome {
      case .path: completion(request?.isCancelled == false ? .retry : .doNotRetry)
      case .timedOut: completion(.doNotRetry)
      }
    }
    state.withLock { state in
      if !answered.load(ordering: .relaxed) { state.waits[number] = wait }
    }
  }
}

extension Duration {
  /// Creates a duration from a `DispatchTimeInterval`. Returns nil for `.never`.
  fileprivate init?(_ interval: DispatchTimeInterval) {
    switch interval {
    case .seconds(let count): self = .seconds(count)
    case .milliseconds(let count): self = .milliseconds(count)
    case .microseconds(let count): self = .microseconds(count)
    case .nanoseconds(let count): self = .nanoseconds(count)
    default: return nil
    }
  }
}

extension RequestInterceptor where Self == OfflineRetrier {
  /// A retrier that waits until a network monitor reports a usable network path. See
  /// ``OfflineRetrier/init(monitor:maximumWait:isOfflineError:)``.
  public static func offlineRetrier(
    monitor: @autoclosure () -> NWPathMonitor = NWPathMonitor(),
    maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
    isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
  ) -> OfflineRetrier {
    OfflineRetrier(monitor: monitor(), maximumWait: maximumWait, isOfflineError: isOfflineError)
  }

  /// A retrier that waits for a network path through an interface of the given type.
  public static func offlineRetrier(
    requiredInterfaceType: NWInterface.InterfaceType, maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
    isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
  ) -> OfflineRetrier {
    OfflineRetrier(
      requiredInterfaceType: requiredInterfaceType, maximumWait: maximumWait, isOfflineError: isOfflineError)
  }

  /// A retrier that waits for a network path through an interface of any type except the given ones.
  public static func offlineRetrier(
    prohibitedInterfaceTypes: [NWInterface.InterfaceType],
    maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
    isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier.defaultIsOfflineError
  ) -> OfflineRetrier {
    OfflineRetrier(
      prohibitedInterfaceTypes: prohibitedInterfaceTypes, maximumWait: maximumWait, isOfflineError: isOfflineError)
  }
}
