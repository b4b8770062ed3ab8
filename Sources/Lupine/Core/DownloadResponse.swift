// What a download's response handler is given.

public import Foundation
public import LupineURLSession

/// A `DownloadResponse` whose failures are `AFError`s.
public typealias AFDownloadResponse<Success> = DownloadResponse<Success, AFError>

/// The outcome of a download: the result of its serializer and what it was made from.
public struct DownloadResponse<Success, Failure: Error> {
  /// The request that was sent last, adapted; `nil` if none could be built.
  public let request: URLRequest?
  /// The server's response; `nil` if none arrived.
  public let response: HTTPURLResponse?
  /// The file with the body, where the destination put it; `nil` if there is none.
  public let fileURL: URL?
  /// What the download can be gone on with after it was cancelled or cut; `nil` if it can't be.
  public let resumeData: Data?
  /// The metrics of the last task.
  public let metrics: URLSessionTaskMetrics?
  /// How long the serializer took, in seconds.
  public let serializationDuration: TimeInterval
  /// What the serializer made of it, or why there is nothing.
  public let result: Result<Success, Failure>

  /// Makes a response. `serializationDuration` is in seconds.
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

  /// The value of a successful result.
  public var value: Success? {
    if case .success(let value) = result { value } else { nil }
  }

  /// The error of a failed result.
  public var error: Failure? {
    if case .failure(let error) = result { error } else { nil }
  }

  /// The response with `transform` applied to the value of a successful result.
  public func map<NewSuccess>(
    _ transform: (Success) -> NewSuccess
  ) -> DownloadResponse<NewSuccess, Failure> {
    replacingResult(with: result.map(transform))
  }

  /// The response with `transform` applied to the value of a successful result; what it throws becomes the failure.
  public func tryMap<NewSuccess>(
    _ transform: (Success) throws -> NewSuccess
  ) -> DownloadResponse<NewSuccess, any Error> {
    replacingResult(with: Result { try transform(result.get()) })
  }

  /// The response with `transform` applied to the error of a failed result.
  public func mapError<NewFailure: Error>(
    _ transform: (Failure) -> NewFailure
  ) -> DownloadResponse<Success, NewFailure> {
    replacingResult(with: result.mapError(transform))
  }

  /// The response with `transform` applied to the error of a failed result; what it throws becomes the failure.
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
  /// The response with an error in place of its result.
  func failing(with error: AFError) -> Self {
    DownloadResponse(
      request: request, response: response, fileURL: fileURL, resumeData: resumeData, metrics: metrics,
      serializationDuration: serializationDuration, result: .failure(error))
  }
}

extension DownloadResponse: CustomStringConvertible, CustomDebugStringConvertible {
  /// The result, in one line.
  public var description: String { "\(result)" }

  /// Request, response, file, resume data, durations and result, each on a line of its own.
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
