// URLSession+Async: async methods that return a response's body or file, and async forms of the session's other methods.

public import Foundation
import LupineEngine

extension URLSession {
  /// Sends a request, and returns the response with its whole body.
  ///
  /// Canceling the awaiting Swift task cancels the request. The body is collected in memory;
  /// ``URLSessionConfiguration/bodyBytesMax`` limits its size.
  ///
  /// - Parameters:
  ///   - request: The request to send.
  ///   - delegate: The delegate of the session task for this request. It is notified of redirects, challenges, sent bytes and
  ///     metrics.
  /// - Returns: The body and the response's head. A status code of 400 or above doesn't throw an error.
  /// - Throws: A `URLError`, which is `.cancelled` if the awaiting Swift task was canceled, or the error of a ``URLProtocol``.
  public nonisolated(nonsending) func data(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await value(delegate) { self.dataTask(with: request, completionHandler: $0) }
  }

  /// Sends a GET request for a URL, and returns the response with its whole body. See ``data(for:delegate:)``.
  public nonisolated(nonsending) func data(
    from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await data(for: URLRequest(url: url), delegate: delegate)
  }

  /// Sends a request with bytes as its body, and returns the response with its whole body.
  ///
  /// - Parameters:
  ///   - request: The request to send. Its own body is ignored.
  ///   - bodyData: The body to send instead.
  ///   - delegate: The delegate of the session task for this request.
  /// - Returns: The body and the response's head, as for ``data(for:delegate:)``.
  /// - Throws: A `URLError`, which is `.cancelled` if the awaiting Swift task was canceled, or the error of a ``URLProtocol``.
  public nonisolated(nonsending) func upload(
    for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await value(delegate) { self.uploadTask(with: request, from: bodyData, completionHandler: $0) }
  }

  /// Sends a request with a file as its body, and returns the response with its whole body.
  ///
  /// - Parameters:
  ///   - request: The request to send. Its own body is ignored.
  ///   - fileURL: The URL of the file to send, which must be on this machine.
  ///   - delegate: The delegate of the session task for this request.
  /// - Returns: The body and the response's head, as for ``data(for:delegate:)``.
  /// - Throws: A `URLError`, which is `.cancelled` if the awaiting Swift task was canceled, or the error of a ``URLProtocol``.
  public nonisolated(nonsending) func upload(
    for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (Data, URLResponse) {
    try await value(delegate) { self.uploadTask(with: request, fromFile: fileURL, completionHandler: $0) }
  }

  /// Sends a request, and downloads the response's body to a temporary file. The caller must move or remove the file.
  ///
  /// - Parameters:
  ///   - request: The request to send.
  ///   - delegate: The delegate of the session task for this request.
  /// - Returns: The URL of the file, and the response's head. A status code of 400 or above doesn't throw an error.
  /// - Throws: A `URLError`, which is `.cancelled` if the awaiting Swift task was canceled, or the error of a ``URLProtocol``.
  public nonisolated(nonsending) func download(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (URL, URLResponse) {
    try await value(delegate) {
      self.collect(self.downloadTask(with: request), by: DownloadCollector(keepsFile: true, $0))
    }
  }

  /// Downloads the resource at a URL to a temporary file. See ``download(for:delegate:)``.
  public nonisolated(nonsending) func download(
    from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (URL, URLResponse) {
    try await download(for: URLRequest(url: url), delegate: delegate)
  }

  /// Resumes a stopped download, and writes it to a temporary file. See ``downloadTask(withResumeData:)`` and
  /// ``download(for:delegate:)``.
  public nonisolated(nonsending) func download(
    resumeFrom resumeData: Data, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (URL, URLResponse) {
    try await value(delegate) {
      self.collect(self.downloadTask(withResumeData: resumeData), by: DownloadCollector(keepsFile: true, $0))
    }
  }

  /// Starts the session task that `make` creates, and returns the values that the task's completion handler receives. Cancels the
  /// session task if the awaiting Swift task is canceled.
  private nonisolated(nonsending) func value<Value: Sendable>(
    _ delegate: (any URLSessionTaskDelegate)?,
    _ make: (@escaping @Sendable (Value?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
  ) async throws -> (Value, URLResponse) {
    let outcome = Awaited<Result<(Value, URLResponse), any Error>>(delivery.resumptions)
    let task = make { value, response, error in
      if let error {
        outcome.fill(.failure(error))
      } else if let value, let response {
        outcome.fill(.success((value, response)))
      } else {
        outcome.fill(.failure(URLError(.badServerResponse)))
      }
    }
    assign(delegate, to: task)
    return try await outcome.value(of: task).get()
  }

  /// Makes `delegate` the own delegate of a task that an async method has created, and notifies it of the task. Does nothing if it
  /// is nil.
  func assign(_ delegate: (any URLSessionTaskDelegate)?, to task: URLSessionTask) {
    guard let delegate else { return }
    task.delegate = delegate
    delegate.urlSession(self, didCreateTask: task)
  }
}

extension URLSession {
  /// The tasks that were resumed and haven't completed, oldest first. See ``getAllTasks(completionHandler:)``.
  public var allTasks: [URLSessionTask] {
    get async { await firstValue { self.getAllTasks(completionHandler: $0) } }
  }

  /// The tasks that were resumed and haven't completed: the data tasks, the upload tasks and the download tasks. Each array starts
  /// with the oldest task. See ``getTasksWithCompletionHandler(_:)``.
  public var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
    get async {
      await firstValue { done in
        self.getTasksWithCompletionHandler { data, uploads, downloads in done((data, uploads, downloads)) }
      }
    }
  }

  /// Makes later requests open new connections. See ``flush(completionHandler:)``.
  public func flush() async {
    await firstValue { (done: @escaping @Sendable (Bool) -> Void) in self.flush { done(true) } }
  }

  /// Removes the session's cookies, credentials and cached responses. See ``reset(completionHandler:)``.
  public func reset() async {
    await firstValue { (done: @escaping @Sendable (Bool) -> Void) in self.reset { done(true) } }
  }
}

extension URLSessionDownloadTask {
  /// Cancels the task, and keeps the partial file if the download can be resumed. See ``cancel(byProducingResumeData:)``.
  ///
  /// - Returns: The resume data for ``URLSession/downloadTask(withResumeData:)``, or nil if the download can't be resumed.
  public func cancelByProducingResumeData() async -> Data? {
    await firstValue { self.cancel(byProducingResumeData: $0) }
  }
}

extension Awaited {
  /// Starts a session task, and waits for the value that it provides. Cancels the session task if the awaiting Swift task is
  /// canceled, and doesn't start it if that has already happened.
  nonisolated(nonsending) func value(of task: URLSessionTask) async -> Value {
    if Task.isCancelled { task.cancel() } else { task.resume() }
    return await value { task.cancel() }
  }
}
