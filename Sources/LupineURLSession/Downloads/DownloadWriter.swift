// What a download's task does with the response: which file its body goes to, and what becomes of the files in the end.

import Foundation

/// The files of one download, from the first head to its end. Its calls block as long as the disk does.
struct DownloadWriter: ~Copyable {
  /// What is to become of a response whose head came.
  enum Decision: Equatable {
    /// Its body is the representation from its start, or an answer of its own.
    case take
    /// Its body goes behind what is there.
    case append(at: UInt64, total: UInt64)
    /// Its body is of no interest, as the file is complete.
    case discard
    /// Its body is of no interest: this request is to be sent instead.
    case sendInstead(URLRequest)
  }

  private struct Earlier {
    let data: ResumeData
    let file: DownloadFile
  }

  /// The file that is complete when the response is.
  private struct Target {
    let file: DownloadFile
    /// How many bytes it has to hold; nil if the framing of the body says that.
    var byteCountDue: UInt64?
  }

  /// What the download began with, until its file is opened.
  private var unopened: ResumeData?
  private var earlier: Earlier?
  /// The request for everything, if that is what is asked for in place of the rest.
  private var freshRequest: URLRequest?
  private var target: Target?
  private var hasEnded = false

  init(resuming data: ResumeData? = nil) { unopened = data }

  /// How many bytes are in the file that the body goes to.
  var byteCount: UInt64 { target?.file.byteCount ?? 0 }

  /// Opens what an earlier download has left, and returns the request to send: for the rest, or for everything if the
  /// file is gone. Nil if there was no earlier download.
  ///
  /// - Throws: `URLError.cannotOpenFile`; `.cancelled` behind the end.
  mutating func open() throws(URLError) -> URLRequest? {
    if hasEnded { throw URLError(.cancelled) }
    guard let data = unopened.take() else { return nil }
    guard let file = try DownloadFile.reopen(data) else { return startAfresh(data) }
    earlier = Earlier(data: data, file: file)
    return data.makeRequest()
  }

  /// Chooses the file for a response's body.
  ///
  /// - Throws: `URLError.cannotCreateFile`, or what emptying the file of an earlier download throws.
  mutating func begin(_ response: URLResponse) throws(URLError) -> Decision {
    if hasEnded { throw URLError(.cancelled) }
    // Only downloads over HTTP leave resume data.
    guard let earlier, let response = response as? HTTPURLResponse else {
      target = Target(file: try makeFile(response))
      return .take
    }
    switch ResumeAnswer.judge(response, to: earlier.data) {
    case .append(let offset, let total):
      target = Target(file: earlier.file, byteCountDue: total)
      return .append(at: offset, total: total)
    case .startAfresh:
      target = Target(file: earlier.file)
      try earlier.file.startAfresh(total: UInt64(exactly: response.expectedContentLength))
      return .take
    case .complete:
      target = Target(file: earlier.file)
      return .discard
    case .askAgain:
      earlier.file.abandon()
      self.earlier = nil
      return .sendInstead(startAfresh(earlier.data))
    case .unrelated:
      target = Target(file: try makeFile(response))
      return .take
    }
  }

  private mutating func startAfresh(_ data: ResumeData) -> URLRequest {
    let request = data.makeFreshRequest()
    freshRequest = request
    return request
  }

  private func makeFile(_ response: URLResponse) throws(URLError) -> DownloadFile {
    try DownloadFile.create(from: response.url, total: UInt64(exactly: response.expectedContentLength))
  }

  /// Writes a piece of the body.
  ///
  /// - Throws: `URLError.cannotWriteToFile`; then the file is gone.
  func write(_ data: Data) throws(URLError) {
    try target?.file.write(data)
  }

  /// The response is complete: returns its file, which is the caller's from now on.
  ///
  /// - Throws: what closing the file throws; `.badServerResponse` if bytes are missing; then the file is gone.
  mutating func finish() throws(URLError) -> URL {
    guard !hasEnded, let target else { throw URLError(.cancelled) }
    hasEnded = true
    // The answer was none to the question: what is there stays for another attempt.
    if let earlier, earlier.file !== target.file { try? earlier.file.keep() }
    return try target.file.finish(byteCountDue: target.byteCountDue)
  }

  /// The download ends without being complete, and nothing stays.
  mutating func abandon() {
    hasEnded = true
    // Opened first, since not every file that is named may be removed.
    if let data = unopened.take() { (try? DownloadFile.reopen(data))?.abandon() }
    target?.file.abandon()
    earlier?.file.abandon()
  }

  /// The download ends without being complete: returns what it takes to go on with it. What can't be gone on with is
  /// removed, and nil returned.
  mutating func stop(request: URLRequest?, response: HTTPURLResponse?) -> Data? {
    guard !hasEnded else { return nil }
    if let unopened {
      hasEnded = true
      return unopened.serialized
    }
    let resumeData = (freshRequest ?? request).flatMap { request in
      guard let file = target?.file ?? earlier?.file else { return nil as ResumeData? }
      return ResumeData.make(
        request: request, response: response, file: file.url, receivedByteCount: file.byteCount, earlier: earlier?.data)
    }
    let kept = [target?.file, earlier?.file].compactMap(\.self).first { $0.url.path == resumeData?.path }
    // Closing finds out that the disk is full, as the case may be; the file is gone then.
    let isKept = kept.map { (try? $0.keep()) != nil } ?? false
    // The one that is kept has had its end.
    abandon()
    return isKept ? resumeData?.serialized : nil
  }
}
