// ProtocolTransfer: the transfer of a task whose request a URLProtocol answers.

import Foundation
import LupineEngine
import Synchronization

/// Lets a ``URLProtocol`` answer a task's request, and reports the response to the task in the same way as ``Transfer``, which
/// receives the response of a server.
///
/// The URL protocol may report events on any thread. The transfer queues the events, and delivers them one at a time on the
/// delivery queue. An event waits while the task is suspended, and while the task hasn't answered an earlier event. After a
/// redirect, the transfer stops the URL protocol, and another transfer performs the redirected request.
final class ProtocolTransfer: TaskTransfer {
  enum Event {
    case response(URLResponse)
    case body(Data)
    case redirect(Redirect)
    case challenge(URLAuthenticationChallenge)
    case end((any Error)?)
  }

  /// A redirect that a URLProtocol has reported.
  struct Redirect {
    /// The redirected request that the URL protocol proposes.
    var request: URLRequest
    let response: URLResponse
    /// The body of the redirect response, which the task receives if it doesn't follow the redirect.
    var body = Data()
    /// The error with which the redirect rule has refused the redirect because of its response. Nil if the rule has permitted the
    /// response's redirect, or doesn't know the response.
    var refusal: EngineError?

    /// Returns the redirect as the task's delegate decides about it. `sent` is the URL of the latest request for an `http` or
    /// `https` URL, or nil if there was none.
    func proposal(after sent: URL?, _ rule: RedirectRule) -> RedirectProposal {
      refusal.map { RedirectProposal(request.url, refusal: $0) } ?? RedirectProposal(request.url, after: sent, rule)
    }
  }

  private enum Phase {
    case unanswered
    case answered
    /// The URL protocol has reported a redirect. The associated transfer performs the redirected request.
    case redirected(any TaskTransfer)
    case ended
  }

  // Unchecked because URLProtocol isn't Sendable. Its methods are called only on the queue `loading`.
  /// The URL protocol that answers the request.
  private struct Loader: @unchecked Sendable {
    let urlProtocol: URLProtocol
  }

  private struct State: ~Copyable {
    /// The request that the URL protocol answers.
    var request: URLRequest
    /// Whether the transfer has asked the session's delegate for the request's body stream and hasn't received the stream yet.
    var awaitsStream: Bool
    var phase = Phase.unanswered
    /// The task to which events are delivered. Nil after the transfer has ended or was redirected.
    var task: URLSessionTask?
    var loader: Loader?
    var events: [Event] = []
    /// Whether the URL protocol has reported neither a response nor its end.
    var awaitsResponse = true
    /// The parts of the body that the URL protocol has reported before the response. They are delivered after the response.
    var earlyParts: [Data] = []
    /// The progress of the delivery of one event, and of the task's answer to it. A step is an event that is being delivered to the
    /// task, or whose delivery has been scheduled.
    var turn = DeliveryTurn.free
    var demand = TransferDemand()
    var delivered = DeliveredResponse()
    var failure: (any Error)?

    var successor: (any TaskTransfer)? { if case .redirected(let next) = phase { next } else { nil } }
    var isOver: Bool { if case .ended = phase { true } else { successor != nil } }

    /// Removes and returns the next event to deliver to the task. Returns nil if no event can be delivered now.
    mutating func takeEvent() -> Event? {
      if isOver { return nil }
      if demand.isCanceled { return .end(URLError(.cancelled)) }
      guard !demand.isSuspended, !turn.isAsked, !events.isEmpty else { return nil }
      return events.removeFirst()
    }
  }

  private let type: URLProtocol.Type
  private let delivery: SerialQueue
  private let history: RedirectHistory
  /// The transfer over HTTP that ended with a redirect to this transfer's request. Nil if no server redirected to the request.
  private let predecessor: (any TaskTransfer)?
  private let state: Mutex<State>
  /// The queue on which the URL protocol is started and stopped. The protocol may block this queue.
  private let loading = DispatchQueue(label: "lupine.protocol")

  /// - Parameters:
  ///   - request: The request that the URL protocol answers, with the session's fields and the task's body.
  ///   - type: The URL protocol class that answers the request.
  ///   - history: The redirects that led to the request.
  ///   - predecessor: The transfer over HTTP that ended with a redirect to the request, or nil. The task's metrics include the
  ///     transactions of this transfer.
  ///   - awaitsStream: Whether the session's delegate must provide the request's body stream first.
  ///   - delivery: The queue on which the task's methods are called.
  init(
    _ request: URLRequest, by type: URLProtocol.Type, history: RedirectHistory, after predecessor: (any TaskTransfer)?,
    awaitsStream: Bool, delivery: SerialQueue, task: URLSessionTask
  ) {
    self.predecessor = predecessor
    self.type = type
    self.history = history
    self.delivery = delivery
    state = Mutex(State(request: request, awaitsStream: awaitsStream, task: task))
  }

  // MARK: Control

  func send() {
    let (task, awaitsStream) = state.withLock { state in
      state.delivered.start()
      return (state.task, state.awaitsStream)
    }
    guard awaitsStream, let task else { return load() }
    task.askForBodyStream { self.receive($0) }
  }

  /// Receives the body stream from the session's delegate, and starts the URL protocol. Only the first call has an effect.
  private func receive(_ stream: Result<BodyStream, any Error>) {
    let awaited = state.withLock { exchange(&$0.awaitsStream, with: false) ? $0.request : nil }
    guard var request = awaited else { return }
    switch stream {
    case .success(let stream) where stream.isExhausted:
      add(.end(URLError(.requestBodyStreamExhausted, BodyStream.exhausted)))
    case .success(let stream):
      request.httpBodyStream = stream.stream
      state.withLock { [request] in $0.request = request }
      load()
    case .failure(let error): add(.end(error))
    }
  }

  private func load() {
    let client = ProtocolClient(self)
    loading.async {
      let (task, request) = self.state.withLock { ($0.demand.isCanceled ? nil : $0.task, $0.request) }
      guard let task else { return }
      task.protocolRequest = request
      let loader = Loader(urlProtocol: self.type.init(task: task, cachedResponse: nil, client: client))
      self.state.withLock { $0.loader = loader }
      loader.urlProtocol.startLoading()
    }
  }

  func cancel() {
    let successor = state.withLock { state in
      state.demand.cancel()
      return state.successor
    }
    if let successor { successor.cancel() } else { advance() }
  }

  func setSuspended(_ isSuspended: Bool, change: Int) {
    let successor = state.withLock { state in
      _ = state.demand.setSuspended(isSuspended, change: change)
      return state.successor
    }
    if let successor { successor.setSuspended(isSuspended, change: change) } else { advance() }
  }

  func setStreamingObserver(_ observer: any TransferObserver) {
    guard let task = observer as? URLSessionTask else { return }
    // The previous task is released outside the lock. After a redirect, only the next transfer has a task.
    let (successor, _) = state.withLock { state -> ((any TaskTransfer)?, URLSessionTask?) in
      defer { if state.successor == nil { state.task = task } }
      return (state.successor, state.task)
    }
    successor?.setStreamingObserver(task)
  }

  func extendWindow(by byteCount: Int) { state.withLock { $0.successor }?.extendWindow(by: byteCount) }

  var currentRequest: URLRequest {
    let (successor, request) = state.withLock { ($0.successor, $0.request) }
    return successor?.currentRequest ?? request
  }
  var response: URLResponse? {
    let (successor, response) = state.withLock { ($0.successor, $0.delivered.response) }
    return successor?.response ?? response
  }
  var receivedByteCount: Int64 {
    let (successor, count) = state.withLock { ($0.successor, $0.delivered.receivedByteCount) }
    return successor?.receivedByteCount ?? count
  }
  var sentByteCount: Int64 { state.withLock { $0.successor }?.sentByteCount ?? 0 }
  var bodyByteCount: UInt64? {
    let (successor, request, awaitsStream) = state.withLock { ($0.successor, $0.request, $0.awaitsStream) }
    if let successor { return successor.bodyByteCount }
    switch request.body {
    case .none where awaitsStream: return nil
    case .none: return 0
    case .data(let data): return UInt64(data.count)
    case .stream: return nil
    }
  }
  /// The error with which the transfer has failed, of any type if the URL protocol has reported it. Nil if it hasn't failed.
  var failure: (any Error)? {
    let (successor, failure) = state.withLock { ($0.successor, $0.failure) }
    return (successor as? ProtocolTransfer)?.failure ?? failure
  }

  var isServed: Bool { state.withLock { $0.successor }?.isServed ?? false }
  func takeStorable() -> StorableResponse? { state.withLock { $0.successor }?.takeStorable() }

  // MARK: Events

  /// Queues an event that the URL protocol has reported. Has no effect after a redirect or the end of the transfer.
  func add(_ event: Event) {
    state.withLock { state in
      if state.isOver { return }
      switch event {
      case .body(let data) where state.awaitsResponse: state.earlyParts.append(data)
      case .response:
        state.events.append(event)
        state.events += state.earlyParts.map { .body($0) }
        (state.awaitsResponse, state.earlyParts) = (false, [])
      case .end(let error):
        state.events.append(.end(error ?? (state.earlyParts.isEmpty ? nil : noResponse)))
        (state.awaitsResponse, state.earlyParts) = (false, [])
      case .body, .redirect, .challenge: state.events.append(event)
      }
    }
    advance()
  }

  /// Delivers the next event to the task, unless another event is being delivered or the next event must wait.
  private func advance() {
    let event = state.withLock { state -> Event? in
      guard !state.turn.isStepping, let event = state.takeEvent() else { return nil }
      state.turn.begin()
      return event
    }
    guard let event else { return }
    delivery.perform {
      self.deliver(event)
      self.state.withLock { $0.turn.end() }
      self.advance()
    }
  }

  private func deliver(_ event: Event) {
    guard let task = state.withLock({ $0.demand.isCanceled ? nil : $0.task }) else {
      return complete(URLError(.cancelled))
    }
    switch event {
    case .response(let response): present(response, to: task)
    case .body(let data):
      guard !data.isEmpty else { return }
      state.withLock { $0.delivered.receivedByteCount += Int64(data.count) }
      task.transfer(didReceive: data)
    case .redirect(let redirect): ask(redirect, of: task)
    case .challenge(let challenge): ask(challenge, of: task)
    case .end(let error): complete(error)
    }
  }

  /// Passes the first response to the task. Returns whether the transfer must wait until the task accepts or refuses the response.
  @discardableResult
  private func present(_ response: URLResponse, to task: URLSessionTask) -> Bool {
    let isFirst = state.withLock { state in
      guard case .unanswered = state.phase else { return false }
      state.phase = .answered
      state.delivered.receive(response)
      return true
    }
    guard isFirst, task.decidesOnResponse else { return false }
    state.withLock { $0.turn.ask() }
    task.transfer(didReceive: response) { isWanted in
      self.answer { if !isWanted { $0.demand.cancel() } }
    }
    return true
  }

  /// Continues after the task has answered an event: applies `change` to the state, and delivers the next event. Only the first
  /// answer to an event has an effect.
  private func answer(_ change: (inout State) -> Void) {
    state.withLock { state in
      if state.turn.answered() { change(&state) }
    }
    advance()
  }

  private func ask(_ redirect: Redirect, of task: URLSessionTask) {
    guard history.count < task.redirectRule.countMax else { return complete(URLError(.httpTooManyRedirects)) }
    let sent = state.withLock { $0.request }
    guard let url = redirect.response.url ?? sent.url,
      let head = redirect.response as? HTTPURLResponse
        ?? HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil)
    else { return complete(URLError(.badServerResponse)) }
    var redirect = redirect
    redirect.request = task.redirectRule.limited(redirect.request, after: sent)
    state.withLock { $0.turn.ask() }
    task.transfer(isRedirectedTo: redirect.request, by: head) { [redirect] chosen in
      self.delivery.perform { self.follow(chosen, redirect, head) }
    }
  }

  /// Continues with the request that the task has chosen after a redirect. If the task has chosen none, delivers the redirect's
  /// response instead. The question counts as unanswered until the
  /// state is consistent again, so that no other event is delivered.
  private func follow(_ chosen: URLRequest?, _ redirect: Redirect, _ head: HTTPURLResponse) {
    let (answered, sent) = state.withLock { state -> (URLSessionTask?, URLRequest) in
      guard state.turn.isAsked, !state.demand.isCanceled else { return (nil, state.request) }
      return (state.task, state.request)
    }
    guard let task = answered else { return }
    guard let chosen else {
      // This end also makes the session ignore all later reports of the URL protocol.
      state.withLock { ($0.events, $0.earlyParts) = ([.body(redirect.body), .end(nil)], []) }
      if !present(head, to: task) { state.withLock { _ = $0.turn.answered() } }
      return advance()
    }
    let proposal = redirect.proposal(after: history.httpURL(before: sent), task.redirectRule)
    if let refusal = proposal.refusal(of: chosen.url) { return complete(URLError(refusal, url: sent.url)) }
    let limited = task.redirectRule.limited(chosen, after: redirect.request)
    do {
      let next = try task.makeTransfer(afterRedirectTo: limited, from: sent, history)
      let demand = state.withLock { state in
        state.phase = .redirected(next)
        (state.task, state.events, state.earlyParts) = (nil, [], [])
        _ = state.turn.answered()
        return state.demand
      }
      stop()
      if demand.isSuspended { next.setSuspended(true, change: demand.latestChange) }
      if demand.isCanceled { next.cancel() }
      next.send()
    } catch {
      complete(error)
    }
  }

  private func ask(_ challenge: URLAuthenticationChallenge, of task: URLSessionTask) {
    state.withLock { $0.turn.ask() }
    task.ask(challenge) { disposition, credential in
      self.answer { _ in }
      guard let sender = challenge.sender else { return }
      self.loading.async {
        switch (disposition, credential) {
        case (.useCredential, let credential?): sender.use(credential, for: challenge)
        case (.useCredential, nil): sender.continueWithoutCredential(for: challenge)
        case (.cancelAuthenticationChallenge, _): sender.cancel(challenge)
        case (.rejectProtectionSpace, _): sender.rejectProtectionSpaceAndContinue(with: challenge)
        default: sender.performDefaultHandling(for: challenge)
        }
      }
    }
  }

  private func complete(_ error: (any Error)?) {
    let task = state.withLock { state -> URLSessionTask? in
      switch state.phase {
      case .ended, .redirected: return nil
      case .unanswered, .answered: break
      }
      state.phase = .ended
      (state.events, state.earlyParts) = ([], [])
      state.delivered.end()
      state.failure = error
      return state.task.take()
    }
    guard let task else { return }
    stop()
    task.transferDidEnd(
      error.map { $0 as? URLError ?? URLError(.unknown, userInfo: [NSUnderlyingErrorKey: $0]) })
  }

  /// Stops the URL protocol, but not before the call that starts it has returned.
  private func stop() {
    loading.async { self.state.withLock { $0.loader.take() }?.urlProtocol.stopLoading() }
  }

  private var noResponse: URLError {
    URLError(.badServerResponse, "\(type) reported a part of the body, but no response. Report a URLResponse too.")
  }

  // MARK: Metrics

  /// The values from which the task creates its metrics. They contain the transactions of the predecessor, one transaction without
  /// a connection for the URL protocol's response and, after a redirect, the transactions of the next transfer.
  var measurements: URLSessionTaskMetrics.Values {
    let (own, successor) = state.withLock { ($0.delivered.measurements(of: $0.request), $0.successor) }
    let all = successor.map { own.redirected(to: $0.measurements) } ?? own
    return predecessor.map { $0.measurements.redirected(to: all) } ?? all
  }
}

/// The client of a ``URLProtocol``, which passes the events that the URL protocol reports to the task's transfer. It references the
/// transfer weakly, because the transfer retains the URL protocol.
final class ProtocolClient: NSObject, URLProtocolClient, Sendable {
  private let add: @Sendable (ProtocolTransfer.Event) -> Void

  init(_ transfer: ProtocolTransfer) { add = { [weak transfer] in transfer?.add($0) } }

  func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {
    report(ProtocolTransfer.Redirect(request: request, response: redirectResponse))
  }

  /// Reports a redirect with its body and, if the session's redirect rule refuses the redirect, the rule's error.
  func report(_ redirect: ProtocolTransfer.Redirect) { add(.redirect(redirect)) }

  func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {
    add(.response(cachedResponse.response))
    add(.body(cachedResponse.data))
    add(.end(nil))
  }

  func urlProtocol(
    _ protocol: URLProtocol, didReceive response: URLResponse, cacheStoragePolicy policy: URLCache.StoragePolicy
  ) { add(.response(response)) }

  func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { add(.body(data)) }

  func urlProtocolDidFinishLoading(_ protocol: URLProtocol) { add(.end(nil)) }

  func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) { add(.end(error)) }

  func urlProtocol(_ protocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
    add(.challenge(challenge))
  }

  func urlProtocol(_ protocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {}
}
