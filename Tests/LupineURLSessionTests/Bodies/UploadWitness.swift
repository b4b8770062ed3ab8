// `UploadWitness`: a delegate that provides an upload task with body streams, and records its progress and end.

import Foundation
import LupineOrigin
import LupineTestSupport
import Synchronization

@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

/// A session's delegate that provides body streams, and records the progress, body and end of the session's only task.
final class UploadWitness: NSObject, URLSessionDataDelegate {
  struct Progress: Sendable, Equatable {
    let sent: Int64
    let total: Int64
    let expected: Int64
  }

  private let ended = Recorder<(any Error)?>()
  private let makeStream: @Sendable (_ number: Int) -> BodyStream?
  private let heard = Mutex<(progress: [Progress], body: Data, streamCount: Int)>(([], Data(), 0))

  init(_ makeStream: @escaping @Sendable (_ number: Int) -> BodyStream? = { _ in nil }) {
    self.makeStream = makeStream
  }

  var progress: [Progress] { heard.withLock { $0.progress } }
  var text: String { String(decoding: heard.withLock { $0.body }, as: UTF8.self) }
  /// Waits for the task's completion, and returns the task's error, or nil if the task succeeded.
  func end() async -> (any Error)? { await ended.next() ?? nil }

  /// The number of body streams that the task has requested from the delegate.
  var streamCount: Int { heard.withLock { $0.streamCount } }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) {
    let number = heard.withLock { heard in
      heard.streamCount += 1
      return heard.streamCount
    }
    completionHandler(makeStream(number)?.stream)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    heard.withLock {
      $0.progress.append(Progress(sent: bytesSent, total: totalBytesSent, expected: totalBytesExpectedToSend))
    }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    heard.withLock { $0.body.append(data) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    ended.record(error)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) { completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none)) }
}

extension BodyStream {
  /// Returns a new body stream of the first `byteCount` bytes of the pattern.
  static func pattern(_ byteCount: Int) -> BodyStream { .box(InputStream(data: Pattern.data(byteCount))) }
}
