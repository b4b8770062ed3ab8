// Transfer: executes the decisions of a `TransferState`, on the engine and on the session's queue.

import Foundation
import LupineAuthentication
import LupineEngine
import LupineLogin
import Synchronization

/// Performs the request of one task over HTTP: sends it, follows redirects, answers challenges and delivers the final response.
///
/// The engine reports events on the thread of an event loop, where they only change the `TransferState`. The transfer delivers them
/// later on the session's queue, together with the events of other transfers (``ReadyTransfers``). Only the `TransferState` makes
/// decisions. While the transfer holds the lock, it calls no method of the engine or of the observer.
final class Transfer: TaskTransfer, CacheReceiver, ReadyTransfer {
  /// A request that the transfer has sent, with its response and the engine's measurements. The task's metrics are created from
  /// attempts.
  struct Attempt: Sendable {
    let request: URLRequest
    let response: HTTPURLResponse?
    let metrics: ExchangeMetrics
  }

  struct Guarded: ~Copyable {
    var state: TransferState
    /// The handle of the latest exchange with the engine or the cache. Nil until the first exchange has been submitted.
    var handle: TransferHandle?
    /// The object that receives the transfer's events, usually the task. Nil after the transfer has ended. The observer retains the
    /// transfer, so the transfer must release the observer to end the retain cycle.
    var observer: (any TransferObserver)?
    /// The authentication of the task. Empty until it is first used. This is an array because an optional would take more memory in
    /// each transfer.
    var authentication: [TaskAuthentication] = []
    /// The wait for a network, which ends when it is released. Nil if the transfer isn't waiting for a network.
    var wait: PathWait?

    /// Removes and returns the objects that the transfer doesn't need after its end. The caller must release them outside the lock.
    mutating func release() -> some Sendable {
      (observer.take(), handle.take(), wait.take(), state.takeBody(), exchange(&authentication, with: []))
    }
  }

  let client: EngineClient
  private let delivery: ReadyTransfers
  private let windowBytes: Int
  private let isStreamed: Bool
  /// The object through which the task uses the session's cache. Nil if the session has no cache.
  let cache: TaskCache?
  /// The length of the first request's body in bytes, or nil if it is unknown. It doesn't change if a redirect removes the body.
  let bodyByteCount: UInt64?
  let guarded: Mutex<Guarded>

  /// Creates a transfer. The transfer sends nothing until `send` is called.
  ///
  /// - Parameters:
  ///   - request: The request to send, in the engine's form.
  ///   - urlRequest: The `URLRequest` from which `request` was converted.
  ///   - redirectCount: The number of earlier redirects, which URLProtocol objects have reported.
  ///   - client: The session's engine, which sends the requests.
  ///   - delivery: The object that makes the transfer deliver its events on the observer's queue.
  ///   - windowBytes: The receive window of a streamed body: the maximum number of bytes that are delivered before
  ///     `extendWindow(by:)` permits more. If nil, the body isn't streamed: the client's window applies, and the transfer extends
  ///     it when the observer has returned from the delivered pieces.
  ///   - cache: The object through which the task uses the session's cache, or nil if the session has no cache.
  ///   - observer: The object that receives the transfer's events, usually the session task.
  init(
    _ request: EngineRequest, from urlRequest: URLRequest, redirectCount: Int = 0, client: EngineClient,
    delivery: ReadyTransfers, windowBytes: Int?, cache: TaskCache? = nil, observer: any TransferObserver
  ) {
    self.client = client
    self.cache = cache
    self.delivery = delivery
    self.windowBytes = windowBytes ?? client.windowBytes
    isStreamed = windowBytes != nil
    bodyByteCount = request.body.byteCount
    guarded = Mutex(
      Guarded(
        state: TransferState(
          request, from: urlRequest, redirectRule: client.redirectRule, redirectCount: redirectCount,
          windowBytes: self.windowBytes, isStreamed: isStreamed, waitsForConnectivity: client.settings.waitsForNetwork),
        observer: observer))
  }

  // MARK: Events from the task

  func send() {
    if let submission = guarded.withLock({ $0.state.start() }) { submit(submission) }
  }

  func cancel() { apply { $0.cancel() } }

  func setSuspended(_ isSuspended: Bool, change: Int) { apply { $0.setSuspended(isSuspended, change: change) } }

  func extendWindow(by byteCount: Int) { apply { $0.extendWindow(by: byteCount) } }

  /// Discards the rest of the response's body. The transfer then ends as if it had received the entire body.
  func discardBody() { apply { $0.discardBody() } }

  /// Discards the rest of the response's body and sends another request. The response to that request replaces the current
  /// response. Must be called only if the observer's `decidesOnResponse` is true.
  func sendInstead(_ urlRequest: URLRequest) throws(URLError) {
    var request = try client.convert(urlRequest)
    request.callObserver = guarded.withLock { $0.state.request.callObserver }
    apply { [request] in $0.replace(with: request, from: urlRequest) }
  }

  func setStreamingObserver(_ observer: any TransferObserver) {
    // The previous observer is released outside the lock.
    let old = guarded.withLock { guarded in
      guarded.state.isStreamed = true
      return exchange(&guarded.observer, with: observer)
    }
    withExtendedLifetime(old) {}
  }

  // MARK: Properties

  var currentRequest: URLRequest { guarded.withLock { $0.state.urlRequest } }
  /// The origin of the request that the transfer has sent most recently.
  var currentOrigin: Origin { guarded.withLock { $0.state.request.uri.origin } }
  var response: URLResponse? { httpResponse }
  var httpResponse: HTTPURLResponse? { guarded.withLock { $0.state.response } }
  var receivedByteCount: Int64 { guarded.withLock { $0.state.receivedByteCount } }
  /// The number of bytes of the request's body that were sent so far. It never decreases: if the body is sent again after a
  /// redirect, after a challenge or on a new connection, only bytes beyond the previous number are counted.
  var sentByteCount: Int64 { guarded.withLock { $0.state.sentByteCount } }
  /// The requests that the transfer has sent, oldest first, with their responses and measurements.
  var attempts: [Attempt] {
    guarded.withLock { guarded in
      zip(guarded.state.performed, guarded.state.metrics).map { Attempt(request: $0.0, response: $0.1, metrics: $1) }
    }
  }

  // MARK: Events from the engine, on the loop's thread

  func receive(head: ResponseHead) -> BodyDisposition {
    let (disposition, isTrusted) = accept(head)
    if let cache {
      let isWanted = if case .deliver = disposition { true } else { false }
      cache.receive(head, isStorable: isTrusted && isWanted, to: { currentRequest }, of: client)
    }
    return disposition
  }

  func accept(_ head: ResponseHead) -> (disposition: BodyDisposition, isTrusted: Bool) {
    accept(head, verdict(on: head))
  }

  private func accept(
    _ head: ResponseHead, _ verdict: ResponseVerdict
  ) -> (disposition: BodyDisposition, isTrusted: Bool) {
    storeCookies(of: head)
    cache?.begin(head, to: { guarded.withLock { $0.state.request } })
    return (guarded.withLock { $0.state.receive(head, verdict: verdict) }, verdict == .trusted)
  }

  private func verdict(on head: ResponseHead) -> ResponseVerdict {
    guarded.withLock { guarded in
      if guarded.authentication.isEmpty { return .trusted }
      return client.authentication.withLock { guarded.authentication[0].verdict(on: head, &$0) }
    }
  }

  private func storeCookies(of head: ResponseHead) {
    guard client.wantsCookies(of: head) else { return }
    let (request, urlRequest) = guarded.withLock { ($0.state.request, $0.state.urlRequest) }
    guard urlRequest.httpShouldHandleCookies, !isFromProxy(head, to: request) else { return }
    client.storeCookies(of: head, from: request.uri, mainDocument: urlRequest.mainDocumentURL)
  }

  /// Returns whether the response comes from the proxy that forwards the request, so that it can't set cookies for the origin.
  /// Only a 407 response is known to be the proxy's.
  private func isFromProxy(_ head: ResponseHead, to request: EngineRequest) -> Bool {
    head.status == 407 && request.uri.origin.scheme == .http && client.proxy(for: request)?.scheme.speaksHTTP == true
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    cache?.receive(body: bytes)
    guarded.withLock { $0.state.receive(body: bytes) }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    switch result {
    case .success:
      cache?.responseEnded(isComplete: true)
      apply { $0.exchangeEnded(.success, metrics) }
    case .failure(let error):
      cache?.responseEnded(isComplete: false)
      if client.identities.isUsed { noteRefusal(error) }
      let identityRequest = error.requestedAuthorities.flatMap { authorities in
        choosesIdentity(guarded.withLock { $0.state.request }) ? authorities : nil
      }
      apply { $0.exchangeEnded(.failure(error), metrics, identityRequest: identityRequest) }
    }
  }

  func turnEnded(sentBodyByteCount: UInt64) { apply { $0.turnEnded(sent: sentBodyByteCount) } }

  // MARK: Events from the cache

  func confirm(_ head: ResponseHead) -> Bool {
    let verdict = verdict(on: head)
    guard verdict == .trusted else {
      _ = accept(head, verdict)
      return false
    }
    storeCookies(of: head)
    return true
  }

  func receive(served head: ResponseHead) -> BodyDisposition {
    cache?.beginServing()
    return guarded.withLock { $0.state.receive(head) }
  }

  func receive(served piece: Data) {
    if !piece.isEmpty { guarded.withLock { $0.state.receive(piece: piece.zeroBased) } }
  }

  func keep(_ storable: StorableResponse) { cache?.keep(storable) }

  func fail(_ error: URLError) { apply { $0.submissionFailed(error) } }

  func takeStorable() -> StorableResponse? { cache?.takeStorable() }

  func undecided(_ body: Data) -> StorableResponse? {
    guard let cache, let head = httpResponse else { return nil }
    return cache.undecided(head, body, of: currentRequest, client)
  }

  var isServed: Bool { cache?.isServed ?? false }

  // MARK: Actions

  /// Passes an event to the `TransferState`, and executes the action that the state returns.
  func apply(_ event: (inout TransferState) -> TransferState.Action?) {
    let (action, handle) = guarded.withLock { guarded -> (TransferState.Action?, TransferHandle?) in
      let action = event(&guarded.state)
      // The usual action needs no handle.
      if case .deliver? = action { return (action, nil) }
      return (action, guarded.handle)
    }
    if let action { perform(action, handle) }
  }

  /// Passes an event to the `TransferState`, and executes the actions that the state returns.
  func apply(_ event: (inout TransferState) -> [TransferState.Action]) {
    let (actions, handle) = guarded.withLock { (event(&$0.state), $0.handle) }
    for action in actions { perform(action, handle) }
  }

  // Not inlined, because each use of `apply` would contain a copy.
  @inline(never)
  private func perform(_ action: TransferState.Action, _ handle: TransferHandle?) {
    switch action {
    case .deliver: delivery.add(self)
    case .pause(let exchange):
      handle?.setPaused(true)
      apply { $0.flowChanged(exchange: exchange) }
    case .resume(let exchange):
      handle?.setPaused(false)
      apply { $0.flowChanged(exchange: exchange) }
    case .discardBody:
      if case .engine(let exchange)? = handle, let cache {
        cache.discardBody(of: exchange)
      } else {
        handle?.discardBody()
      }
    case .extendWindow(let byteCount): handle?.extendWindow(by: byteCount)
    case .cancel: handle?.cancel()
    }
  }

  func submit(_ submission: consuming TransferState.Submission) {
    // Before the first exchange, there is nothing that the cache must forget.
    if submission.exchange > 1 { cache?.prepareForRequest() }
    guard client.authentication.isUsed else {
      return submit(
        submission.request, submission.exchange, handlesCookies: submission.handlesCookies,
        cachePolicy: submission.cachePolicy)
    }
    let request = submission.request
    let proxy = client.proxy(for: request)
    let permitted = permittedLogins(for: request, via: proxy)
    let preparation = withAuthentication { task, session, state in
      task.prepare(request, via: proxy, permitted: permitted, certificate: state.latestCertificate, &session)
    }
    submit(submission, preparation)
  }

  /// Returns the logins that the task may send with a request before a challenge. Calls the session's credential storage.
  private func permittedLogins(for request: EngineRequest, via proxy: Proxy?) -> [Login] {
    let candidates = client.authentication.withLock { $0.candidates(for: request, via: proxy) }
    if candidates.isEmpty { return [] }
    let observer = guarded.withLock { $0.observer }
    return candidates.filter { login in
      // The answer to a challenge takes precedence over the storage's credential.
      if login.scheme == .digest, case .origin = login.party, let own = observer?.credential(for: login.space) {
        return PasswordCredential(own) == login.credential
      }
      return client.knownCredentials.permits(login, via: proxy)
    }
  }

  private func submit(_ submission: TransferState.Submission, _ preparation: TaskAuthentication.Preparation) {
    switch preparation {
    case .send(let request, let digest):
      submit(
        request, submission.exchange, handlesCookies: submission.handlesCookies, cachePolicy: submission.cachePolicy,
        digest: digest)
    case .start(let handshake) where handshake.mayBlock:
      DispatchQueue.global().async { self.submit(submission, after: handshake) }
    case .start(let handshake): submit(submission, after: handshake)
    case .fail(let failure): apply { $0.submissionFailed(URLError(failure, at: $0.urlRequest.url)) }
    }
  }

  private func submit(_ submission: TransferState.Submission, after handshake: TaskAuthentication.HandshakeStart) {
    let started = handshake.run()
    submit(submission, withAuthentication { task, session, _ in task.prepare(started, &session) })
  }

  private func submit(
    _ request: consuming EngineRequest, _ exchange: Int, handlesCookies: Bool, cachePolicy: URLRequest.CachePolicy?,
    digest: UInt64? = nil
  ) {
    do throws(URLError) {
      if handlesCookies { client.addCookies(to: &request) }
      if client.identities.isUsed, let authorities = identify(&request) {
        return apply { $0.identityRequested(from: authorities) }
      }
      // A request that authenticates a connection must be sent to the server, even if the cache could answer the request.
      if let cache, request.connectionDemand == nil {
        let answer = cache.answer(
          to: request, policy: cachePolicy, from: { currentRequest }, digest: digest, through: client,
          windowBytes: windowBytes, receiver: self)
        switch answer {
        case .send: break
        case .serve(let head, let body, let start):
          cache.beginServing()
          let metrics = ExchangeMetrics(
            cachedResponseRequestedAt: start, servedAt: .now, bodyBytes: UInt64(body.count))
          return apply { $0.served(head, body.zeroBased, metrics) }
        case .exchange(let cached):
          keep(.cache(cached), of: exchange)
          return cached.decide()
        }
      }
      // The cache doesn't answer the request. The request's cache policy may nevertheless forbid sending the request.
      guard (cachePolicy ?? client.settings.cachePolicy) != .returnCacheDataDontLoad else {
        throw URLError(notCached: currentRequest.url)
      }
      try keep(.engine(client.submit(consume request, to: self, windowBytes: windowBytes)), of: exchange)
    } catch {
      apply { $0.submissionFailed(error) }
    }
  }

  /// Stores the handle of an exchange, and executes the commands, such as a cancellation, that were given before the handle
  /// existed. Has no effect if the exchange has already ended.
  private func keep(_ handle: TransferHandle, of exchange: Int) {
    let actions = guarded.withLock { guarded -> [TransferState.Action] in
      guard let actions = guarded.state.submitted(exchange) else { return [] }
      guarded.handle = handle
      return actions
    }
    for action in actions { perform(action, handle) }
  }

  /// Passes an event to the task's authentication, and returns its answer. The authentication is created on first use, because most
  /// tasks don't need it.
  func withAuthentication<Answer: Sendable>(
    _ event: (inout TaskAuthentication, inout SessionLogins, TransferState) -> Answer
  ) -> Answer {
    guarded.withLock { guarded in
      if guarded.authentication.isEmpty { guarded.authentication = [TaskAuthentication(client.knownCredentials)] }
      return client.authentication.withLock { event(&guarded.authentication[0], &$0, guarded.state) }
    }
  }
}

extension Data {
  /// The same bytes with indices that start at 0, as delivered data must have. The data of a whole body has them already, so that
  /// it isn't copied.
  fileprivate var zeroBased: Data { startIndex == 0 ? self : Data(self) }
}

extension TransferState {
  /// The DER-encoded server certificate of the transfer's latest exchange over TLS. Nil if there was no exchange over TLS.
  fileprivate var latestCertificate: [UInt8]? { metrics.last { $0.tls != nil }?.tls?.certificateChain.first }
}
