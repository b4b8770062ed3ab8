// What a stream's handler is told.

import Foundation
public import LupineURLSession

extension DataStreamRequest {
  /// What happened to the stream, and the means to cancel it.
  public struct Stream<Success, Failure: Error> {
    /// What happened.
    public let event: Event<Success, Failure>
    /// Cancels the request.
    public let token: CancellationToken

    /// Cancels the request; no more pieces are handed over.
    public func cancel() { token.cancel() }
  }

  /// What happens to a stream.
  public enum Event<Success, Failure: Error> {
    /// A piece came; this is what was made of it.
    case stream(Result<Success, Failure>)
    /// The request has ended; nothing follows.
    case complete(Completion)
  }

  /// How a stream has ended.
  public struct Completion: Sendable {
    /// The request that was sent last; nil if none could be built.
    public let request: URLRequest?
    /// The head of the server's response; nil if none came.
    public let response: HTTPURLResponse?
    /// The metrics of the last task.
    public let metrics: URLSessionTaskMetrics?
    /// Why the request failed, or nil.
    public let error: AFError?
  }

  /// Cancels a request, from wherever it is passed to. It doesn't keep the request.
  public struct CancellationToken: Sendable {
    private weak var request: DataStreamRequest?

    init(_ request: DataStreamRequest) {
      self.request = request
    }

    /// Cancels the request; does nothing once that has ended.
    public func cancel() { request?.cancel() }
  }
}

extension DataStreamRequest.Stream: Sendable where Success: Sendable {}
extension DataStreamRequest.Event: Sendable where Success: Sendable {}

extension DataStreamRequest.Stream {
  /// What was made of the piece; nil at the end.
  public var result: Result<Success, Failure>? {
    if case .stream(let result) = event { result } else { nil }
  }

  /// The value that was made of the piece; nil if there is none.
  public var value: Success? {
    if case .success(let value)? = result { value } else { nil }
  }

  /// Why nothing could be made of the piece; nil if it could, and at the end.
  public var error: Failure? {
    if case .failure(let error)? = result { error } else { nil }
  }

  /// How the stream has ended; nil before.
  public var completion: DataStreamRequest.Completion? {
    if case .complete(let completion) = event { completion } else { nil }
  }
}
