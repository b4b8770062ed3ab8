// One task's way through the engine: the exchanges of its redirects, the response, the body.

import Foundation
import LupineEngine
import Synchronization

/// Who hears of a transfer, on the engine's loop.
protocol TransferObserver: AnyObject, Sendable {
  /// Whether `transferDidAdvance` is wanted; asked for each piece of the body.
  var wantsProgress: Bool { get }
  /// A piece of the body came.
  func transferDidAdvance()
  /// The transfer has ended; called exactly once, at last.
  func transferDidComplete()
}

/// Sends a request, follows its redirects and collects the final response.
final class Transfer: ResponseSink {
  private struct State {
    var observer: (any TransferObserver)?
    var handle: ExchangeHandle?
    var request: EngineRequest
    var urlRequest: URLRequest
    var isPaused = false
    var isCancelled = false

    var response: HTTPURLResponse?
    var data = Data()
    /// What the response redirects to; its body is then of no interest.
    var redirect: Result<EngineRequest, EngineError>?
    var attempts: [Attempt] = []
    var error: URLError?
  }

  /// One request that was sent, for the metrics.
  struct Attempt: Sendable {
    let request: URLRequest
    let response: HTTPURLResponse?
    let metrics: ExchangeMetrics
  }

  private let client: EngineClient
  private let state: Mutex<State>

  /// Takes a converted request; nothing is sent before `begin`.
  init(_ request: EngineRequest, from urlRequest: URLRequest, client: EngineClient, observer: any TransferObserver) {
    self.client = client
    state = Mutex(State(observer: observer, request: request, urlRequest: urlRequest))
  }

  // MARK: What the task does

  /// Sends the request.
  func begin() {
    send(state.withLock { $0.request })
  }

  /// Ends the transfer with an error, wherever it is.
  func cancel() {
    let handle = state.withLock { state in
      state.isCancelled = true
      return state.handle
    }
    handle?.cancel()
  }

  /// Stops reading, and goes on.
  func setPaused(_ isPaused: Bool) {
    state.withLock { $0.isPaused = isPaused }
    steer()
  }

  /// Tells the engine whether to read. Another thread may change that meanwhile, so it is looked at again.
  private func steer() {
    while true {
      let (handle, isPaused) = state.withLock { ($0.handle, $0.isPaused) }
      guard let handle else { return }
      if isPaused { handle.pause() } else { handle.resume() }
      if state.withLock({ $0.isPaused }) == isPaused { return }
    }
  }

  /// The request as redirects have left it.
  var currentRequest: URLRequest { state.withLock { $0.urlRequest } }
  /// The final response's head, once it came.
  var response: HTTPURLResponse? { state.withLock { $0.response } }
  /// The body, as far as it came.
  var data: Data { state.withLock { $0.data } }
  /// How many bytes of the body came, decoded.
  var receivedByteCount: Int64 { state.withLock { Int64($0.data.count) } }
  /// Why there is no complete response; nil before the end.
  var error: URLError? { state.withLock { $0.error } }
  /// The requests that were sent, in order.
  var attempts: [Attempt] { state.withLock { $0.attempts } }

  // MARK: What the engine says

  func receive(head: ResponseHead) -> BodyDisposition {
    storeCookies(of: head)
    return state.withLock { state in
      do throws(EngineError) {
        let next = try client.redirectRule.next(after: head, to: state.request, count: state.attempts.count)
        state.redirect = next.map { .success($0) }
      } catch {
        state.redirect = .failure(error)
      }
      state.response = HTTPURLResponse(head, to: state.urlRequest)
      return state.redirect == nil ? .deliver : .discard
    }
  }

  private func storeCookies(of head: ResponseHead) {
    guard client.wantsCookies(of: head) else { return }
    let (uri, urlRequest) = state.withLock { ($0.request.uri, $0.urlRequest) }
    guard urlRequest.httpShouldHandleCookies else { return }
    client.storeCookies(of: head, from: uri, mainDocument: urlRequest.mainDocumentURL)
  }

  func receive(body bytes: borrowing Span<UInt8>) {
    let observer = state.withLock { state in
      state.data.append(copying: bytes, 0..<bytes.count)
      return state.observer
    }
    if let observer, observer.wantsProgress { observer.transferDidAdvance() }
  }

  func finish(_ result: Result<Fields, EngineError>, _ metrics: ExchangeMetrics) {
    let next: EngineRequest? = state.withLock { state in
      state.attempts.append(Attempt(request: state.urlRequest, response: state.response, metrics: metrics))
      state.handle = nil
      switch (result, state.redirect) {
      case (.failure(let error), _), (.success, .failure(let error)):
        state.error = URLError(error, url: state.urlRequest.url)
        return nil
      case (.success, nil):
        return nil
      case (.success, .success(var next)):
        next.timeouts.total = next.timeouts.total.map {
          max(.zero, $0 - (metrics.end.map { $0 - metrics.start } ?? .zero))
        }
        state.urlRequest = state.urlRequest.redirected(to: next)
        state.request = next
        (state.redirect, state.response) = (nil, nil)
        return next
      }
    }
    if let next { send(next) } else { complete() }
  }

  private func send(_ request: EngineRequest) {
    do {
      // Before the first request or between two, when there is no exchange to cancel.
      if state.withLock({ $0.isCancelled }) { throw URLError(.cancelled) }
      let handlesCookies = state.withLock { $0.urlRequest.httpShouldHandleCookies }
      let handle = try client.submit(handlesCookies ? client.addingCookies(to: request) : request, to: self)
      let (isCancelled, isPaused) = state.withLock { state in
        // The exchange may have ended on the loop before its handle came back here; then this is harmless.
        state.handle = handle
        return (state.isCancelled, state.isPaused)
      }
      if isPaused { steer() }
      if isCancelled { handle.cancel() }
    } catch {
      state.withLock { $0.error = error as? URLError ?? URLError(.unknown) }
      complete()
    }
  }

  private func complete() {
    // Let go of the observer, which holds the transfer.
    let observer = state.withLock { state in state.observer.take() }
    observer?.transferDidComplete()
  }
}

extension URLRequest {
  /// The request that a redirect makes of this one: another URL, and what the rule has dropped is dropped.
  fileprivate func redirected(to next: EngineRequest) -> URLRequest {
    var request = self
    request.url = URL(string: next.uri.description)
    if request.httpMethod != next.method { request.httpMethod = next.method }
    if next.body.isEmpty { request.httpBody = nil }
    for header in headers where !next.fields.contains(header.name) { request.headers.remove(name: header.name) }
    return request
  }
}

extension HTTPURLResponse {
  /// A received head; its fields become strings when somebody asks for them.
  fileprivate convenience init?(_ head: ResponseHead, to request: URLRequest) {
    guard let url = request.url else { return nil }
    self.init(url: url, statusCode: head.status) {
      head.fields.map { HTTPHeader(name: $0.name, value: $0.value) }
    }
  }
}
