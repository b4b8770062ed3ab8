// SessionManager+Attempts: creates requests, and a task for each attempt to send a request.

import Dispatch
import Foundation
import LupineURLSession

/// The error for which a request couldn't be encoded, and the `URLRequest` before encoding, if it could be created.
struct EncodingFailure: Error {
  let cause: any Error
  let urlRequest: URLRequest?
}

extension SessionManager {
  func encoded(
    _ url: any URLConvertible, _ method: HTTPMethod, _ parameters: Parameters?, _ encoding: any ParameterEncoding,
    _ headers: HTTPHeaders?
  ) -> Swift.Result<URLRequest, EncodingFailure> {
    var original: URLRequest?
    do {
      let urlRequest = try URLRequest(url: url, method: method, headers: headers)
      original = urlRequest
      return .success(try encoding.encode(urlRequest, with: parameters))
    } catch {
      return .failure(EncodingFailure(cause: error, urlRequest: original))
    }
  }

  func startData(_ fallback: TaskSource? = nil, _ make: () throws -> TaskSource) -> DataRequest {
    start(fallback, make) { source, task, error in
      DataRequest(session: session, source: source, task: task, error: error)
    }
  }

  func startDownload(
    _ fallback: TaskSource? = nil, to destination: DownloadRequest.DownloadFileDestination?,
    _ make: () throws -> TaskSource
  ) -> DownloadRequest {
    start(fallback, make) { source, task, error in
      DownloadRequest(session: session, source: source, task: task, destination: destination, error: error)
    }
  }

  func startUpload(_ make: () throws -> TaskSource) -> UploadRequest {
    start(nil, make) { source, task, error in
      UploadRequest(session: session, source: source, task: task, error: error)
    }
  }

  func startStream(_ hostName: String, _ port: Int) -> StreamRequest {
    start(nil, { .stream(hostName: hostName, port: port) }) { source, task, error in
      StreamRequest(session: session, source: source, task: task, delegate: TaskDelegate(error: error))
    }
  }

  /// Passes the `URLRequest` to `upload`. If it can't be created, returns an upload that fails with the error.
  func startUpload(
    to url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ upload: (URLRequest) -> UploadRequest
  ) -> UploadRequest {
    do {
      return upload(try URLRequest(url: url, method: method, headers: headers))
    } catch {
      return startUpload { throw error }
    }
  }

  private func adapt(_ request: URLRequest) throws -> URLRequest { try adapter?.adapt(request) ?? request }

  /// Creates a request from the source that `make` returns, and starts the request.
  ///
  /// - Parameters:
  ///   - fallback: The request's source if `make` throws an error, or nil if there is none.
  ///   - make: Returns the source. If it throws an error, the request fails with it.
  ///   - create: Creates the request from its source and its first task. If one of them couldn't be created, it is nil, and the
  ///     error is passed too.
  private func start<R: Request>(
    _ fallback: TaskSource?, _ make: () throws -> TaskSource,
    _ create: (TaskSource?, URLSessionTask?, (any Error)?) -> R
  ) -> R {
    var source: TaskSource?
    let request: R
    do {
      let made = try make()
      source = made
      let task = try made.makeTask(in: session, adapting: adapt)
      guard reportsEnd(of: task) else { throw URLError(.cancelled) }
      request = create(made, task, nil)
      delegate[task] = request
    } catch let error as AdaptationError {
      request = create(source, nil, error.cause)
      if let retrier {
        allow(retrier, toRetry: request, after: error.cause)
        return request
      }
    } catch {
      request = create(source ?? fallback, nil, error)
    }
    if startRequestsImmediately { request.resume() }
    return request
  }

  /// Lets the retrier decide whether to retry a request after its adapter has thrown an error.
  private func allow(_ retrier: any RequestRetrier, toRetry request: Request, after error: any Error) {
    retryQueue.perform { [self] in
      ask(retrier, toRetry: request, after: error) { [weak self, retryQueue] in
        retryQueue.perform { if self?.startRequestsImmediately != false { request.resume() } }
      }
    }
  }

  /// Asks the retrier whether to retry a failed request, and retries the request after the retrier's delay. Calls `giveUp` if the
  /// request isn't retried.
  func ask(
    _ retrier: any RequestRetrier, toRetry request: Request, after error: any Error, orElse giveUp: @escaping () -> Void
  ) {
    retrier.should(self, retry: request, with: error) { [weak self, retryQueue] shouldRetry, delay in
      guard shouldRetry else { return giveUp() }
      retryQueue.perform(after: delay) { if self?.retry(request) != true { giveUp() } }
    }
  }

  /// Creates the task of a retry. If the request is observed, the task belongs to the same call as the previous task.
  private func makeTask(_ source: TaskSource, again request: Request) throws(AdaptationError) -> URLSessionTask {
    guard let call = request.task.flatMap({ ObservedCall(of: $0) }) else {
      return try source.makeTask(in: session, adapting: adapt)
    }
    return try call.makingTasks { () throws(AdaptationError) in try source.makeTask(in: session, adapting: adapt) }
  }

  /// Returns whether the session reports the end of a task. It doesn't if it was invalidated before it created the task.
  private func reportsEnd(of task: URLSessionTask) -> Bool { session.isValid || session.owns(task) }

  /// Sends a request again with a new task. Called on ``retryQueue``. Returns false if the request was cancelled, if it can no longer
  /// be adapted, or if the session was invalidated.
  func retry(_ request: Request) -> Bool {
    guard let source = request.source, !request.isCancelled else { return false }
    let task: URLSessionTask
    do {
      task = try makeTask(source, again: request)
    } catch {
      request.taskDelegate.error = error.cause
      return false
    }
    guard reportsEnd(of: task) else { return false }
    let previous = request.task
    guard request.restart(with: task) else {
      task.cancel()
      return false
    }
    if let previous { delegate[previous] = nil }
    delegate[task] = request
    task.resume()
    return true
  }
}
