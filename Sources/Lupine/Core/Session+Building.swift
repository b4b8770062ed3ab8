// What a session does for a request between its resumption and its task.

import Foundation
import LupineURLSession

extension Session {
  /// Makes and adapts a request, then its task; begins on the root queue.
  ///
  /// A round that has ended meanwhile, because the request was cancelled or its session has gone, goes no further.
  func build(_ request: Request, round: Int) {
    if session.isValid, let task = request.makeReadyTask(in: session) { return begin(task, of: request, round) }
    if requestQueue === rootQueue { make(request, round) } else { requestQueue.async { self.make(request, round) } }
  }

  private func onRequestQueue(_ work: @escaping @Sendable () -> Void) {
    if requestQueue === rootQueue { session.delivery.performHere(work) } else { requestQueue.async(execute: work) }
  }

  /// Does something on the root queue; called on the request queue, which is the same if the session was given none.
  private func onRootQueue(_ work: @escaping @Sendable () -> Void) {
    if requestQueue === rootQueue { work() } else { session.delivery.performHere(work) }
  }

  private func make(_ request: Request, _ round: Int) {
    guard request.isBuilding(round) else { return }
    let initialRequest: URLRequest
    do {
      initialRequest = try request.makeURLRequest()
      try initialRequest.validate()
    } catch {
      let error = error.asAFError(or: .createURLRequestFailed(error: error))
      return onRootQueue { request.didFailToCreate(round, with: error) }
    }
    onRootQueue { request.didCreateInitial(initialRequest, round) }
    guard request.isBuilding(round) else { return }
    guard let adapter = interceptors(for: request) else { return prepareBody(request, round, initialRequest) }
    let state = RequestAdapterState(requestID: request.id, session: self)
    // Not kept by an adapter that takes its time: its requests end with the session.
    adapter.adapt(initialRequest, using: state) { [weak self] result in
      guard let self else { return request.underlyingQueue.async { request.end(with: .sessionDeinitialized) } }
      adapted(request, round, initialRequest, result)
    }
  }

  private func adapted(
    _ request: Request, _ round: Int, _ initialRequest: URLRequest, _ result: Result<URLRequest, any Error>
  ) {
    do {
      let adaptedRequest = try result.get()
      try adaptedRequest.validate()
      session.delivery.performHere { request.didAdapt(initialRequest, to: adaptedRequest, round) }
      onRequestQueue { self.prepareBody(request, round, adaptedRequest) }
    } catch {
      let error = AFError.requestAdaptationFailed(error: error)
      session.delivery.performHere { request.didFailToAdapt(initialRequest, round, with: error) }
    }
  }

  private func prepareBody(_ request: Request, _ round: Int, _ urlRequest: URLRequest) {
    guard request.isBuilding(round) else { return }
    do {
      try request.prepareBody()
    } catch {
      let error = error.asAFError(or: .createUploadableFailed(error: error))
      return onRootQueue { request.didFail(round, with: error) }
    }
    onRootQueue { self.makeTask(request, round, urlRequest) }
  }

  private func makeTask(_ request: Request, _ round: Int, _ urlRequest: URLRequest) {
    guard request.isBuilding(round) else { return }
    guard session.isValid else { return request.didFail(round, with: .sessionInvalidated(error: nil)) }
    request.didCreate(urlRequest)
    begin(request.makeTask(urlRequest, in: session), of: request, round)
  }

  private func begin(_ task: URLSessionTask, of request: Request, _ round: Int) {
    // Not taken by a session that was invalidated meanwhile, which would tell nobody of its end.
    guard session.owns(task) else { return request.didFail(round, with: .sessionInvalidated(error: nil)) }
    request.didCreate(task, round)
  }

  // MARK: Whom to ask

  /// Whether there is somebody to ask about a failure; nobody is asked when no further task could be made.
  func hasRetrier(for request: Request) -> Bool {
    (interceptor != nil || !request.interceptors.isEmpty) && session.isValid
  }

  /// Everybody who adapts and retries the request, in order; nil if there is nobody. A chain even of one, since a chain
  /// takes only the first answer.
  func interceptors(for request: Request) -> Interceptor? {
    let interceptors = (interceptor.map { [$0] } ?? []) + request.interceptors
    return interceptors.isEmpty ? nil : Interceptor(interceptors: interceptors)
  }
}
