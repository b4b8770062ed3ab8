// A task as Foundation knows it: one request with its redirects, from its start to its completion.

public import Foundation
import Synchronization

/// Who is told of a task's progress and end, on the engine's loop.
protocol TaskDelegate: AnyObject, Sendable {
  /// Whether `taskDidAdvance` is wanted; asked for each piece of a body.
  var wantsProgress: Bool { get }
  /// A piece of the body came.
  func taskDidAdvance(_ task: URLSessionTask)
  /// The task has ended; called exactly once, at last.
  func taskDidComplete(_ task: URLSessionTask)
}

// Unchecked since the class has a subclass: all state is constant or in the Mutex.
/// One request under way. It is made suspended, and runs once it is resumed.
public class URLSessionTask: NSObject, TransferObserver, @unchecked Sendable {
  /// Where a task stands.
  public enum State: Int, Sendable {
    /// It runs.
    case running = 0
    /// It is stopped, or was never started.
    case suspended = 1
    /// It was cancelled and will complete with an error.
    case canceling = 2
    /// It has completed, with a response or an error.
    case completed = 3
  }

  /// How far the work on it has come, apart from what its user wants.
  private enum Stage {
    case unstarted
    /// The request is being converted.
    case starting
    case transferring(Transfer)
  }

  private struct MutableState {
    var state = State.suspended
    var stage = Stage.unstarted
    var delegate: (any TaskDelegate)?
    var error: URLError?
    var taskDescription: String?

    var transfer: Transfer? {
      if case .transferring(let transfer) = stage { transfer } else { nil }
    }
  }

  /// A number that no other task of the session has.
  public let taskIdentifier: Int
  /// The request that the task was made with.
  public let originalRequest: URLRequest?

  private let client: EngineClient
  private let mutableState: Mutex<MutableState>

  init(identifier: Int, request: URLRequest, client: EngineClient, delegate: any TaskDelegate) {
    taskIdentifier = identifier
    originalRequest = request
    self.client = client
    mutableState = Mutex(MutableState(delegate: delegate))
  }

  // MARK: Control

  /// Starts the task, or goes on with it.
  public func resume() {
    enum Action { case begin, steer(Transfer), nothing }
    let action = mutableState.withLock { state -> Action in
      guard state.state == .suspended else { return .nothing }
      state.state = .running
      switch state.stage {
      case .unstarted:
        state.stage = .starting
        return .begin
      case .starting: return .nothing
      case .transferring(let transfer): return .steer(transfer)
      }
    }
    switch action {
    case .begin: begin()
    case .steer(let transfer): steer(transfer)
    case .nothing: break
    }
  }

  /// Stops the task: nothing more is read, and the timeouts stand still, but for those of opening a connection.
  public func suspend() {
    let transfer = mutableState.withLock { state -> Transfer? in
      guard state.state == .running else { return nil }
      state.state = .suspended
      return state.transfer
    }
    if let transfer { steer(transfer) }
  }

  /// Ends the task; it completes with `URLError.cancelled`.
  public func cancel() {
    enum Action { case complete, cancel(Transfer), nothing }
    let action = mutableState.withLock { state -> Action in
      guard state.state == .running || state.state == .suspended else { return .nothing }
      state.state = .canceling
      return state.transfer.map { .cancel($0) } ?? .complete
    }
    switch action {
    case .complete: complete(URLError(.cancelled))
    case .cancel(let transfer): transfer.cancel()
    case .nothing: break
    }
  }

  private func begin() {
    do {
      guard let request = originalRequest else { throw URLError(.badURL) }
      let transfer = Transfer(try client.convert(request), from: request, client: client, observer: self)
      let isWanted = mutableState.withLock { state in
        guard state.state == .running || state.state == .suspended else { return false }
        state.stage = .transferring(transfer)
        return true
      }
      guard isWanted else { return }
      steer(transfer)
      transfer.begin()
    } catch {
      complete(error as? URLError ?? URLError(.unknown))
    }
  }

  /// Brings the transfer to where the task stands. Another thread may move the task meanwhile, so it is asked again.
  private func steer(_ transfer: Transfer) {
    var isPaused: Bool
    repeat {
      isPaused = state == .suspended
      transfer.setPaused(isPaused)
    } while (state == .suspended) != isPaused
  }

  // MARK: What is known of it

  /// Where the task stands.
  public var state: State { mutableState.withLock { $0.state } }
  /// The request as redirects have left it.
  public var currentRequest: URLRequest? { transfer?.currentRequest ?? originalRequest }
  /// The response's head, once it came.
  public var response: URLResponse? { transfer?.response }
  /// Why the task failed, once it has completed.
  public var error: (any Error)? { mutableState.withLock { $0.error } }
  /// Bytes of the body that came, decoded.
  public var countOfBytesReceived: Int64 { transfer?.receivedByteCount ?? 0 }
  /// The length of the body as far as it is known, otherwise `NSURLSessionTransferSizeUnknown`.
  public var countOfBytesExpectedToReceive: Int64 {
    transfer?.response?.expectedContentLength ?? NSURLSessionTransferSizeUnknown
  }
  /// A text of the caller's own.
  public var taskDescription: String? {
    get { mutableState.withLock { $0.taskDescription } }
    set { mutableState.withLock { $0.taskDescription = newValue } }
  }

  /// The body as far as it came.
  var data: Data { transfer?.data ?? Data() }
  /// What was measured, once the task has completed.
  var metrics: URLSessionTaskMetrics { URLSessionTaskMetrics(transfer?.attempts ?? []) }
  /// The response with its HTTP parts.
  var httpResponse: HTTPURLResponse? { transfer?.response }

  private var transfer: Transfer? { mutableState.withLock { $0.transfer } }

  // MARK: What the transfer says

  var wantsProgress: Bool { mutableState.withLock { $0.delegate }?.wantsProgress ?? false }

  func transferDidAdvance() {
    mutableState.withLock { $0.delegate }?.taskDidAdvance(self)
  }

  func transferDidComplete() {
    complete(transfer?.error)
  }

  private func complete(_ error: URLError?) {
    // Let go of the delegate, which holds the task.
    let delegate = mutableState.withLock { state in
      state.state = .completed
      state.error = error
      return state.delegate.take()
    }
    delegate?.taskDidComplete(self)
  }
}

// Unchecked for the same reason as its superclass; it has no state of its own.
/// A task whose body is kept in memory.
public final class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

/// What counts of bytes say if they are not known: -1.
public let NSURLSessionTransferSizeUnknown: Int64 = -1
