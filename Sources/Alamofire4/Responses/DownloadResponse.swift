// DefaultDownloadResponse and DownloadResponse: the responses of downloads, without and with a serialized value.

public import Foundation
public import LupineURLSession

/// The raw response to a download: the head, the URL of the downloaded file, and the error. No serializer was applied to the file.
public struct DefaultDownloadResponse: Sendable {
  /// The `URLRequest` that was sent, or nil if it couldn't be created.
  public let request: URLRequest?
  /// The head of the server's response, or nil if none was received.
  public let response: HTTPURLResponse?
  /// The URL of the temporary file, or nil if no file was downloaded. If the request has no destination, the downloaded file stays
  /// there.
  public let temporaryURL: URL?
  /// The destination of the downloaded file, or nil if the request has none or no file was downloaded. If the file couldn't be
  /// moved there, the response has an error.
  public let destinationURL: URL?
  /// The data for resuming the download, or nil if the download can't be resumed.
  public let resumeData: Data?
  /// The error of the request, or nil if it succeeded.
  public let error: (any Error)?
  /// The times of the request's events, and the durations between them.
  public let timeline: Timeline
  /// The metrics of the request's task.
  public let metrics: URLSessionTaskMetrics?

  /// Creates a response without a serialized value.
  public init(
    request: URLRequest?, response: HTTPURLResponse?, temporaryURL: URL?, destinationURL: URL?, resumeData: Data?,
    error: (any Error)?, timeline: Timeline = Timeline(), metrics: AnyObject? = nil
  ) {
    self.request = request
    self.response = response
    self.temporaryURL = temporaryURL
    self.destinationURL = destinationURL
    self.resumeData = resumeData
    self.error = error
    self.timeline = timeline
    self.metrics = metrics as? URLSessionTaskMetrics
  }
}

/// The response to a download, with the value that a serializer created from the file.
public struct DownloadResponse<Value> {
  /// The `URLRequest` that was sent, or nil if it couldn't be created.
  public let request: URLRequest?
  /// The head of the server's response, or nil if none was received.
  public let response: HTTPURLResponse?
  /// The URL of the temporary file, or nil if no file was downloaded. If the request has no destination, the downloaded file stays
  /// there.
  public let temporaryURL: URL?
  /// The destination of the downloaded file, or nil if the request has none or no file was downloaded. If the file couldn't be
  /// moved there, the response has an error.
  public let destinationURL: URL?
  /// The data for resuming the download, or nil if the download can't be resumed.
  public let resumeData: Data?
  /// The value that the serializer created from the downloaded file, or the error of the request.
  public let result: Result<Value>
  /// The times of the request's events, and the durations between them.
  public let timeline: Timeline
  /// The metrics of the request's task.
  public internal(set) var metrics: URLSessionTaskMetrics?

  /// The value that the serializer created from the downloaded file, or nil if the request failed.
  public var value: Value? { result.value }

  /// The error of the request, or nil if it succeeded.
  public var error: (any Error)? { result.error }

  /// Creates a response with a serialized value or an error.
  public init(
    request: URLRequest?, response: HTTPURLResponse?, temporaryURL: URL?, destinationURL: URL?, resumeData: Data?,
    result: Result<Value>, timeline: Timeline = Timeline()
  ) {
    self.request = request
    self.response = response
    self.temporaryURL = temporaryURL
    self.destinationURL = destinationURL
    self.resumeData = resumeData
    self.result = result
    self.timeline = timeline
  }

  /// Returns a copy of this response with its value replaced by the result of `transform`. A failure is copied unchanged.
  public func map<T>(_ transform: (Value) -> T) -> DownloadResponse<T> { with(result.map(transform)) }

  /// Returns a copy of this response with its value replaced by the result of `transform`. If `transform` throws an error, the copy
  /// fails with that error. A failure is copied unchanged.
  public func flatMap<T>(_ transform: (Value) throws -> T) -> DownloadResponse<T> { with(result.flatMap(transform)) }

  /// Returns a copy of this response with its error replaced by the result of `transform`. A success is copied unchanged.
  public func mapError<E: Error>(_ transform: (any Error) -> E) -> DownloadResponse {
    with(result.mapError(transform))
  }

  /// Returns a copy of this response with its error replaced by the result of `transform`, or by the error that `transform` throws.
  /// A success is copied unchanged.
  public func flatMapError<E: Error>(_ transform: (any Error) throws -> E) -> DownloadResponse {
    with(result.flatMapError(transform))
  }

  private func with<T>(_ result: Result<T>) -> DownloadResponse<T> {
    var copy = DownloadResponse<T>(
      request: request, response: response, temporaryURL: temporaryURL, destinationURL: destinationURL,
      resumeData: resumeData, result: result, timeline: timeline)
    copy.metrics = metrics
    return copy
  }
}

extension DownloadResponse: Sendable where Value: Sendable {}

extension DownloadResponse: CustomStringConvertible, CustomDebugStringConvertible {
  /// A textual description of the result, including its value or error.
  public var description: String { ReadableText.lines(result.debugDescription) }

  /// A textual description of the request, the response, the file, the result and the timeline.
  public var debugDescription: String {
    let file = [
      "[TemporaryURL]: \(temporaryURL?.path ?? "nil")", "[DestinationURL]: \(destinationURL?.path ?? "nil")",
      "[ResumeData]: \(resumeData.map { "\($0)" } ?? "None")", "[Result]: \(result)", "[Timeline]: \(timeline)",
    ]
    return ReadableText.lines((DataResponse<Value>.lines(request, response) + file).joined(separator: "\n"))
  }
}
