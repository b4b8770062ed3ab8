// DownloadWriter: chooses the file for a download's response body, and disposes of the files at the end.

import Foundation

/// The files of one download, from the first response head to the end. Its methods block for disk I/O.
struct DownloadWriter: ~Copyable {
  /// What to do with a response after its head has arrived.
  enum Decision: Equatable {
    /// Write the body to a new file, or to the earlier file from its start.
    case take
    /// Append the body to the bytes of the earlier download.
    case append(at: UInt64, total: UInt64)
    /// Ignore the body, because the file is complete.
    case discard
    /// Ignore the body and send this request instead.
    case sendInstead(URLRequest)
  }

  private struct Earlier {
    let data: ResumeData
    let file: DownloadFile
  }

  /// The file that is complete when the response is.
  private struct Target {
    let file: DownloadFile
    /// The size in bytes that the file must reach; nil if the body's framing determines its end.
    var byteCountDue: UInt64?
  }

  /// The resume data, until its file has been opened.
  private var unopened: ResumeData?
  private var earlier: Earlier?
  /// The request for the whole content, if it is sent instead of the request for the rest.
  private var freshRequest: URLRequest?
  private var target: Target?
  private var hasEnded = false

  init(resuming data: ResumeData? = nil) { unopened = data }

  /// The size in bytes of the file to which the body is written.
  var byteCount: UInt64 { target?.file.byteCount ?? 0 }

  /// Opens the file of an earlier download. Returns the request for the rest, or for the whole content if the file is gone; nil
  /// without an earlier download.
  ///
  /// - Throws: `URLError.cannotOpenFile`, or `.cancelled` if the download has ended.
  mutating func open() throws(URLError) -> URLRequest? {
    if hasEnded { throw URLError(.cancelled) }
    guard let data = unopened.take() else { return nil }
    guard let file = try DownloadFile.reopen(data) else { return startAfresh(data) }
    earlier = Earlier(data: data, file: file)
    return data.makeRequest()
  }

  /// Chooses the file for a response's body.
  ///
  /// - Throws: `URLError.cannotCreateFile`, or the error of emptying the earlier file.
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
  /// - Throws: `URLError.cannotWriteToFile`. The file is then removed.
  func write(_ data: Data) throws(URLError) {
    try target?.file.write(data)
  }

  /// Returns the file of the complete response. The caller owns it from now on.
  ///
  /// - Throws: The error of closing the file, or `.badServerResponse` if bytes are missing. The file is then removed.
  mutating func finish() throws(URLError) -> URL {
    guard !hasEnded, let target else { throw URLError(.cancelled) }
    hasEnded = true
    // The response wasn't the requested range, so the earlier file stays for another attempt.
    if let earlier, earlier.file !== target.file { try? earlier.file.keep() }
    return try target.file.finish(byteCountDue: target.byteCountDue)
  }

  /// Ends an incomplete download and removes its files.
  mutating func abandon() {
    hasEnded = true
    // Opened first, because `reopen` checks that the named file may be removed.
    if let data = unopened.take() { (try? DownloadFile.reopen(data))?.abandon() }
    target?.file.abandon()
    earlier?.file.abandon()
  }

  /// Ends an incomplete download. Returns the data with which it can be resumed. If it can't be resumed, removes its files and
  /// returns nil.
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
    // Closing may report that the disk is full; the file is then removed.
    let isKept = kept.map { (try? $0.keep()) != nil } ?? false
    // Has no effect on the file that was kept.
    abandon()
    return isKept ? resumeData?.serialized : nil
  }
}
