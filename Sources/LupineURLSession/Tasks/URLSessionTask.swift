// URLSessionTask: performs one request with its redirects and challenges, from `resume` to completion.

public import Foundation
import LupineEngine
import Synchronization

// Unchecked because the class is open. All state is constant, atomic or protected by a Mutex.
/// A task of a session, which performs one request, including redirects and challenges, and receives the response.
///
/// Sessions create suspended tasks; call ``resume()`` to start a task. The task reports its events to the session's delegate on the
/// delegate queue. The methods and properties of a task may be used on any thread.
///
/// A task retains its session until it has completed.
open class URLSessionTask: NSObject, NSCopying, TransferObserver, @unchecked Sendable {
  /// The state of a task, which the caller controls with `resume`, `suspend` and `cancel`.
  public enum State: Int, Sendable {
    /// The task is in progress.
    case running = 0
    /// The task hasn't been started, or is suspended.
    case suspended = 1
    /// The task was canceled, and will complete with `URLError.cancelled`.
    case canceling = 2
    /// The task has completed, with a response or an error.
    case completed = 3
  }

  /// The task's internal stage, which is independent of the `State` that the caller controls.
  enum Stage {
    case unstarted
    /// The task is preparing its request, for example opening a file.
    case starting
    case transferring(any TaskTransfer)
    /// The task sends no request and is about to complete.
    case ending
  }

  struct MutableState {
    var state = State.suspended
    var stage = Stage.unstarted
    var session: URLSession?
    /// The session's delegates when the task was created. Nil after the task has completed, or if it was never registered.
    var sessionDelegates: URLSession.Delegates?
    var owner: (any AnyObject & Sendable)?
    var error: (any Error)?
    var taskDescription: String?
    var reportedSentByteCount: Int64 = 0
    /// The number of times that the task's state has changed to running or suspended.
    var suspensionChangeCount = 0
    /// The number of `resume` calls that are needed to start or continue the task. 1 for a new task.
    var suspensionCount = 1
    /// The settings of the task that most tasks don't need. Nil until one of these settings is used.
    var options: TaskOptions?
    /// Whether an earlier process created the task, in a background session.
    var isRestored = false

    var transfer: (any TaskTransfer)? {
      if case .transferring(let transfer) = stage { transfer } else { nil }
    }

    /// Changes the state to running or suspended. Returns the number of this change, counted from the creation of the task.
    mutating func setSuspended(_ isSuspended: Bool) -> Int {
      state = isSuspended ? .suspended : .running
      suspensionChangeCount += 1
      return suspensionChangeCount
    }
  }

  /// A number that identifies the task within its session. The first task has number 1.
  open var taskIdentifier: Int { number }
  /// The request with which the task was created. Nil for a download task whose resume data can't be read.
  open var originalRequest: URLRequest? { firstRequest }

  /// The task's identifier for internal use. Unlike ``taskIdentifier``, subclasses can't override it.
  final let number: Int
  final let firstRequest: URLRequest?
  /// The observer of the call to which the task belongs, or nil if the session's engine isn't observed.
  final let callObserver: (any CallObserver)?
  final let mutableState: Mutex<MutableState>
  /// Whether the task's options have been created. Read without the lock, because most tasks have no options.
  final let hasOptions = Atomic(false)
  /// Whether a caller has read the task's progress.
  final let hasProgress = Atomic(false)
  /// The receive window of a streamed body, in bytes. -1 if the body isn't streamed.
  private let streamWindowBytes = Atomic(-1)
  @usableFromInline package let registrySlot = RegistrySlot()

  init(_ session: URLSession, _ request: URLRequest?, identifier: Int) {
    number = identifier
    firstRequest = request
    callObserver = session.client.observer.map { CurrentCall.observer ?? $0.callBegan() }
    mutableState = Mutex(MutableState(session: session, sessionDelegates: session.delegates))
  }

  /// Creates a task without a session, for a subclass that replaces a real task in a test. The task never sends a request.
  public override init() {
    number = 0
    firstRequest = nil
    callObserver = nil
    mutableState = Mutex(MutableState())
  }

  // MARK: Overridden by subclasses

  /// The body to send in place of the request's own body. If nil, the request's own body is sent.
  var content: UploadContent? { nil }

  /// Starts the task by calling `begin` with the request to send, immediately or later. `replacement` is the request that the
  /// delegate has returned, if any, after the task's earliest begin date had passed.
  func start(with replacement: URLRequest? = nil, in session: URLSession) {
    begin(session, .success(replacement ?? firstRequest))
  }

  /// Called with each new `taskDescription`. Does nothing by default.
  func didDescribe(_ text: String?) {}

  /// Creates the task's transfer: with a URLProtocol, over HTTP, or for a local resource.
  func makeTaskTransfer(_ request: URLRequest, in session: URLSession) throws -> any TaskTransfer {
    try makeProtocolTransfer(request, in: session) ?? makeTransfer(request, in: session)
  }

  /// Returns those of the URLProtocol classes that may answer the task. All by default.
  func permitted(_ types: [URLProtocol.Type]) -> [URLProtocol.Type] { types }

  /// Whether the task's transfer delivers its events on the delegate queue. If false, it delivers them on the session's file queue.
  var deliversOnDelegateQueue: Bool { true }

  /// Returns the set of ready transfers to which the task's transfer is added when it has received data.
  final func readyTransfers(of session: URLSession) -> ReadyTransfers {
    deliversOnDelegateQueue ? session.readyTransfers : session.fileTransfers
  }

  /// Returns the queue on which the task's transfer delivers its events.
  final func delivery(of session: URLSession) -> SerialQueue { readyTransfers(of: session).queue }

  /// The use of the session's cache by this task. By default, the cache doesn't answer the task's requests, but unsafe methods
  /// invalidate stored responses.
  var cacheScope: TaskCache.Scope { .invalidation }
  /// Whether the task's delegate decides about storing the response in the cache. False by default.
  var delegateDecidesOnCaching: Bool { false }

  /// Whether the task decides to accept or refuse the response's body. If true, its transfer calls `transfer(didReceive:answer:)`
  /// and waits for the answer.
  var decidesOnResponse: Bool { false }

  /// Called with the head of the final response. The task must call `answer` with true to accept the body, or with false to cancel
  /// the transfer.
  func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) { answer(true) }

  /// Called with each part of the response's body. Does nothing by default.
  func receive(_ body: Data) {}

  // MARK: Control

  /// Starts the task, or continues a suspended task. If the task was suspended several times, call this method as many times.
  ///
  /// Has no effect if the task is in progress, is canceled or has completed. If the session was invalidated before the task was
  /// created, the task completes with `URLError.cancelled`.
  open func resume() {
    enum Action { case start(URLSession), resume(any TaskTransfer, change: Int), nothing }
    let action = mutableState.withLock { state -> Action in
      guard state.state == .suspended, let session = state.session else { return .nothing }
      state.suspensionCount -= 1
      guard state.suspensionCount == 0 else { return .nothing }
      let change = state.setSuspended(false)
      switch state.stage {
      case .unstarted:
        state.stage = .starting
        return .start(session)
      case .starting, .ending: return .nothing
      case .transferring(let transfer): return .resume(transfer, change: change)
      }
    }
    switch action {
    case .start(let session): startWhenDue(in: session)
    case .resume(let transfer, let change): transfer.setSuspended(false, change: change)
    case .nothing: break
    }
  }

  /// Suspends the task until ``resume()`` has been called as many times as this method. A new task counts as suspended once.
  ///
  /// While the task is suspended, no bytes are read from its connection. Unlike in Foundation, the rest of a request whose sending
  /// has begun, such as an upload's body, is still sent. The timeouts of a request's phases are suspended too, except those for
  /// opening a connection. The session's ``URLSessionConfiguration/timeoutIntervalForResource`` isn't suspended. Events that have
  /// already been received may still be delivered. Has no effect if the task was canceled or has completed.
  open func suspend() {
    let suspended = mutableState.withLock { state -> (transfer: any TaskTransfer, change: Int)? in
      guard state.state == .running || state.state == .suspended else { return nil }
      state.suspensionCount += 1
      guard state.state == .running else { return nil }
      let change = state.setSuspended(true)
      return state.transfer.map { ($0, change) }
    }
    if let suspended { suspended.transfer.setSuspended(true, change: suspended.change) }
  }

  /// Cancels the task, which completes with `URLError.cancelled`. Has no effect if the task has already completed.
  open func cancel() {
    enum Action { case end(URLSession), cancel(any TaskTransfer), nothing }
    let action = mutableState.withLock { state -> Action in
      guard state.state == .running || state.state == .suspended, let session = state.session else { return .nothing }
      switch state.stage {
      case .ending: return .nothing
      case .transferring(let transfer):
        state.state = .canceling
        return .cancel(transfer)
      case .unstarted, .starting:
        state.state = .canceling
        state.stage = .ending
        return .end(session)
      }
    }
    switch action {
    case .end(let session): end(URLError(.cancelled), in: session)
    case .cancel(let transfer): transfer.cancel()
    case .nothing: break
    }
  }

  /// Resumes the task with a single call, no matter how many times it was suspended.
  package func resumeFully() {
    mutableState.withLock { if $0.state == .suspended { $0.suspensionCount = 1 } }
    resume()
  }

  /// Suspends the task if it is running. Has no effect if the task is already suspended.
  package func suspendOnce() { if state == .running { suspend() } }

  /// Sends the request. Completes the task with an error instead if `request` is an error, or with `URLError.unsupportedURL` if
  /// `request` is nil.
  func begin(_ session: URLSession, _ request: Result<URLRequest?, URLError>) {
    do {
      guard let request = try request.get() else { throw URLError(.unsupportedURL) }
      guard session.owns(self) else {
        throw URLError(.cancelled, "The session was invalidated before the task was created. Create a new session.")
      }
      let transfer = try makeTaskTransfer(request, in: session)
      let (isStarting, suspension) = mutableState.withLock { state -> (Bool, Int?) in
        guard case .starting = state.stage else { return (false, nil) }
        state.stage = .transferring(transfer)
        return (true, state.state == .suspended ? state.suspensionChangeCount : nil)
      }
      if let suspension { transfer.setSuspended(true, change: suspension) }
      // If the task was canceled in the meantime, `cancel` has ended the task, and nothing is sent.
      if isStarting { transfer.send() }
    } catch {
      let isStarting = mutableState.withLock { state in
        guard case .starting = state.stage else { return false }
        state.stage = .ending
        return true
      }
      if isStarting { end(error as? URLError ?? URLError(.unknown), in: session) }
    }
  }

  // MARK: Properties

  /// The current state of the task: running, suspended, canceling or completed.
  open var state: State { mutableState.withLock { $0.state } }
  /// The request that the task has sent most recently. Before the first redirect, it is the same as ``originalRequest``.
  open var currentRequest: URLRequest? { transfer?.currentRequest ?? firstRequest }
  /// The head of the final response. Nil until the task has received it, except while the delegate decides about a redirect or a
  /// challenge: then it is the head of the response that caused the decision. Nil if the task fails because a redirect can't be
  /// followed.
  open var response: URLResponse? { transfer?.response }
  /// The error with which the task has completed, usually a `URLError`. Nil before the task has completed and after success.
  open var error: (any Error)? { mutableState.withLock { $0.error } }
  /// The number of bytes of the response's body that were received so far, after content decoding.
  open var countOfBytesReceived: Int64 { transfer?.receivedByteCount ?? 0 }
  /// The length of the response's body in bytes, or ``NSURLSessionTransferSizeUnknown`` if it is unknown.
  open var countOfBytesExpectedToReceive: Int64 {
    transfer?.response?.expectedContentLength ?? NSURLSessionTransferSizeUnknown
  }
  /// The number of bytes of the request's body that were sent so far.
  ///
  /// The number never decreases: if the body is sent again after a redirect, after a challenge or on a new connection, only bytes
  /// beyond the previous number are counted.
  open var countOfBytesSent: Int64 { transfer?.sentByteCount ?? 0 }
  /// The length of the request's body in bytes: 0 if there is no body, or ``NSURLSessionTransferSizeUnknown`` if the length is
  /// unknown.
  open var countOfBytesExpectedToSend: Int64 {
    let byteCount: UInt64? =
      if let transfer {
        transfer.bodyByteCount
      } else {
        switch (content, firstRequest?.body) {
        case (.data(let data), _), (nil, .data(let data)): UInt64(data.count)
        case (.file, _): nil
        case (.stream, _), (nil, .stream): firstRequest?.declaredByteCount
        case (nil, nil), (nil, .some(.none)): 0
        }
      }
    return byteCount.map { Int64(clamping: $0) } ?? NSURLSessionTransferSizeUnknown
  }
  /// A text that the program can choose, and that appears in ``description``. Nil by default.
  open var taskDescription: String? {
    get { mutableState.withLock { $0.taskDescription } }
    set {
      mutableState.withLock { $0.taskDescription = newValue }
      didDescribe(newValue)
    }
  }

  /// The number of bytes that the caller expects to send. ``NSURLSessionTransferSizeUnknown`` by default. The task ignores this
  /// value.
  open var countOfBytesClientExpectsToSend: Int64 {
    get { option { $0.byteCountExpectedToSend } ?? NSURLSessionTransferSizeUnknown }
    set { changeOptions { $0.byteCountExpectedToSend = newValue } }
  }
  /// The number of bytes that the caller expects to receive. ``NSURLSessionTransferSizeUnknown`` by default. The task ignores this
  /// value.
  open var countOfBytesClientExpectsToReceive: Int64 {
    get { option { $0.byteCountExpectedToReceive } ?? NSURLSessionTransferSizeUnknown }
    set { changeOptions { $0.byteCountExpectedToReceive = newValue } }
  }
  /// The task's own delegate or, if none was set, the session's delegate if it is a ``URLSessionTaskDelegate``.
  ///
  /// The task calls its own delegate in place of the session's. The session's delegate is called for methods that the task's own
  /// delegate doesn't implement. The task retains its delegate until it has completed. Set the delegate before the task is resumed.
  open var delegate: (any URLSessionTaskDelegate)? {
    get { ownDelegate ?? session?.delegates?.task }
    set {
      let delegates = newValue.map { URLSession.Delegates($0, orElse: session?.delegates) }
      // The previous delegate is released outside the lock, because its deinitializer may use the task.
      let old = changeOptions { (exchange(&$0.own, with: newValue), exchange(&$0.delegates, with: delegates)) }
      withExtendedLifetime(old) {}
    }
  }
  /// The date before which the task doesn't send its request, even if it is resumed. Nil, the default, means no delay.
  ///
  /// When the date has passed, the delegate's
  /// ``URLSessionTaskDelegate/urlSession(_:task:willBeginDelayedRequest:completionHandler:)`` may replace the request. Set this
  /// property before the task is resumed.
  open var earliestBeginDate: Date? {
    get { earliestStart }
    set { changeOptions { $0.earliestBeginDate = newValue } }
  }
  /// The task's priority among the tasks that wait for a connection, from 0 to 1. ``defaultPriority`` by default. A value outside
  /// this range has the effect of the nearer bound.
  ///
  /// If the maximum number of connections is reached, the waiting task with the highest priority gets the next connection. Tasks of
  /// equal priority get connections in order of arrival. A steady load of tasks with a high priority can therefore keep tasks with
  /// a low priority waiting until they time out. The priority has no effect on tasks that already have a connection. Set the
  /// priority before the task is resumed.
  open var priority: Float {
    get { explicitPriority ?? firstRequest?.options?.own.priority ?? Self.defaultPriority }
    set { changeOptions { $0.priority = newValue } }
  }
  /// The progress of the task in bytes, counting the request's body and the response's body.
  ///
  /// The progress is indeterminate until the lengths of both bodies are known. Canceling, pausing or resuming the progress
  /// cancels, suspends or resumes the task. The progress is updated on the delegate queue.
  open var progress: Progress {
    if let progress = option({ $0.progress }) { return progress }
    let new = Progress(totalUnitCount: -1)
    new.isPausable = true
    control(new)
    let progress = changeOptions { options in
      if let progress = options.progress { return progress }
      options.progress = new
      hasProgress.store(true, ordering: .releasing)
      return new
    }
    if progress === new { updateProgress(isComplete: state == .completed) }
    return progress
  }

  /// Returns the task itself, because a task can't be copied.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The task's metrics. They are complete only after the task's transfer has ended.
  var metrics: URLSessionTaskMetrics { transfer.map { URLSessionTaskMetrics($0) } ?? URLSessionTaskMetrics(.init([])) }
  /// The head of the final response if it is an HTTP response. Nil before it has been received, and for a `file:` or `data:` URL.
  package var httpResponse: HTTPURLResponse? { transfer?.httpResponse }

  /// The object that uses the task, such as Alamofire's `Request`. The task retains its owner until it has completed.
  package var owner: (any AnyObject & Sendable)? {
    get { mutableState.withLock { $0.owner } }
    set { mutableState.withLock { $0.owner = newValue } }
  }

  /// The receive window of a streamed body: the maximum number of bytes that are received before `extendWindow(by:)` permits more.
  /// If nil, the body isn't streamed: the transfer extends the session's window itself, when this task has returned from `receive`.
  /// Must be set before the task is resumed.
  package var windowBytes: Int? {
    get {
      let byteCount = streamWindowBytes.load(ordering: .relaxed)
      return byteCount < 0 ? nil : byteCount
    }
    set { streamWindowBytes.store(newValue ?? -1, ordering: .relaxed) }
  }

  /// Extends the receive window of a streamed body, so that the task may receive `byteCount` more bytes. Has no effect if the body
  /// isn't streamed.
  package func extendWindow(by byteCount: Int) { transfer?.extendWindow(by: byteCount) }

  /// Discards the rest of the response's body. The task then completes as if it had received the entire body. Has no effect if the
  /// task's transfer doesn't use HTTP, for example for a `file:` URL.
  func discardBody() { (transfer as? Transfer)?.discardBody() }

  /// Discards the rest of the response's body and sends another request, whose response becomes the task's response. Has no effect
  /// if the task's transfer doesn't use HTTP.
  func sendInstead(_ request: URLRequest) throws(URLError) { try (transfer as? Transfer)?.sendInstead(request) }

  var session: URLSession? { mutableState.withLock { $0.session } }
  var transfer: (any TaskTransfer)? { mutableState.withLock { $0.transfer } }

  /// Whether the session's `getAllTasks` lists the task: the task hasn't completed, and it was resumed at least once or was created
  /// by an earlier process.
  var isListed: Bool {
    mutableState.withLock { state in
      if case .unstarted = state.stage, !state.isRestored { return false }
      return state.state == .running || state.state == .suspended
    }
  }

  /// A textual description of the task: its number, request and state, and the status code or the error if there is one.
  open override var description: String {
    let request = currentRequest.map(ReadableText.request) ?? "no request"
    var parts = ["\(taskIdentifier)", request, "\(state)"]
    if let httpResponse { parts.append("status \(httpResponse.statusCode)") }
    if let error { parts.append("error: \(ReadableText.error(error))") }
    if let taskDescription { parts.append(taskDescription) }
    return "\(type(of: self))(\(parts.joined(separator: ", ")))"
  }

  // MARK: TransferObserver, as far as subclasses override it

  func transfer(
    isRedirectedTo request: URLRequest, by response: HTTPURLResponse,
    answer: @escaping @Sendable (URLRequest?) -> Void
  ) {
    notifyDelegate(or: { answer(request) }) { session, delegate in
      delegate.urlSession(
        session, task: self, willPerformHTTPRedirection: response, newRequest: request, completionHandler: answer)
    }
  }

  func transferDidEnd(_ error: URLError?) { complete(error) }
}

extension URLSessionTask {
  // MARK: The start

  /// The earliest begin date that the caller has set. Nil if there is none.
  var earliestStart: Date? { option { $0.earliestBeginDate } }

  /// Starts the task immediately or, if it has an earliest begin date, at that date. The timer retains neither the task nor the
  /// session.
  func startWhenDue(in session: URLSession) {
    guard let date = earliestStart else { return start(in: session) }
    DispatchQueue.global().asyncAfter(deadline: .after(max(0, date.timeIntervalSinceNow))) { [weak self] in
      guard let self, self.isListed, let session = self.session else { return }
      session.delivery.perform { self.beginDelayed(in: session) }
    }
  }

  private func beginDelayed(in session: URLSession) {
    guard let request = firstRequest else { return start(in: session) }
    askDelegate(beforeSending: request, in: session) { self.start(with: $0, in: session) }
  }

  /// Asks the delegate, on its queue, about a request that is sent late. `begin` receives the request that the delegate has
  /// returned in its place, or nil. It isn't called if the delegate cancels the task.
  func askDelegate(
    beforeSending request: URLRequest, in session: URLSession, then begin: @escaping @Sendable (URLRequest?) -> Void
  ) {
    guard let delegate = delegates?.task else { return begin(nil) }
    delegate.urlSession(session, task: self, willBeginDelayedRequest: request) { disposition, new in
      switch disposition {
      case .continueLoading: begin(nil)
      case .useNewRequest: begin(new ?? request)
      case .cancel: self.cancel()
      }
    }
  }

  // MARK: Options

  /// Returns the value that `read` finds in the task's options, or nil if the task has no options. `read` must not call the task.
  func option<Value: Sendable>(_ read: (TaskOptions) -> Value?) -> Value? {
    guard hasOptions.load(ordering: .acquiring) else { return nil }
    return mutableState.withLock { state in if let options = state.options { read(options) } else { nil } }
  }

  /// Creates the task's options if necessary, and changes them. Returns the result of `change`, which must not call the task, and
  /// whose result the caller must use to release objects only outside the lock.
  func changeOptions<Value: Sendable>(_ change: (TaskOptions) -> Value) -> Value {
    mutableState.withLock { state in
      let options = state.options ?? TaskOptions()
      if state.options == nil {
        state.options = options
        hasOptions.store(true, ordering: .releasing)
      }
      return change(options)
    }
  }

  /// The object that receives the response in place of the delegates. Nil if there is none.
  var collector: (any TaskCollector)? { option { $0.collector } }

  /// Sets the object that receives the response in place of the delegates. Called before the task is resumed.
  func setCollector(_ collector: any TaskCollector) { changeOptions { $0.collector = collector } }

  /// The delegate that the caller has set for this task. Nil if there is none.
  var ownDelegate: (any URLSessionTaskDelegate)? { option { $0.own } }

  // MARK: Priorities

  /// The priority that was set for the task. Nil if the default priority applies.
  var explicitPriority: Float? { option { $0.priority } }

  /// The default priority of tasks: 0.5.
  public static var defaultPriority: Float { 0.5 }
  /// A priority below the default priority: 0.25.
  public static var lowPriority: Float { 0.25 }
  /// A priority above the default priority: 0.75.
  public static var highPriority: Float { 0.75 }
}

extension URLSessionTask: ProgressReporting {
  /// Makes the task follow `progress`: cancels, suspends or resumes the task when the progress is canceled, paused or resumed.
  func control(_ progress: Progress) {
    progress.cancellationHandler = { [weak self] in self?.cancel() }
    progress.pausingHandler = { [weak self] in self?.suspend() }
    progress.resumingHandler = { [weak self] in self?.resume() }
  }

  /// Updates the task's progress. Has no effect unless a caller has read `progress` before.
  func updateProgress(isComplete: Bool = false) {
    guard hasProgress.load(ordering: .acquiring), let progress = option({ $0.progress }) else { return }
    let done = countOfBytesSent + countOfBytesReceived
    let (toSend, toReceive) = (countOfBytesExpectedToSend, countOfBytesExpectedToReceive)
    // A total of 0 would make the progress indeterminate, and Foundation traps when a positive total becomes 0.
    if isComplete {
      progress.totalUnitCount = max(1, done)
    } else if toSend >= 0, toReceive >= 0 {
      // A server may announce any length.
      let (sum, isTooLarge) = toSend.addingReportingOverflow(toReceive)
      let total = isTooLarge ? Int64.max : sum
      if total > 0 { progress.totalUnitCount = total }
    }
    progress.completedUnitCount = isComplete ? max(1, done) : done
  }
}

extension URLSessionTask: RegistryMember {}

// Unchecked because the lock of the task's `mutableState` guards all properties.
/// The settings of a task that most tasks don't need, such as the task's own delegate and the object that calls its completion
/// handler. An object, so that tasks without such settings stay small.
final class TaskOptions: @unchecked Sendable {
  /// The delegate that the caller has set for this task. Nil if there is none.
  var own: (any URLSessionTaskDelegate)?
  /// The object that receives the response in place of the delegates, and calls the task's completion handler or passes the body to
  /// an asynchronous sequence. Nil if there is none.
  var collector: (any TaskCollector)?
  /// The delegates that the task calls: `own` or, for the protocols to which it doesn't conform, the session's delegate. Nil if
  /// `own` is nil.
  var delegates: URLSession.Delegates?
  var earliestBeginDate: Date?
  var byteCountExpectedToSend = NSURLSessionTransferSizeUnknown
  var byteCountExpectedToReceive = NSURLSessionTransferSizeUnknown
  var priority: Float?
  var progress: Progress?
  /// The request that was most recently passed to a URLProtocol class or object of the task. Nil if there has been none.
  var protocolRequest: URLRequest?

  /// Removes and returns the task's delegates after the task has completed. The caller must release them outside the lock.
  func takeDelegates() -> some Sendable { (own.take(), collector.take(), delegates.take()) }
}

/// The length of a body or file, as tasks report it, if the length is unknown: -1.
public let NSURLSessionTransferSizeUnknown: Int64 = -1
