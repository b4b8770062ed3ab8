// BackgroundDownloadTask: a download that a later process can continue.

import Foundation
import LupineEngine
import LupineTransferStore

// Unchecked because its superclass is. All state is constant.
/// A download task of a background session, which writes the response body to a file in the session's folder. After a lost
/// connection, the task resumes the download. After the process has ended, a later process can resume it.
final class BackgroundDownloadTask: URLSessionDownloadTask, BackgroundTask, @unchecked Sendable {
  let job: BackgroundJob

  init(_ session: URLSession, _ request: URLRequest?, _ job: BackgroundJob, identifier: Int) {
    self.job = job
    super.init(session, request, recorder: job, identifier: identifier)
  }

  // MARK: Control

  override func resume() {
    job.noteResumed(earliestStart: earliestBeginDate)
    super.resume()
  }

  override func start(with replacement: URLRequest?, in session: URLSession) {
    job.start(self, with: replacement, in: session)
  }

  func send(_ request: URLRequest, in session: URLSession) {
    delivery(of: session).perform {
      self.begin(
        session,
        Result { () throws(URLError) -> URLRequest? in
          let data = self.job.resumeData(for: request)
          guard var rest = try self.reopenFile(data, recorder: self.job) else { return request }
          // The resume data may come from the caller or from an earlier request, so the options of this request are copied.
          if let options = request.options { rest.changeOptions { $0 = options } }
          return rest
        })
    }
  }

  override func didDescribe(_ text: String?) { job.describe(text) }

  override var response: URLResponse? { super.response ?? job.response }
  override var httpResponse: HTTPURLResponse? { super.httpResponse ?? job.response }

  // MARK: The end, on the file queue

  override func transferDidEnd(_ error: URLError?) {
    guard let error, let session, !hasFileFailed, let delay = job.retryDelay(after: error) else {
      return super.transferDidEnd(job.reason(for: error))
    }
    delivery(of: session).perform(.immediate) {
      let data = self.stopFile(request: self.job.request)
      self.job.setResumeData(data.flatMap { try? ResumeData($0) })
      guard self.returnToStart() else { return super.transferDidEnd(self.job.reason(for: URLError(.cancelled))) }
      self.job.restart(self, after: delay, in: session)
    }
  }

  override func fileIsComplete(_ file: URL) throws(URLError) { try job.noteComplete(file) }

  override func willDeliverFile() { job.noteDelivery() }

  /// Returns the resume data for the partial file that the next attempt would continue, if no attempt has the file open. The file
  /// comes from a failed attempt, from an earlier process or from the caller's resume data.
  override func resumeDataBetweenAttempts() -> Data? {
    job.request.flatMap { job.resumeData(for: $0) }?.serialized
  }

  override func moveFile(of resumeData: Data) -> Data? { job.moveBody(of: resumeData) }

  // MARK: Restoring

  func restore(_ recovery: TransferRecovery, in session: URLSession) {
    switch recovery {
    case .wait: break
    case .start:
      job.noteRestarted()
      resume()
    case .resume(let byteCount):
      setCounts(written: Int64(clamping: byteCount), expected: job.response?.expectedContentLength)
      resume()
    case .deliver:
      guard let path = job.record?.bodyPath, let progress = job.record?.progress else { return }
      let byteCount = Int64(clamping: progress.byteCount)
      setCounts(written: byteCount, expected: byteCount)
      endRestored(in: session) { self.complete(.success(URL(filePath: path)), in: session) }
    case .complete: endRestored(in: session) { self.complete(nil) }
    case .answerLost: break
    }
  }
}

extension BackgroundJob: DownloadRecorder {
  func makeFile(for response: URLResponse) throws(URLError) -> DownloadFile {
    guard let record else { throw URLError(.cannotCreateFile) }
    try willEmptyFile()
    try wrapping { record throws(TransferStoreError) in try record.removeBody() }
    try noteAnswer(response)
    return try DownloadFile.create(
      at: record.bodyPath, from: response.url, total: UInt64(exactly: response.expectedContentLength))
  }

  func willEmptyFile() throws(URLError) {
    try wrapping { record throws(TransferStoreError) in try record.removeAnswer() }
  }

  func noteAnswer(_ response: URLResponse) throws(URLError) {
    noteResponse()
    guard let response = response as? HTTPURLResponse else { return }
    let answer = recordable(response)
    try wrapping { record throws(TransferStoreError) in try record.setAnswer(answer) }
  }

  /// Flushes the file to the disk, then records that the download is complete.
  fileprivate func noteComplete(_ file: URL) throws(URLError) {
    try wrapping { record throws(TransferStoreError) in
      let byteCount: UInt64
      do throws(SystemError) {
        let file = try WritableFile(reopening: file.path)
        try file.synchronize()
        byteCount = try file.byteCount()
      } catch {
        throw .system(error)
      }
      try record.mark { ($0.stage, $0.byteCount) = (.finished, byteCount) }
    }
  }

  /// Records that the download is complete and that the delegate may now move the file. If the record can't be written, a later
  /// process delivers the file again if it still exists, and otherwise repeats the download.
  fileprivate func noteDelivery() { try? record?.mark { $0.stage = .delivering } }

  /// Moves the partial file of a canceled download from the background session's folder to the directory for temporary files.
  /// Returns resume data with the new path, or nil if the file can't be moved.
  fileprivate func moveBody(of resumeData: Data) -> Data? {
    guard var data = try? ResumeData(resumeData) else { return nil }
    let target = FileManager.default.temporaryDirectory.appending(path: DownloadFileName.random())
    guard (try? DownloadDestination(url: target).move(from: URL(filePath: data.path))) != nil else { return nil }
    data.path = target.path
    return data.serialized
  }

  /// Moves the partial file of the caller's resume data into the background session's folder, where this process or a later one
  /// continues the download. If the file can't be moved, the download starts from the beginning.
  func adopt(_ resumeData: ResumeData) {
    // Bytes beyond those that the resume data counts are removed, because a later process counts all bytes of the file.
    guard let record, let file = try? DownloadFile.reopen(resumeData), (try? file.keep()) != nil else { return }
    var data = resumeData
    data.path = record.bodyPath
    // The head is recorded before the file is moved. Otherwise, a later process couldn't continue the file.
    try? record.setAnswer(TransferAnswer(resumeData))
    let source = URL(filePath: resumeData.path)
    guard (try? DownloadDestination(url: URL(filePath: data.path)).move(from: source)) != nil else {
      try? record.removeAnswer()
      return
    }
    setResumeData(data)
    noteAdopted(from: resumeData.path)
  }

  private func wrapping(
    _ call: (TransferRecord) throws(TransferStoreError) -> Void
  ) throws(URLError) {
    guard let record else { throw URLError(.cannotCreateFile) }
    do throws(TransferStoreError) {
      try call(record)
    } catch {
      throw .record(error, .cannotWriteToFile, "The record of task \(record.id) can't be written")
    }
  }
}
