// DownloadWriter: decides to which file a download's body is written, and which files are kept at the end.

import Foundation

/// The files of one download. The methods block the thread while the disk is busy.
struct DownloadWriter: ~Copyable {
  /// The decision about a response after its head has arrived.
  enum Decision: Equatable {
    /// Write its body to the file from the start.
    case take
    /// Append its body to the bytes of the earlier download.
    case append(at: UInt64, total: UInt64)
    /// Discard its body, because the file is already complete.
    case discard
    /// Discard its body and send this request instead.
    case sendInstead(URLRequest)
  }

  private struct Earlier {
    let data: ResumeData
    let file: DownloadFile
  }

  /// The file to which the body is written.
  private struct Target {
    let file: DownloadFile
    /// The number of bytes that the file must have at the end, or nil if the framing of the body determines its end.
    var byteCountDue: UInt64?
  }

  /// The resume data, until the file of the earlier download is opened.
  private var unopened: ResumeData?
  private var earlier: Earlier?
  /// The request for the entire resource, if it was sent instead of the request for the rest, or nil.
  private var freshRequest: URLRequest?
  private var target: Target?
  private var hasEnded = false

  init(resuming data: ResumeData? = nil) { unopened = data }

  /// The number of bytes in the file to which the body is written.
  var byteCount: UInt64 { target?.file.byteCount ?? 0 }

  /// Opens the file of the earlier download. Returns the request to send: for the rest of the resource, or for all of it if the
  /// file no longer exists. Returns nil if there was no earlier download.
  ///
  /// - Throws: `URLError.cannotOpenFile`, or `.cancelled` after the end.
  mutating func open() throws(URLError) -> URLRequest? {
    if hasEnded { throw URLError(.cancelled) }
    guard let data = unopened.take() else { return nil }
    guard let file = try DownloadFile.reopen(data) else { return startAfresh(data) }
    earlier = Earlier(data: data, file: file)
    return data.makeRequest()
  }

  /// Chooses the file for a response's body.
  ///
  /// - Throws: `URLError.cannotCreateFile`, or the error of emptying the file of the earlier download.
  mutating func begin(_ response: URLResponse) throws(URLError) -> Decision {
    if hasEnded { throw URLError(.cancelled) }
    // Only downloads over HTTP produce resume data.
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
  /// - Throws: `URLError.cannotWriteToFile`, after removing the file.
  func write(_ data: Data) throws(URLError) {
    try target?.file.write(data)
  }

  /// Ends the download after a complete response. Returns its file, which then belongs to the caller.
  ///
  /// - Throws: The error of closing the file, or `.badServerResponse` if bytes are missing. The file has then been removed.
  mutating func finish() throws(URLError) -> URL {
    guard !hasEnded, let target else { throw URLError(.cancelled) }
    hasEnded = true
    // The response doesn't contain the rest of the resource, so the earlier file is kept for another attempt.
    if let earlier, earlier.file !== target.file { try? earlier.file.keep() }
    return try target.file.finish(byteCountDue: target.byteCountDue)
  }

  /// Ends an incomplete download and removes its files.
  mutating func abandon() {
    hasEnded = true
    // The file is opened first, because opening it checks whether it may be removed.
    if let data = unopened.take() { (try? DownloadFile.reopen(data))?.abandon() }
    target?.file.abandon()
    earlier?.file.abandon()
  }

  /// Ends an incomplete download and returns its resume data. If the download can't
  /// be resumed, removes its files and returns nil.
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
    // Closing may report that the disk is full. The file has then been removed.
    let isKept = kept.map { (try? $0.keep()) != nil } ?? false
    // The file that was kept isn't affected.
    abandon()
    return isKept ? resumeData?.serialized : nil
  }
}
