// BackgroundUploadTask: an upload of a file. Until a response arrives, the task or a later process can send the file again.

import Foundation
import LupineEngine
import LupineTransferStore
import Synchronization

// Unchecked because its superclass is. Its own state is in a Mutex.
/// An upload task of a background session. After a lost connection, the task sends its file again. After the process has ended, a
/// later process can send the file again. Once the head of a response has arrived, the file isn't sent again.
final class BackgroundUploadTask: URLSessionUploadTask, BackgroundTask, @unchecked Sendable {
  let job: BackgroundJob
  /// The file to which the response's body is written, so that a later process can deliver the body. Nil before a response arrives,
  /// and if the file can't be written.
  private let answerFile = Mutex<DownloadFile?>(nil)

  init(_ session: URLSession, _ request: URLRequest, _ content: UploadContent, _ job: BackgroundJob, identifier: Int) {
    self.job = job
    super.init(session, request, content, identifier: identifier)
  }

  // MARK: Control

  override func resume() {
    job.noteResumed(earliestStart: earliestBeginDate)
    super.resume()
  }

  override func start(with replacement: URLRequest?, in session: URLSession) {
    job.start(self, with: replacement, in: session)
  }

  func send(_ request: URLRequest, in session: URLSession) { begin(session, .success(request)) }

  override func didDescribe(_ text: String?) { job.describe(text) }

  override var response: URLResponse? { super.response ?? job.response }
  override var httpResponse: HTTPURLResponse? { super.httpResponse ?? job.response }

  // MARK: The response, on the delegate queue

  override var decidesOnResponse: Bool { true }

  /// False, because a background upload records the response's body itself.
  override var canBecomeDownload: Bool { false }

  override func transfer(
    isRedirectedTo request: URLRequest, by response: HTTPURLResponse,
    answer: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // If a redirect (301, 302 or 303) changes the method, the server has processed the upload, and the redirected request gets the
    // upload's result (RFC 9110 §15.4). After a redirect that keeps the method, the file is sent to the new URL.
    let isAnswer = [301, 302, 303].contains(response.statusCode) && request.httpMethod != job.request?.httpMethod
    if isAnswer { job.markAnswered(response) }
    super.transfer(isRedirectedTo: request, by: response, answer: answer)
  }

  override func transfer(didReceive response: URLResponse, answer: @escaping @Sendable (Bool) -> Void) {
    let file = job.noteAnswered(response)
    answerFile.withLock { $0 = file }
    super.transfer(didReceive: response, answer: answer)
  }

  override func receive(_ body: Data) {
    let file = answerFile.withLock { $0 }
    if let file, (try? file.write(body)) == nil { answerFile.withLock { $0 = nil } }
    super.receive(body)
  }

  override func transferDidEnd(_ error: URLError?) {
    guard let error else {
      job.noteComplete(answerFile.withLock { $0.take() })
      return super.transferDidEnd(nil)
    }
    // The file is removed before the task completes. Afterward, the folder may belong to another session, with a task of the same
    // number.
    answerFile.withLock { $0.take() }?.abandon()
    guard let session, let delay = job.retryDelay(after: error) else {
      return super.transferDidEnd(job.reason(for: error))
    }
    guard returnToStart() else { return super.transferDidEnd(job.reason(for: URLError(.cancelled))) }
    job.restart(self, after: delay, in: session)
  }

  // MARK: Restoring

  func restore(_ recovery: TransferRecovery, in session: URLSession) {
    switch recovery {
    case .wait: break
    case .start, .resume: resume()
    case .deliver, .complete: endRestored(in: session) { self.deliverRecordedResponse(in: session) }
    case .answerLost:
      let error = URLError.answerLost(job.record?.progress.status ?? 0, url: originalRequest?.url)
      endRestored(in: session) { self.complete(error) }
    }
  }

  private func deliverRecordedResponse(in session: URLSession) {
    guard let delegate = delegates?.data, let response = job.response else { return complete(nil) }
    delegate.urlSession(session, dataTask: self, didReceive: response) { disposition in
      session.delivery.perform(.immediate) {
        guard disposition == .allow else { return self.complete(URLError(.cancelled)) }
        let error = self.job.readBody { delegate.urlSession(session, dataTask: self, didReceive: $0) }
        self.complete(error)
      }
    }
  }
}

extension BackgroundJob {
  /// Records on disk that the server has answered the upload. Called before the response is processed. If the record can't be
  /// written, removes the record, so that a later process doesn't send the file again, and returns false.
  @discardableResult
  fileprivate func markAnswered(_ response: URLResponse) -> Bool {
    stopSending()
    guard let record else { return false }
    let status = UInt32(clamping: (response as? HTTPURLResponse)?.statusCode ?? 0)
    if (try? record.mark { ($0.stage, $0.status) = (.answered, status) }) != nil { return true }
    record.remove()
    return false
  }

  /// Records the head of the upload's final response on disk. Returns the file for the response's body, or nil if the response
  /// can't be recorded.
  fileprivate func noteAnswered(_ response: URLResponse) -> DownloadFile? {
    noteResponse()
    guard markAnswered(response), let record, let response = response as? HTTPURLResponse else { return nil }
    do {
      // A head that was recorded earlier may belong to another response, such as that of a redirect's target. It must not be
      // combined with this body.
      try record.removeAnswer()
      try record.removeBody()
      try record.setAnswer(recordable(response))
      return try DownloadFile.create(at: record.bodyPath, from: response.url)
    } catch {
      return nil
    }
  }

  /// Records on disk that the upload's response is complete. Has no effect if the response's body couldn't be written to the file.
  fileprivate func noteComplete(_ file: DownloadFile?) {
    guard let record, let file else { return }
    let byteCount = file.byteCount
    guard (try? file.finish()) != nil else { return }
    try? record.mark { ($0.stage, $0.byteCount) = (.finished, byteCount) }
  }

  /// Reads the recorded body of the response from its file, and passes it to `receive` in pieces. Returns nil after the last piece,
  /// or an error if the file can't be read.
  fileprivate func readBody(_ receive: (Data) -> Void) -> URLError? {
    guard let record else { return nil }
    // 64 KiB, the maximum that the engine reads from a socket at once.
    let pieceBytes = 64 * 1024
    do throws(SystemError) {
      let file = try File(readingOwn: record.bodyPath)
      var offset: UInt64 = 0
      while offset < record.progress.byteCount {
        var piece: [UInt8] = []
        let count = try file.read(pieceBytes, at: offset, into: &piece)
        guard count > 0 else { throw .fileEnded(record.bodyPath) }
        receive(Data(piece))
        offset += UInt64(count)
      }
      return nil
    } catch {
      return .record(.system(error), .cannotOpenFile, "The response of task \(record.id) can't be read")
    }
  }
}

// Unchecked because its superclass is.
/// A data task that a background session refuses. It fails when it is resumed.
final class RefusedDataTask: URLSessionDataTask, @unchecked Sendable {
  private let refusal: URLError

  init(_ session: URLSession, _ request: URLRequest, _ refusal: URLError, identifier: Int) {
    self.refusal = refusal
    super.init(session, request, identifier: identifier)
  }

  override func start(with replacement: URLRequest?, in session: URLSession) { begin(session, .failure(refusal)) }
}
