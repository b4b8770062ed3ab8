// TaskDelegate: the results of a request's task, and the queue of the request's response handlers.

public import Foundation
import LupineURLSession
import Synchronization

// Unchecked because the class is open. All state is constant or in the Mutex.
/// Holds the received data and the error of a request's task, and the queue on which responses are serialized.
open class TaskDelegate: NSObject, @unchecked Sendable {
  private struct State: ~Copyable {
    var error: (any Error)?
    var credential: URLCredential?
    var metrics: URLSessionTaskMetrics?
  }

  /// The serial queue on which responses are serialized. It is suspended until the request has completed.
  public let queue: OperationQueue

  private let state = Mutex(State())

  init(error: (any Error)? = nil) {
    queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.qualityOfService = .utility
    queue.isSuspended = true
    state.withLock { $0.error = error }
  }

  /// The received response body. Nil for a download, and if the body is passed to a closure.
  public var data: Data? { nil }

  /// The error of the task or of a validation, or nil. Response handlers receive this error.
  public var error: (any Error)? {
    get { state.withLock { $0.error } }
    set { withExtendedLifetime(state.withLock { exchange(&$0.error, with: newValue) }) {} }
  }

  /// The credential with which the request answers authentication challenges, or nil if none was set.
  var credential: URLCredential? {
    get { state.withLock { $0.credential } }
    set { state.withLock { $0.credential = newValue } }
  }

  var metrics: URLSessionTaskMetrics? {
    get { state.withLock { $0.metrics } }
    set { state.withLock { $0.metrics = newValue } }
  }

  /// Discards the results of a failed attempt before the next attempt.
  func reset() {
    state.withLock { state in (state.error, state.metrics) = (nil, nil) }
  }

  /// Stores the task's error, and starts the response handlers by resuming ``queue``.
  func complete(with error: (any Error)?) {
    state.withLock { $0.error = $0.error ?? error }
    queue.isSuspended = false
  }
}
