// `DataStreamRequest.Stream`: the value that a stream request passes to its handlers.

import Foundation
public import LupineURLSession

extension DataStreamRequest {
  /// An event of the stream, with a token to cancel the request.
  public struct Stream<Success, Failure: Error> {
    /// The event.
    public let event: Event<Success, Failure>
    /// The token that cancels the request.
    public let token: CancellationToken

    /// Cancels the request. No more pieces are delivered.
    public func cancel() { token.cancel() }
  }

  /// An event of a stream.
  public enum Event<Success, Failure: Error> {
    /// A piece was received and serialized with this result.
    case stream(Result<Success, Failure>)
    /// The request has ended. This is the last event.
    case complete(Completion)
  }

  /// The end of a stream.
  public struct Completion: Sendable {
    /// The last request sent, or nil if none could be created.
    public let request: URLRequest?
    /// The head of the server's response, or nil if none was received.
    public let response: HTTPURLResponse?
    /// The metrics of the last task.
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

    /// Cancels the request, unless it has ended.
    public func cancel() { request?.cancel() }
  }
}

extension DataStreamRequest.Stream: Sendable where Success: Sendable {}
extension DataStreamRequest.Event: Sendable where Success: Sendable {}

extension DataStreamRequest.Stream {
  /// The result of serializing the piece, or nil at the end.
  public var result: Result<Success, Failure>? {
    if case .stream(let result) = event { result } else { nil }
  }

  /// The serialized value of the piece, or nil if there is none.
  public var value: Success? {
    if case .success(let value)? = result { value } else { nil }
  }

  /// The error of serializing the piece, or nil if there is none.
  public var error: Failure? {
    if case .failure(let error)? = result { error } else { nil }
  }

  /// The completion, or nil for a piece.
  public var completion: DataStreamRequest.Completion? {
    if case .complete(let completion) = event { completion } else { nil }
  }
}
