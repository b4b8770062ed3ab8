// URLSession+CompletionHandlers: creates tasks with completion handlers.

public import Foundation

extension URLSession {
  /// Creates a suspended task for a URL. See ``dataTask(with:)``.
  public func dataTask(with url: URL) -> URLSessionDataTask { dataTask(with: URLRequest(url: url)) }

  /// Creates a suspended download task for a URL. See ``downloadTask(with:)``.
  public func downloadTask(with url: URL) -> URLSessionDownloadTask { downloadTask(with: URLRequest(url: url)) }

  /// Creates a suspended task that calls a handler with the response and its whole body.
  ///
  /// The delegate is notified of redirects, challenges, sent bytes and metrics, but not of the response, its body or the
  /// completion. The body is held in memory; ``URLSessionConfiguration/bodyBytesMax`` limits it.
  ///
  /// ```swift
  /// let url = URL(string: "https://example.com/")!
  /// URLSession.shared.dataTask(with: URLRequest(url: url)) { data, response, error in
  ///   print(data?.count ?? 0, error?.localizedDescription ?? "no error")
  /// }.resume()
  /// ```
  ///
  /// - Parameters:
  ///   - request: The request. It is copied, including its body.
  ///   - completionHandler: Called once, on the delegate queue, with the body and the response's head. If the request fails, it
  ///     gets the error, and the head if one was received. A status code of 400 or above isn't an error.
  /// - Returns: The task. If the session is invalid, it completes with `URLError.cancelled` once it is resumed.
  @preconcurrency
  public func dataTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    collect(dataTask(with: request), completionHandler)
  }

  /// Creates a suspended task for a URL that calls a handler with the response and its whole body.
  @preconcurrency
  public func dataTask(
    with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDataTask {
    dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
  }

  /// Creates a suspended task that uploads bytes, and calls a handler with the response and its whole body.
  ///
  /// - Parameters:
  ///   - request: The request. Its own body is sent if `bodyData` is nil.
  ///   - bodyData: The body to send.
  ///   - completionHandler: Called like the handler of `dataTask(with:completionHandler:)`.
  /// - Returns: The task. If the session is invalid, it completes with `URLError.cancelled` once it is resumed.
  @preconcurrency
  public func uploadTask(
    with request: URLRequest, from bodyData: Data?,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    collect(uploadTask(with: request, from: bodyData ?? request.httpBody ?? Data()), completionHandler)
  }

  /// Creates a suspended task that uploads a file, and calls a handler with the response and its whole body.
  ///
  /// - Parameters:
  ///   - request: The request. Its body isn't sent.
  ///   - fileURL: The URL of a file on this machine.
  ///   - completionHandler: Called like the handler of `dataTask(with:completionHandler:)`.
  /// - Returns: The task. If the session is invalid, it completes with `URLError.cancelled` once it is resumed.
  @preconcurrency
  public func uploadTask(
    with request: URLRequest, fromFile fileURL: URL,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionUploadTask {
    collect(uploadTask(with: request, fromFile: fileURL), completionHandler)
  }

  /// Creates a suspended task that writes the response's body to a temporary file, and calls a handler with the file's URL.
  ///
  /// - Parameters:
  ///   - request: The request. It is copied, including its body.
  ///   - completionHandler: Called once, on the delegate queue, with the file's URL and the response's head. If the request
  ///     fails, it gets the error, and the head if one was received. The file is removed when the handler returns, so move it
  ///     before.
  /// - Returns: The task. If the session is invalid, it completes with `URLError.cancelled` once it is resumed.
  @preconcurrency
  public func downloadTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    collect(downloadTask(with: request), keepsFile: false, completionHandler)
  }

  /// Creates a suspended task that downloads a URL to a temporary file, and calls a handler with the file's URL.
  @preconcurrency
  public func downloadTask(
    with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    downloadTask(with: URLRequest(url: url), completionHandler: completionHandler)
  }

  /// Creates a suspended task that continues a stopped download, and calls a handler with the file's URL.
  ///
  /// - Parameters:
  ///   - resumeData: The data of the stopped download, as for ``downloadTask(withResumeData:)``.
  ///   - completionHandler: Called like the handler of `downloadTask(with:completionHandler:)`.
  /// - Returns: The task. If the session is invalid, it completes with `URLError.cancelled` once it is resumed.
  @preconcurrency
  public func downloadTask(
    withResumeData resumeData: Data,
    completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
  ) -> URLSessionDownloadTask {
    collect(downloadTask(withResumeData: resumeData), keepsFile: false, completionHandler)
  }

  func collect<Task: URLSessionTask>(_ task: Task, _ handler: @escaping DataCollector.Handler) -> Task {
    let collector = DataCollector(bodyBytesMax: client.settings.bodyBytesMax, handler)
    task.makeOptions().setCollector(collector, session: self)
    refuseCompletionHandler(of: task)
    return task
  }

  func collect(
    _ task: URLSessionDownloadTask, keepsFile: Bool, _ handler: @escaping DownloadCollector.Handler
  ) -> URLSessionDownloadTask {
    task.makeOptions().setCollector(DownloadCollector(keepsFile: keepsFile, handler), session: self)
    refuseCompletionHandler(of: task)
    return task
  }
}
