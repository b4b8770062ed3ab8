// `Request`'s events as asynchronous sequences, which end with the request.

public import Foundation
public import LupineURLSession

extension Request {
  /// Returns the upload's progress whenever it changes. Replaces an earlier handler.
  public func uploadProgress(
    bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
  ) -> StreamOf<Progress> {
    stream(bufferingPolicy) { [self] continuation in
      uploadProgress(queue: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Returns the download's progress whenever it changes. Replaces an earlier handler.
  public func downloadProgress(
    bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
  ) -> StreamOf<Progress> {
    stream(bufferingPolicy) { [self] continuation in
      downloadProgress(queue: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Returns each `URLRequest` that is about to be sent, beginning with the latest one if there is one.
  public func urlRequests(
    bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
  ) -> StreamOf<URLRequest> {
    stream(bufferingPolicy) { [self] continuation in
      onCreation { result in
        if case .success(let request) = result { continuation.yield(request) }
      }
    }
  }

  /// Returns each task that is created, beginning with the latest one if there is one.
  public func urlSessionTasks(
    bufferingPolicy: StreamOf<URLSessionTask>.BufferingPolicy = .unbounded
  ) -> StreamOf<URLSessionTask> {
    stream(bufferingPolicy) { [self] continuation in
      onURLSessionTaskCreation(on: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Returns the curl command of each `URLRequest`, beginning with the latest one if there is one.
  public func cURLDescriptions(
    bufferingPolicy: StreamOf<String>.BufferingPolicy = .unbounded
  ) -> StreamOf<String> {
    stream(bufferingPolicy) { [self] continuation in
      cURLDescription { continuation.yield($0) }
    }
  }

  /// Returns a sequence that ends with the request. `build` adds its source of elements, on the underlying queue.
  func stream<Element: Sendable>(
    _ bufferingPolicy: StreamOf<Element>.BufferingPolicy,
    build: @escaping @Sendable (StreamOf<Element>.Continuation) -> Void
  ) -> StreamOf<Element> {
    StreamOf(bufferingPolicy: bufferingPolicy) { [self] continuation in
      build(continuation)
      // Enqueued after earlier events, such as the last progress.
      onFinish { [underlyingQueue] in underlyingQueue.async { continuation.finish() } }
    }
  }
}
