// Concurrency+HTTPResponse: asynchronous access to response heads, as a sequence or with an async handler.

import Foundation
public import LupineURLSession

extension DataRequest {
  /// Returns a sequence of response heads, one for each attempt of the request. Replaces a handler that was set by
  /// `onHTTPResponse`.
  public func httpResponses(
    bufferingPolicy: StreamOf<HTTPURLResponse>.BufferingPolicy = .unbounded
  ) -> StreamOf<HTTPURLResponse> {
    stream(bufferingPolicy) { [self] continuation in
      onHTTPResponse(on: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Calls `handler` when the response head has arrived. `handler` returns whether to receive the response body or to cancel the
  /// request. The body isn't read before `handler` returns.
  @preconcurrency
  @_disfavoredOverload
  @discardableResult
  public func onHTTPResponse(
    perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> ResponseDisposition
  ) -> Self {
    onHTTPResponse(on: underlyingQueue) { response, completionHandler in
      Task { completionHandler(await handler(response)) }
    }
  }

  /// Calls `handler` when the response head has arrived. The body isn't read before `handler` returns.
  @preconcurrency
  @discardableResult
  public func onHTTPResponse(perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> Void) -> Self {
    onHTTPResponse { response in
      await handler(response)
      return .allow
    }
  }
}

extension DataStreamRequest {
  /// Returns a sequence of response heads, one for each attempt of the request. Replaces a handler that was set by
  /// `onHTTPResponse`.
  public func httpResponses(
    bufferingPolicy: StreamOf<HTTPURLResponse>.BufferingPolicy = .unbounded
  ) -> StreamOf<HTTPURLResponse> {
    stream(bufferingPolicy) { [self] continuation in
      onHTTPResponse(on: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Calls `handler` when the response head has arrived. `handler` returns whether to receive the response body or to cancel the
  /// request. The body isn't read before `handler` returns.
  @preconcurrency
  @_disfavoredOverload
  @discardableResult
  public func onHTTPResponse(
    perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> ResponseDisposition
  ) -> Self {
    onHTTPResponse(on: underlyingQueue) { response, completionHandler in
      Task { completionHandler(await handler(response)) }
    }
  }

  /// Calls `handler` when the response head has arrived. The body isn't read before `handler` returns.
  @preconcurrency
  @discardableResult
  public func onHTTPResponse(perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> Void) -> Self {
    onHTTPResponse { response in
      await handler(response)
      return .allow
    }
  }
}
