// Concurrency+Request: the events of a `Request` as asynchronous sequences, which end with the request.

public import Foundation
public import LupineURLSession

extension Request {
  /// Returns a sequence of the progress of sending the request body. Replaces an earlier `uploadProgress` handler.
  public func uploadProgress(
    bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
  ) -> StreamOf<Progress> {
    stream(bufferingPolicy) { [self] continuation in
      uploadProgress(queue: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Returns a sequence of the progress of receiving the response body. Replaces an earlier `downloadProgress` handler.
  public func downloadProgress(
    bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
  ) -> StreamOf<Progress> {
    stream(bufferingPolicy) { [self] continuation in
      downloadProgress(queue: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Returns a sequence of the `URLRequest`s created for this request, beginning with the latest one if there is one.
  public func urlRequests(
    bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
  ) -> StreamOf<URLRequest> {
    stream(bufferingPolicy) { [self] continuation in
      onCreation { result in
        if case .success(let request) = result { continuation.yield(request) }
      }
    }
  }

  /// Returns a sequence of the tasks created for this request, beginning with the latest one if there is one.
  public func urlSessionTasks(
    bufferingPolicy: StreamOf<URLSessionTask>.BufferingPolicy = .unbounded
  ) -> StreamOf<URLSessionTask> {
    stream(bufferingPolicy) { [self] continuation in
      onURLSessionTaskCreation(on: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Returns a sequence of curl commands, one for each `URLRequest` created for this request, beginning with the latest one if
  /// there is one.
  public func cURLDescriptions(
    bufferingPolicy: StreamOf<String>.BufferingPolicy = .unbounded
  ) -> StreamOf<String> {
    stream(bufferingPolicy) { [self] continuation in
      cURLDescription { continuation.yield($0) }
    }
  }

  /// Returns a sequence that ends when the request has finished. `build` is called when an iteration begins. It adds a handler that
  /// passes elements to the continuation on the underlying queue.
  func stream<Element: Sendable>(
    _ bufferingPolicy: StreamOf<Element>.BufferingPolicy,
    build: @escaping @Sendable (StreamOf<Element>.Continuation) -> Void
  ) -> StreamOf<Element> {
    StreamOf(bufferingPolicy: bufferingPolicy) { [self] continuation in
      build(continuation)
      // Enqueued, so that earlier events, such as the last progress update, are delivered first.
      onFinish { [underlyingQueue] in underlyingQueue.async { continuation.finish() } }
    }
  }
}
