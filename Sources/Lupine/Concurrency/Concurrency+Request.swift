// Concurrency+Request: the events of a `Request` as asynchronous sequences, which end with the request.

public import Foundation
public import LupineURLSession

extension Request {
  /// Returns a sequence that reports the progress of sending the request body. Replaces the current `uploadProgress` handler.
  public func uploadProgress(
    bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
  ) -> StreamOf<Progress> {
    stream(bufferingPolicy) { [self] continuation in
      uploadProgress(queue: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Returns a sequence that reports the progress of receiving the response body. Replaces the current `downloadProgress` handler.
  public func downloadProgress(
    bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
  ) -> StreamOf<Progress> {
    stream(bufferingPolicy) { [self] continuation in
      downloadProgress(queue: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Returns a sequence of the `URLRequest`s that are created for this request. If some have already been created, the sequence
  /// begins with the latest one.
  public func urlRequests(
    bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
  ) -> StreamOf<URLRequest> {
    stream(bufferingPolicy) { [self] continuation in
      onCreation { result in
        if case .success(let request) = result { continuation.yield(request) }
      }
    }
  }

  /// Returns a sequence of the `URLSessionTask`s that are created for this request. If some have already been created, the sequence
  /// begins with the latest one.
  public func urlSessionTasks(
    bufferingPolicy: StreamOf<URLSessionTask>.BufferingPolicy = .unbounded
  ) -> StreamOf<URLSessionTask> {
    stream(bufferingPolicy) { [self] continuation in
      onURLSessionTaskCreation(on: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Returns a sequence of curl commands, one for each `URLRequest` that is created for this request. If some have already been
  /// created, the sequence begins with the latest one.
  public func cURLDescriptions(
    bufferingPolicy: StreamOf<String>.BufferingPolicy = .unbounded
  ) -> StreamOf<String> {
    stream(bufferingPolicy) { [self] continuation in
      cURLDescription { continuation.yield($0) }
    }
  }

  /// Returns a sequence of events that ends when the request has finished. When a loop over the sequence starts, `build` adds a
  /// handler to the request. The handler passes each event to the continuation on the request's underlying queue.
  func stream<Element: Sendable>(
    _ bufferingPolicy: StreamOf<Element>.BufferingPolicy,
    build: @escaping @Sendable (StreamOf<Element>.Continuation) -> Void
  ) -> StreamOf<Element> {
    StreamOf(bufferingPolicy: bufferingPolicy) { [self] continuation in
      build(continuation)
      // The end of the sequence is enqueued after earlier events, such as the last progress update, so that those are delivered
      // first.
      onFinish { [underlyingQueue] in underlyingQueue.async { continuation.finish() } }
    }
  }
}
