// Doubles for tests of uploads: body streams, a recording delegate, and a server's reports.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization

@testable import Lupine
@testable import LupineURLSession

/// An InputStream of the pattern's first `byteCount` bytes, which then ends or, if `failure` is set, fails. A closed stream
/// can be opened again if `canReopen` is true.
final class PatternStream: InputStream {
  private struct State {
    var status = Stream.Status.notOpen
    var offset = 0
    var openCount = 0
  }

  private let byteCount: Int
  private let failure: (any Error)?
  private let canReopen: Bool
  private let state = Mutex(State())

  init(_ byteCount: Int, failingWith failure: (any Error)? = nil, canReopen: Bool = false) {
    self.byteCount = byteCount
    self.failure = failure
    self.canReopen = canReopen
    super.init(data: Data())
  }

  /// Called for each call of `read(_:maxLength:)`.
  var onRead: () -> Void = {}

  var openCount: Int { state.withLock { $0.openCount } }
  /// The number of bytes read since the stream was last opened.
  var offset: Int { state.withLock { $0.offset } }

  override var streamStatus: Stream.Status { state.withLock { $0.status } }
  override var streamError: (any Error)? { state.withLock { $0.status } == .error ? failure : nil }
  override var hasBytesAvailable: Bool { true }

  override func open() {
    state.withLock { state in
      state.status = .open
      state.offset = 0
      state.openCount += 1
    }
  }

  override func close() { state.withLock { $0.status = canReopen ? .notOpen : .closed } }

  override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
    onRead()
    return state.withLock { state in
      let count = min(length, byteCount - state.offset)
      if count == 0, failure != nil {
        state.status = .error
        return -1
      }
      for index in 0..<count { buffer[index] = Pattern.byte(at: UInt64(state.offset + index)) }
      state.offset += count
      return count
    }
  }
}

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

extension ReceivedRequest {
  /// A description of the received request, such as "POST chunked 5 true": the method, the Content-Length or transfer coding,
  /// the body's length, and whether the body consists of the pattern's first bytes.
  var bodyReport: String {
    let framing = fields.first("Content-Length") ?? fields.first("Transfer-Encoding") ?? "none"
    return "\(method) \(framing) \(body.count) \(Data(body) == Pattern.data(body.count))"
  }

  /// A reply whose body is `bodyReport`. A path such as `/307` is redirected to `/` with that status code, and `/401` requires
  /// Basic authentication.
  var uploadReply: Reply {
    if let status = Int(path.dropFirst()), (300..<400).contains(status) {
      return Reply(status: status, fields: ["Location": "/"])
    }
    if path == "/401", !fields.contains("Authorization") {
      return Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
    }
    return .text(bodyReport)
  }
}

extension URL {
  /// Creates a file in this folder that contains the first `byteCount` bytes of the pattern, and returns the file's URL.
  @discardableResult
  func patternFile(_ byteCount: Int, name: String = "body") throws -> URL {
    let file = appending(path: name)
    try Pattern.data(byteCount).write(to: file)
    return file
  }
}

extension DataRequest {
  /// Waits for the response, and returns the body as text.
  func text() async throws -> String { try await serializingString().value }
}
