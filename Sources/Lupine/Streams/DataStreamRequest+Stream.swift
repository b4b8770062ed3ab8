// `DataStreamRequest.Stream`: the value that a stream request passes to its handlers.

import Foundation
public import LupineURLSession

extension DataStreamRequest {
  /// The argument of a stream request's handler: an event of the stream, and a token that cancels the request.
  public struct Stream<Success, Failure: Error> {
    /// The event that the handler receives: a piece of the response body, or the end of the request.
    public let event: Event<Success, Failure>
    /// A token whose `cancel()` method cancels the request.
    public let token: CancellationToken

    /// Cancels the stream request. No more pieces of the response body are delivered.
    public func cancel() { token.cancel() }
  }

  /// An event of a stream request.
  public enum Event<Success, Failure: Error> {
    /// A piece of the response body was received and serialized with this result.
    case stream(Result<Success, Failure>)
    /// The request has ended. This is the last event.
    case complete(Completion)
  }

  /// The outcome of a stream request.
  public struct Completion: Sendable {
    /// The last `URLRequest`, as the adapters returned it, or nil if no `URLRequest` could be created.
    public let request: URLRequest?
    /// The head of the server's response, or nil if none was received.
    public let response: HTTPURLResponse?
    /// The metrics of the request's last task, or nil if no task has produced metrics.
    public let metrics: URLSessionTaskMetrics?
    /// The error of the request, or nil if it succeeded.
    public let error: AFError?
  }

  /// A token that cancels a request. It can be passed to any thread, and references the request weakly.
  public struct CancellationToken: Sendable {
    private weak var request: DataStreamRequest?

    init(_ request: DataStreamRequest) {
      self.request = request
    }

    /// Cancels the request, unless the request has ended.
    public func cancel() { request?.cancel() }
  }
}

extension DataStreamRequest.Stream: Sendable where Success: Sendable {}
extension DataStreamRequest.Event: Sendable where Success: Sendable {}

extension DataStreamRequest.Stream {
  /// The result of serializing a piece of the response body, or nil if the event is the end of the request.
  public var result: Result<Success, Failure>? {
    if case .stream(let result) = event { result } else { nil }
  }

  /// The value serialized from a piece of the response body. Nil if serialization failed, or if the event is the end of the
  /// request.
  public var value: Success? {
    if case .success(let value)? = result { value } else { nil }
  }

  /// The error with which serializing a piece of the response body failed, or nil if there is no such error.
  public var error: Failure? {
    if case .failure(let error)? = result { error } else { nil }
  }

  /// The outcome of the request if the event is the end of the request, or nil if the event is a piece of the response body.
  public var completion: DataStreamRequest.Completion? {
    if case .complete(let completion) = event { completion } else { nil }
  }
}
