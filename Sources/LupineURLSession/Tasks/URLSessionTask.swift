// A task as Foundation knows it: one request with its redirects, from its start to its completion.

public import Foundation
import LupineEngine
import Synchronization

// Unchecked since the class has subclasses: all state is constant or in the Mutex.
/// One request under way. It is made suspended, and runs once it is resumed.
open class URLSessionTask: NSObject, TransferObserver, @unchecked Sendable {
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
    case transferring(any TaskTransfer)
    /// It couldn't be started, and is about to complete.
    case failed
  }

  private struct MutableState {
    var state = State.suspended
    var stage = Stage.unstarted
    var session: URLSession?
    var owner: (any AnyObject & Sendable)?
    var error: (any Error)?
    var taskDescription: String?
    var windowBytes: Int?
    var reportedSentByteCount: Int64 = 0
    /// Whether it has ended, and its delegate is told.
    var isConcluding = false

    var transfer: (any TaskTransfer)? {
      if case .transferring(let transfer) = stage { transfer } else { nil }
    }
  }

  /// A number that no other task of the session has.
  public let taskIdentifier: Int
  /// The request that the task was made with.
  public let originalRequest: URLRequest?

  private let client: EngineClient
  private let mutableState: Mutex<MutableState>
  package let place = RegistryPlace()

  init(_ session: URLSession, _ request: URLRequest?, identifier: Int) {
    taskIdentifier = identifier
    originalRequest = request
    client = session.client
    mutableState = Mutex(MutableState(session: session))
  }

  // MARK: What a subclass does

  /// What is sent in place of the request's own body.
  var content: UploadContent? { nil }

  /// Calls `begin`, at once or later, with the request to send.
  func start(in session: URLSession) { begin(session, .success(originalRequest)) }

  /// The transfers among which the task's transfer delivers: on the delegate queue, unless a subclass uses another.
  func readyTransfers(of session: URLSession) -> ReadyTransfers { session.readyTransfers }

  /// The queue on which the task's transfer delivers.
  final func delivery(of session: URLSession) -> SerialQueue { readyTransfers(of: session).queue }

  /// Whether `receive` is to be called with the response's head.
  var decidesOnResponse: Bool { false }

  /// The response's head came.
  func receive(_ response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) { answer(true) }

  /// A piece of the body came.
  func receive(_ body: Data) {}

  /// The transfer has ended: `finish` is to be called, at once or later, with the error that the task completes with.
  func conclude(_ error: URLError?, finish: @escaping @Sendable ((any Error)?) -> Void) { finish(error) }

  // MARK: Control

  /// Starts the task, or goes on with it.
  open func resume() {
    enum Action { case begin(URLSession), steer(any TaskTransfer), nothing }
    let action = mutableState.withLock { state -> Action in
      guard state.state == .suspended, let session = state.session else { return .nothing }
      state.state = .running
      switch state.stage {
      case .unstarted:
        state.stage = .starting
        return .begin(session)
      case .starting, .failed: return .nothing
      case .transferring(let transfer): return .steer(transfer)
      }
    }
    switch action {
    case .begin(let session): start(in: session)
    case .steer(let transfer): steer(transfer)
    case .nothing: break
    }
  }

  /// Stops the task: nothing more is read, and the timeouts stand still, but for those of opening a connection.
  open func suspend() {
    let transfer = mutableState.withLock { state -> (any TaskTransfer)? in
      guard state.state == .running else { return nil }
      state.state = .suspended
      return state.transfer
    }
    if let transfer { steer(transfer) }
  }

  /// Ends the task; it completes with `URLError.cancelled`.
  open func cancel() {
    enum Action { case complete(URLSession), cancel(any TaskTransfer), nothing }
    let action = mutableState.withLock { state -> Action in
      guard state.state == .running || state.state == .suspended, let session = state.session else { return .nothing }
      if case .failed = state.stage { return .nothing }
      state.state = .canceling
      return state.transfer.map { .cancel($0) } ?? .complete(session)
    }
    switch action {
    case .complete(let session): session.delivery.perform { self.transferDidComplete(URLError(.cancelled)) }
    case .cancel(let transfer): transfer.cancel()
    case .nothing: break
    }
  }

  /// Sends the request, or fails for what was in its way.
  func begin(_ session: URLSession, _ request: Result<URLRequest?, URLError>) {
    do {
      guard let request = try request.get() else { throw URLError(.badURL) }
      guard session.owns(self) else {
        throw URLError(
          .cancelled,
          userInfo: [NSLocalizedDescriptionKey: "The session was invalidated before the task was made. Make a new one."]
        )
      }
      let transfer = try makeTransfer(request, in: session)
      let isWanted = mutableState.withLock { state in
        guard state.state == .running || state.state == .suspended else { return false }
        state.stage = .transferring(transfer)
        return true
      }
      guard isWanted else { return }
      if self.state == .suspended { steer(transfer) }
      transfer.send()
    } catch {
      let error = error as? URLError ?? URLError(.unknown)
      let isFirst = mutableState.withLock { state in
        // Whoever has cancelled the task meanwhile completes it.
        guard state.state != .canceling else { return false }
        state.stage = .failed
        return true
      }
      if isFirst { session.delivery.perform { self.transferDidComplete(error) } }
    }
  }

  /// Over HTTP, or from this machine for what the engine refuses and ``LocalContent`` serves. In that order, so that a
  /// request over HTTP pays nothing for it.
  private func makeTransfer(_ request: URLRequest, in session: URLSession) throws -> any TaskTransfer {
    let body = try makeBody()
    do throws(URLError) {
      return Transfer(
        try client.convert(request, body: body), from: request, client: client,
        delivery: readyTransfers(of: session), windowBytes: windowBytes, observer: self)
    } catch {
      guard error.code == .unsupportedURL, content == nil, let url = request.url, LocalContent.serves(url) else {
        throw error
      }
      return LocalTransfer(
        request, files: session.fileTransfers.queue, delivery: delivery(of: session), windowBytes: windowBytes,
        observer: self)
    }
  }

  /// Brings the transfer to where the task stands. Another thread may move the task meanwhile, so it is asked again.
  private func steer(_ transfer: any TaskTransfer) {
    var isPaused: Bool
    repeat {
      isPaused = state == .suspended
      transfer.setPaused(isPaused)
    } while (state == .suspended) != isPaused
  }

  // MARK: What is known of it

  /// Where the task stands.
  open var state: State { mutableState.withLock { $0.state } }
  /// The request as redirects have left it.
  open var currentRequest: URLRequest? { transfer?.currentRequest ?? originalRequest }
  /// The response's head, once it came.
  open var response: URLResponse? { transfer?.response }
  /// Why the task failed, once it has completed.
  open var error: (any Error)? { mutableState.withLock { $0.error } }
  /// Bytes of the body that came, decoded.
  open var countOfBytesReceived: Int64 { transfer?.receivedByteCount ?? 0 }
  /// The length of the body as far as it is known, otherwise `NSURLSessionTransferSizeUnknown`.
  open var countOfBytesExpectedToReceive: Int64 {
    transfer?.response?.expectedContentLength ?? NSURLSessionTransferSizeUnknown
  }
  /// Bytes of the request's body that were sent. It never goes back: a body that is sent again, because of a redirect, a
  /// challenge or a connection that was found closed, counts again only beyond what was counted.
  open var countOfBytesSent: Int64 { transfer?.sentByteCount ?? 0 }
  /// The length of the request's body, 0 without one, or `NSURLSessionTransferSizeUnknown`.
  open var countOfBytesExpectedToSend: Int64 {
    transfer.map { $0.bodyByteCount.map { Int64(clamping: $0) } ?? NSURLSessionTransferSizeUnknown }
      ?? bodyByteCountExpected
  }
  /// A text of the caller's own.
  open var taskDescription: String? {
    get { mutableState.withLock { $0.taskDescription } }
    set { mutableState.withLock { $0.taskDescription = newValue } }
  }

  /// What was measured, for when the transfer has ended.
  var metrics: URLSessionTaskMetrics { URLSessionTaskMetrics(transfer) }
  /// The response with its HTTP parts; nil for a `file:` or `data:` URL.
  package var httpResponse: HTTPURLResponse? { transfer?.httpResponse }

  /// The object of the layer above for which the task works, such as Alamofire's request. The task keeps it until it has
  /// completed.
  package var owner: (any AnyObject & Sendable)? {
    get { mutableState.withLock { $0.owner } }
    set { mutableState.withLock { $0.owner = newValue } }
  }

  /// How many bytes of the body may come before some were granted again; without a limit if nil. To be set before the
  /// task is resumed.
  package var windowBytes: Int? {
    get { mutableState.withLock { $0.windowBytes } }
    set { mutableState.withLock { $0.windowBytes = newValue } }
  }

  /// Lets that many more bytes of the body come.
  package func grant(_ byteCount: Int) { transfer?.grant(byteCount) }

  /// Reads no more of the body; the task completes as if all of it had come.
  func discardBody() { exchanges?.discardBody() }

  /// Reads no more of the body, and sends another request; its response is then the task's.
  func sendInstead(_ request: URLRequest) throws(URLError) {
    try exchanges?.sendInstead(request)
  }

  var session: URLSession? { mutableState.withLock { $0.session } }
  private var transfer: (any TaskTransfer)? { mutableState.withLock { $0.transfer } }
  /// The transfer if it is one over HTTP.
  private var exchanges: Transfer? { transfer as? Transfer }

  /// The task's number, its request, its state, and the response or the error if there is one already.
  open override var description: String {
    let request = currentRequest.map(ReadableText.request) ?? "no request"
    var parts = ["\(taskIdentifier)", request, "\(state)"]
    if let httpResponse { parts.append("status \(httpResponse.statusCode)") }
    if let error { parts.append("error: \(error.localizedDescription)") }
    if let taskDescription { parts.append(taskDescription) }
    return "\(type(of: self))(\(parts.joined(separator: ", ")))"
  }

  // MARK: What the transfer says

  func transfer(
    isRedirectedTo request: URLRequest, by response: HTTPURLResponse,
    answer: @escaping @Sendable (URLRequest?) -> Void
  ) {
    tellDelegate(or: { answer(request) }) { session, delegate in
      delegate.urlSession(
        session, task: self, willPerformHTTPRedirection: response, newRequest: request, completionHandler: answer)
    }
  }

  func transfer(
    isAskedFor challenge: URLAuthenticationChallenge,
    answer: @escaping @Sendable (URLAuthenticationChallenge.Outcome) -> Void
  ) {
    let answer: @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void = { disposition, credential in
      answer(challenge.outcome(of: disposition, credential: credential))
    }
    tellDelegate(or: { answer(.performDefaultHandling, nil) }) { session, delegate in
      delegate.urlSession(session, task: self, didReceive: challenge, completionHandler: answer)
    }
  }

  func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) {
    receive(response, answer: answer)
  }

  func transfer(didReceive body: Data) { receive(body) }

  func transfer(didSend byteCount: Int64) {
    tellDelegate(or: {}) { [expected = countOfBytesExpectedToSend] session, delegate in
      let before = self.mutableState.withLock { state in
        defer { state.reportedSentByteCount = byteCount }
        return state.reportedSentByteCount
      }
      delegate.urlSession(
        session, task: self, didSendBodyData: byteCount - before, totalBytesSent: byteCount,
        totalBytesExpectedToSend: expected)
    }
  }

  func transferDidComplete(_ error: URLError?) {
    // A task may be cancelled at the moment when it turns out that its request can't be sent.
    let isNew = mutableState.withLock { state in
      defer { state.isConcluding = true }
      return !state.isConcluding
    }
    guard isNew else { return }
    conclude(error) { error in
      // As `tellDelegate` does it, but by hand, since a closure would be allocated for every request.
      guard let session = self.session, let delegate = session.delegates?.task else { return self.complete(error) }
      if self.isDelegateQueueHere(session) { return self.complete(error, in: session, telling: delegate) }
      session.delivery.perform { self.complete(error, in: session, telling: delegate) }
    }
  }

  private func complete(
    _ error: (any Error)?, in session: URLSession, telling delegate: any URLSessionTaskDelegate
  ) {
    delegate.urlSession(session, task: self, didFinishCollecting: metrics)
    mutableState.withLock { state in
      state.state = .completed
      state.error = error
    }
    delegate.urlSession(session, task: self, didCompleteWithError: error)
    complete(error)
  }

  /// Whether what comes is dealt with where the delegate is called.
  private func isDelegateQueueHere(_ session: URLSession) -> Bool { delivery(of: session) === session.delivery }

  private func tellDelegate(
    or otherwise: () -> Void, _ call: @escaping @Sendable (URLSession, any URLSessionTaskDelegate) -> Void
  ) {
    guard let session, let delegate = session.delegates?.task else { return otherwise() }
    if isDelegateQueueHere(session) { return call(session, delegate) }
    session.delivery.perform { call(session, delegate) }
  }

  private func complete(_ error: (any Error)?) {
    // Let go of those who hold the task, outside the lock: what goes with the request may ask the task for something.
    let (session, owner) = mutableState.withLock { state in
      state.state = .completed
      state.error = error
      return (state.session.take(), state.owner.take())
    }
    session?.remove(self)
    // Perhaps the last reference, and what goes with a request is its user's: not under the lock.
    _ = owner
  }
}

extension URLSessionTask: RegistryMember {}

/// What counts of bytes say if they are not known: -1.
public let NSURLSessionTransferSizeUnknown: Int64 = -1
