// What happens to requests of every kind, as asynchronous sequences that end with the request.

public import Foundation
public import LupineURLSession

extension Request {
  /// How much of the request's body was sent, each time that it changes; replaces a handler that was set before.
  public func uploadProgress(
    bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
  ) -> StreamOf<Progress> {
    stream(bufferingPolicy) { [self] continuation in
      uploadProgress(queue: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// How much of the response's body has come, each time that it changes; replaces a handler that was set before.
  public func downloadProgress(
    bufferingPolicy: StreamOf<Progress>.BufferingPolicy = .unbounded
  ) -> StreamOf<Progress> {
    stream(bufferingPolicy) { [self] continuation in
      downloadProgress(queue: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// Each `URLRequest` that is made, when it is about to be sent, beginning with the latest if there is one already.
  public func urlRequests(
    bufferingPolicy: StreamOf<URLRequest>.BufferingPolicy = .unbounded
  ) -> StreamOf<URLRequest> {
    stream(bufferingPolicy) { [self] continuation in
      onCreation { result in
        if case .success(let request) = result { continuation.yield(request) }
      }
    }
  }

  /// Each task that is made, beginning with the latest if there is one already.
  public func urlSessionTasks(
    bufferingPolicy: StreamOf<URLSessionTask>.BufferingPolicy = .unbounded
  ) -> StreamOf<URLSessionTask> {
    stream(bufferingPolicy) { [self] continuation in
      onURLSessionTaskCreation(on: underlyingQueue) { continuation.yield($0) }
    }
  }

  /// The curl command of each `URLRequest` that is made, beginning with the latest if there is one already.
  public func cURLDescriptions(
    bufferingPolicy: StreamOf<String>.BufferingPolicy = .unbounded
  ) -> StreamOf<String> {
    stream(bufferingPolicy) { [self] continuation in
      cURLDescription { continuation.yield($0) }
    }
  }

  /// A sequence that ends with the request; `build` adds what yields, on the underlying queue.
  func stream<Element: Sendable>(
    _ bufferingPolicy: StreamOf<Element>.BufferingPolicy,
    build: @escaping @Sendable (StreamOf<Element>.Continuation) -> Void
  ) -> StreamOf<Element> {
    StreamOf(bufferingPolicy: bufferingPolicy) { [self] continuation in
      build(continuation)
      // Behind what was queued before the end: the last progress, for one.
      onFinish { [underlyingQueue] in underlyingQueue.async { continuation.finish() } }
    }
  }
}
