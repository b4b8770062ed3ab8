// DefaultDataResponse and DataResponse: the responses of data requests and uploads, without and with a serialized value.

public import Foundation
public import LupineURLSession

/// The raw response to a data request or an upload: the head, the body as `Data`, and the error. No serializer was applied to the
/// body.
public struct DefaultDataResponse: Sendable {
  /// The `URLRequest` that was sent, or nil if it couldn't be created.
  public let request: URLRequest?
  /// The head of the server's response, or nil if none was received.
  public let response: HTTPURLResponse?
  /// The response body, or nil if the body was passed to a closure instead of being collected.
  public let data: Data?
  /// The error of the request, or nil if it succeeded.
  public let error: (any Error)?
  /// The times of the request's events, and the durations between them.
  public let timeline: Timeline
  /// The metrics of the request's task.
  public let metrics: URLSessionTaskMetrics?

  /// Creates a response without a serialized value.
  public init(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?, timeline: Timeline = Timeline(),
    metrics: AnyObject? = nil
  ) {
    self.request = request
    self.response = response
    self.data = data
    self.error = error
    self.timeline = timeline
    self.metrics = metrics as? URLSessionTaskMetrics
  }
}

/// The response to a data request or an upload, with the value that a serializer created from the response's body.
public struct DataResponse<Value> {
  /// The `URLRequest` that was sent, or nil if it couldn't be created.
  public let request: URLRequest?
  /// The head of the server's response, or nil if none was received.
  public let response: HTTPURLResponse?
  /// The response body, or nil if the body was passed to a closure instead of being collected.
  public let data: Data?
  /// The value that the serializer created from the response body, or the error of the request.
  public let result: Result<Value>
  /// The times of the request's events, and the durations between them.
  public let timeline: Timeline
  /// The metrics of the request's task.
  public internal(set) var metrics: URLSessionTaskMetrics?

  /// The value that the serializer created from the response body, or nil if the request failed.
  public var value: Value? { result.value }

  /// The error of the request, or nil if it succeeded.
  public var error: (any Error)? { result.error }

  /// Creates a response with a serialized value or an error.
  public init(
    request: URLRequest?, response: HTTPURLResponse?, data: Data?, result: Result<Value>,
    timeline: Timeline = Timeline()
  ) {
    self.request = request
    self.response = response
    self.data = data
    self.result = result
    self.timeline = timeline
  }

  /// Returns a copy of this response with its value replaced by the result of `transform`. A failure is copied unchanged.
  public func map<T>(_ transform: (Value) -> T) -> DataResponse<T> { with(result.map(transform)) }

  /// Returns a copy of this response with its value replaced by the result of `transform`. If `transform` throws an error, the copy
  /// fails with that error. A failure is copied unchanged.
  public func flatMap<T>(_ transform: (Value) throws -> T) -> DataResponse<T> { with(result.flatMap(transform)) }

  /// Returns a copy of this response with its error replaced by the result of `transform`. A success is copied unchanged.
  public func mapError<E: Error>(_ transform: (any Error) -> E) -> DataResponse { with(result.mapError(transform)) }

  /// Returns a copy of this response with its error replaced by the result of `transform`, or by the error that `transform` throws.
  /// A success is copied unchanged.
  public func flatMapError<E: Error>(_ transform: (any Error) throws -> E) -> DataResponse {
    with(result.flatMapError(transform))
  }

  private func with<T>(_ result: Result<T>) -> DataResponse<T> {
    var copy = DataResponse<T>(request: request, response: response, data: data, result: result, timeline: timeline)
    copy.metrics = metrics
    return copy
  }
}

extension DataResponse: Sendable where Value: Sendable {}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
  /// A textual description of the result, including its value or error.
  public var description: String { ReadableText.lines(result.debugDescription) }

  /// A textual description of the request, the response, the body, the result and the timeline.
  public var debugDescription: String {
    let body = data.map { String(decoding: $0, as: UTF8.self) } ?? "None"
    let result = ["[Response Body]: \(body)", "[Result]: \(result)", "[Timeline]: \(timeline)"]
    return ReadableText.lines((Self.lines(request, response) + result).joined(separator: "\n"))
  }

  /// Returns the lines of a description that are about a request and a response head.
  static func lines(_ request: URLRequest?, _ response: HTTPURLResponse?) -> [String] {
    let requestText = request.map { "\($0.httpMethod ?? "GET") \(ReadableText.url($0.url))" }
    let requestBody = request?.httpBody.map { String(decoding: $0, as: UTF8.self) }
    let fields = (response?.allHeaderFields ?? [:]).map { (name: "\($0.key)", value: "\($0.value)") }
    let head = response.map { ["\($0.statusCode)"] + ReadableText.fields(fields).sorted() }
    return [
      "[Request]: \(requestText ?? "nil")", "[Request Body]: \(requestBody ?? "None")",
      "[Response]: \(head?.joined(separator: "\n") ?? "nil")",
    ]
  }
}
