// The response's head, awaited: as a sequence, and as a question that may take its time.

import Foundation
public import LupineURLSession

extension DataRequest {
  /// The head of each response, one for each time that the request is sent; replaces a handler that was set before.
  public func httpResponses(
    bufferingPolicy: StreamOf<HTTPURLResponse>.BufferingPolicy = .unbounded
  ) -> StreamOf<HTTPURLResponse> {
    stream(bufferingPolicy) { [self] continuation in
      onHTTPResponse(on: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Lets `handler` decide about the response when its head came; its body waits for that.
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

  /// Calls `handler` when the response's head came; its body waits until `handler` has returned.
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
  /// The head of each response, one for each time that the request is sent; replaces a handler that was set before.
  public func httpResponses(
    bufferingPolicy: StreamOf<HTTPURLResponse>.BufferingPolicy = .unbounded
  ) -> StreamOf<HTTPURLResponse> {
    stream(bufferingPolicy) { [self] continuation in
      onHTTPResponse(on: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Lets `handler` decide about the response when its head came; its body waits for that.
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

  /// Calls `handler` when the response's head came; its body waits until `handler` has returned.
  @preconcurrency
  @discardableResult
  public func onHTTPResponse(perform handler: @escaping @Sendable (_ response: HTTPURLResponse) async -> Void) -> Self {
    onHTTPResponse { response in
      await handler(response)
      return .allow
    }
  }
}
