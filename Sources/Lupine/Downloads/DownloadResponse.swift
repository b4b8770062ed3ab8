// `DownloadResponse`: the value that a download passes to its response handlers.

public import Foundation
public import LupineURLSession

/// A `DownloadResponse` whose failures are `AFError`s.
public typealias AFDownloadResponse<Success> = DownloadResponse<Success, AFError>

/// The outcome of a download: the serialized value or an error, with the request, the response, the file and the metrics.
public struct DownloadResponse<Success, Failure: Error> {
  /// The last request sent, after adaptation, or nil if none could be created.
  public let request: URLRequest?
  /// The server's response, or nil if none was received.
  public let response: HTTPURLResponse?
  /// The downloaded file, at its destination, or nil if there is none.
  public let fileURL: URL?
  /// The data for resuming a cancelled or interrupted download, or nil if the download can't be resumed.
  public let resumeData: Data?
  /// The metrics of the request's last task, or nil if there are none.
  public let metrics: URLSessionTaskMetrics?
  /// The duration of serialization in seconds.
  public let serializationDuration: TimeInterval
  /// The serialized value, or the error of the request.
  public let result: Result<Success, Failure>

  /// Creates a response. `serializationDuration` is in seconds.
  public init(
    request: URLRequest?,
    response: HTTPURLResponse?,
    fileURL: URL?,
    resumeData: Data?,
    metrics: URLSessionTaskMetrics?,
    serializationDuration: TimeInterval,
    result: Result<Success, Failure>
  ) {
    self.request = request
    self.response = response
    self.fileURL = fileURL
    self.resumeData = resumeData
    self.metrics = metrics
    self.serializationDuration = serializationDuration
    self.result = result
  }

  /// The value of a successful result, or nil.
  public var value: Success? {
    if case .success(let value) = result { value } else { nil }
  }

  /// The error of a failed result, or nil.
  public var error: Failure? {
    if case .failure(let error) = result { error } else { nil }
  }

  /// Returns a response in which `transform` is applied to the successful value.
  public func map<NewSuccess>(
    _ transform: (Success) -> NewSuccess
  ) -> DownloadResponse<NewSuccess, Failure> {
    replacingResult(with: result.map(transform))
  }

  /// Returns a response in which `transform` is applied to the successful value. If `transform`
  /// throws an error, the error becomes the failure.
  public func tryMap<NewSuccess>(
    _ transform: (Success) throws -> NewSuccess
  ) -> DownloadResponse<NewSuccess, any Error> {
    replacingResult(with: Result { try transform(result.get()) })
  }

  /// Returns a response in which `transform` is applied to the failure.
  public func mapError<NewFailure: Error>(
    _ transform: (Failure) -> NewFailure
  ) -> DownloadResponse<Success, NewFailure> {
    replacingResult(with: result.mapError(transform))
  }

  /// Returns a response in which `transform` is applied to the failure. If `transform`
  /// throws an error, the error becomes the failure.
  public func tryMapError<NewFailure: Error>(
    _ transform: (Failure) throws -> NewFailure
  ) -> DownloadResponse<Success, any Error> {
    let transformed = result.mapError { failure -> any Error in
      do { return try transform(failure) } catch { return error }
    }
    return replacingResult(with: transformed)
  }

  private func replacingResult<NewSuccess, NewFailure>(
    with result: Result<NewSuccess, NewFailure>
  ) -> DownloadResponse<NewSuccess, NewFailure> {
    DownloadResponse<NewSuccess, NewFailure>(
      request: request,
      response: response,
      fileURL: fileURL,
      resumeData: resumeData,
      metrics: metrics,
      serializationDuration: serializationDuration,
      result: result)
  }
}

extension DownloadResponse: Sendable where Success: Sendable {}

extension DownloadResponse where Failure == AFError {
  /// Returns a copy of this response whose result is the failure `error`.
  func failing(with error: AFError) -> Self {
    DownloadResponse(
      request: request, response: response, fileURL: fileURL, resumeData: resumeData, metrics: metrics,
      serializationDuration: serializationDuration, result: .failure(error))
  }
}

extension DownloadResponse: CustomStringConvertible, CustomDebugStringConvertible {
  /// A textual description of the result, including its value or error.
  public var description: String { "\(result)" }

  /// A textual description of the request, the response, the file, the resume data, the durations and the result, on separate
  /// lines.
  public var debugDescription: String {
    var lines: [String] = []
    if let request {
      lines.append("request: \(ReadableText.request(request))")
      lines += ReadableText.fields(request.headers)
      lines.append("request body: \(ReadableText.body(request.httpBody, request.headers))")
    } else {
      lines.append("request: none")
    }
    if let response {
      lines.append("response: \(response.statusCode)")
      if let advice = response.authenticationAdvice { lines.append("authentication: \(advice)") }
      lines += ReadableText.fields(response.headers.sorted())
    } else {
      lines.append("response: none")
    }
    lines.append("file: \(fileURL?.path ?? "none")")
    lines.append("resume data: \(resumeData.map { "\($0.count) bytes" } ?? "none")")
    if let duration = metrics?.taskInterval.duration { lines.append("network: \(duration) s") }
    lines.append("serialization: \(serializationDuration) s")
    lines.append("result: \(result)")
    return lines.joined(separator: "\n")
  }
}
