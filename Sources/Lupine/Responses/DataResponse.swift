// `DataResponse`: the value that a data request passes to its response handlers.

public import Foundation
public import LupineURLSession

/// A `DataResponse` whose failures are `AFError`s.
public typealias AFDataResponse<Success> = DataResponse<Success, AFError>

/// A `Result` whose failures are `AFError`s.
public typealias AFResult<Success> = Result<Success, AFError>

/// The outcome of a data request: the serialized value or an error, together with the request, the response and the metrics.
public struct DataResponse<Success, Failure: Error> {
  /// The last `URLRequest`, as the adapters returned it, or nil if no `URLRequest` could be created.
  public let request: URLRequest?
  /// The head of the server's response, or nil if none was received.
  public let response: HTTPURLResponse?
  /// The response body with its content codings decoded, or nil if the body was empty.
  public let data: Data?
  /// The metrics of the request's last task, or nil if no task has produced metrics.
  public let metrics: URLSessionTaskMetrics?
  /// The time, in seconds, that the serializer took to create the value.
  public let serializationDuration: TimeInterval
  /// The value that the serializer created, or the error of the request.
  public let result: Result<Success, Failure>

  /// Creates a response with the given values. `serializationDuration` is in seconds.
  public init(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, metrics: URLSessionTaskMetrics?,
    serializationDuration: TimeInterval, result: Result<Success, Failure>
  ) {
    self.request = request
    self.response = response
    self.data = data
    self.metrics = metrics
    self.serializationDuration = serializationDuration
    self.result = result
  }

  /// The value that the serializer created, or nil if ``result`` is a failure.
  public var value: Success? { if case .success(let value) = result { value } else { nil } }

  /// The error of the request, or nil if ``result`` is a success.
  public var error: Failure? { if case .failure(let error) = result { error } else { nil } }

  /// Returns this response with its success value replaced by the result of `transform`. A failure stays unchanged.
  public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DataResponse<NewSuccess, Failure> {
    replacingResult(with: result.map(transform))
  }

  /// Returns this response with its success value replaced by the result of `transform`. If `transform` throws an error, the
  /// returned response fails with that error. A failure stays unchanged.
  public func tryMap<NewSuccess>(
    _ transform: (Success) throws -> NewSuccess
  ) -> DataResponse<NewSuccess, any Error> {
    replacingResult(with: Result { try transform(result.get()) })
  }

  /// Returns this response with its error replaced by the result of `transform`. A success stays unchanged.
  public func mapError<NewFailure: Error>(_ transform: (Failure) -> NewFailure) -> DataResponse<Success, NewFailure> {
    replacingResult(with: result.mapError(transform))
  }

  /// Returns this response with its error replaced by the result of `transform`. If `transform` throws an error, the returned
  /// response fails with that error. A success stays unchanged.
  public func tryMapError<NewFailure: Error>(
    _ transform: (Failure) throws -> NewFailure
  ) -> DataResponse<Success, any Error> {
    let transformed = result.mapError { failure -> any Error in
      do { return try transform(failure) } catch { return error }
    }
    return replacingResult(with: transformed)
  }

  private func replacingResult<NewSuccess, NewFailure>(
    with result: Result<NewSuccess, NewFailure>
  ) -> DataResponse<NewSuccess, NewFailure> {
    DataResponse<NewSuccess, NewFailure>(
      request: request, response: response, data: data, metrics: metrics, serializationDuration: serializationDuration,
      result: result)
  }
}

extension DataResponse: Sendable where Success: Sendable {}

extension DataResponse where Failure == AFError {
  func failing(with error: AFError) -> Self { replacingResult(with: .failure(error)) }
}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
  /// A textual description of the result, including its value or error.
  public var description: String { ReadableText.lines("\(result)") }

  /// A textual description of the request, the response, their bodies, the durations and the result, on separate lines.
  public var debugDescription: String {
    var lines = ReadableText.lines(of: request) + ReadableText.lines(of: response)
    if let response { lines.append("response body: \(ReadableText.body(data, response.headers))") }
    if let duration = metrics?.taskInterval.duration { lines.append("network: \(duration) s") }
    lines.append("serialization: \(serializationDuration) s")
    lines.append("result: \(description)")
    return lines.joined(separator: "\n")
  }
}
