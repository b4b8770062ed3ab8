// What a data request's response handler is given.

public import Foundation
public import LupineURLSession

/// A `DataResponse` whose failures are `AFError`s.
public typealias AFDataResponse<Success> = DataResponse<Success, AFError>

/// A `Result` whose failures are `AFError`s.
public typealias AFResult<Success> = Result<Success, AFError>

/// The outcome of a data request: the result of its serializer and what it was made from.
public struct DataResponse<Success, Failure: Error> {
  /// The request that was sent last, adapted; `nil` if none could be built.
  public let request: URLRequest?
  /// The server's response; `nil` if none arrived.
  public let response: HTTPURLResponse?
  /// The body as received, decoded of its content coding; `nil` if it was empty.
  public let data: Data?
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
    data: Data?,
    metrics: URLSessionTaskMetrics?,
    serializationDuration: TimeInterval,
    result: Result<Success, Failure>
  ) {
    self.request = request
    self.response = response
    self.data = data
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
  public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DataResponse<NewSuccess, Failure> {
    replacingResult(with: result.map(transform))
  }

  /// The response with `transform` applied to the value of a successful result; what it throws becomes the failure.
  public func tryMap<NewSuccess>(
    _ transform: (Success) throws -> NewSuccess
  ) -> DataResponse<NewSuccess, any Error> {
    replacingResult(with: Result { try transform(result.get()) })
  }

  /// The response with `transform` applied to the error of a failed result.
  public func mapError<NewFailure: Error>(_ transform: (Failure) -> NewFailure) -> DataResponse<Success, NewFailure> {
    replacingResult(with: result.mapError(transform))
  }

  /// The response with `transform` applied to the error of a failed result; what it throws becomes the failure.
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
      request: request,
      response: response,
      data: data,
      metrics: metrics,
      serializationDuration: serializationDuration,
      result: result)
  }
}

extension DataResponse: Sendable where Success: Sendable {}

extension DataResponse where Failure == AFError {
  /// The response with an error in place of its result.
  func failing(with error: AFError) -> Self {
    DataResponse(
      request: request, response: response, data: data, metrics: metrics, serializationDuration: serializationDuration,
      result: .failure(error))
  }
}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
  /// The result, in one line.
  public var description: String { "\(result)" }

  /// Request, response, bodies, durations and result, each on a line of its own.
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
      lines.append("response body: \(ReadableText.body(data, response.headers))")
    } else {
      lines.append("response: none")
    }
    if let duration = metrics?.taskInterval.duration { lines.append("network: \(duration) s") }
    lines.append("serialization: \(serializationDuration) s")
    lines.append("result: \(result)")
    return lines.joined(separator: "\n")
  }
}
