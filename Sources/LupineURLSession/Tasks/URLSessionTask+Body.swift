// URLSessionTask+Body: the body that a task sends. If the request has a stream, that stream is sent first, and the delegate
// provides another stream for each repetition.

import Foundation
import LupineEngine
import Synchronization

extension URLSessionTask {
  /// Returns the body to send in place of the request's own body. Returns nil to send the request's own body, which is in memory.
  /// Throws a `URLError` if the body is a file that can't be sent.
  ///
  /// After a redirect that a URLProtocol has reported (`isRedirected`), the body is that of the task's original request. The
  /// URLProtocol may have read its stream. In that case, the delegate provides another stream.
  func makeBody(of request: URLRequest, isRedirected: Bool) throws -> RequestBody? {
    func source() -> URLRequest? { isRedirected ? firstRequest : request }
    switch content {
    case .data(let data): return RequestBody(data)
    case .file(let url): return try RequestBody(ofFile: url)
    case .stream: return makeStreamedBody(of: source()) { try await $0.newBodyStream() }
    case nil:
      guard case .stream(let stream)? = isRedirected ? firstRequest?.body : request.body else { return nil }
      let isFirst = Atomic(!isRedirected || stream.stream.streamStatus == .notOpen)
      return makeStreamedBody(of: source()) { task in
        if isFirst.exchange(false, ordering: .relaxed) { stream } else { try await task.newBodyStream() }
      }
    }
  }

  private func makeStreamedBody(
    of request: URLRequest?, _ stream: @escaping @Sendable (URLSessionTask) async throws -> BodyStream
  ) -> RequestBody {
    RequestBody(byteCount: request?.declaredByteCount, isReplayable: true) { [weak self] in
      guard let self else { throw CancellationError() }
      return try await stream(self)
    }
  }

  /// Calls the delegate on its queue to get a stream for the request's body, and returns this stream.
  ///
  /// Throws `URLError.requestBodyStreamExhausted` if the delegate provides no stream, and `CancellationError` if the task ends
  /// first.
  private func newBodyStream() async throws -> BodyStream {
    try await firstAnswer(onCancel: .failure(CancellationError())) { askForBodyStream($0) }.get()
  }

  /// Calls the delegate on its queue to get a stream for the request's body, and passes the stream to `answer`. If the delegate
  /// provides no stream, passes `URLError.requestBodyStreamExhausted`. If the delegate answers several times, `answer` is called
  /// each time.
  func askForBodyStream(_ answer: @escaping @Sendable (Result<BodyStream, any Error>) -> Void) {
    guard let session else { return answer(.failure(CancellationError())) }
    session.delivery.perform {
      guard let delegate = self.delegates?.task else { return answer(.failure(Self.noStream)) }
      delegate.urlSession(session, task: self) { stream in
        answer(stream.map { .success(.box($0)) } ?? .failure(Self.noStream))
      }
    }
  }

  private static var noStream: URLError {
    URLError(
      .requestBodyStreamExhausted,
      "The body must be read again, but the delegate returned no stream. Return one, or send data or a file.")
  }
}
