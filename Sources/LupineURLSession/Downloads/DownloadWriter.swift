// DownloadWriter: decides to which file a download's body is written, and which files are kept at the end.

import Foundation

/// Records a download's response and file on disk, so that a later process can continue the download. Called on the file queue.
protocol DownloadRecorder: Sendable {
  /// Creates the file for the response's body, in place of the file of an earlier response, and records the response.
  func makeFile(for response: URLResponse) throws(URLError) -> DownloadFile
  /// Removes the recorded response, because the file with its body is about to be emptied.
  func willEmptyFile() throws(URLError)
  /// Records the response whose body will be written to the file. Called after the file has been emptied.
  func noteAnswer(_ response: URLResponse) throws(URLError)
}

/// Writes the body of a download to a file, or appends it to the partial file of an earlier download. The methods may block the
/// thread on disk I/O.
struct DownloadWriter: ~Copyable {
  /// The use of a response's body in a download. Decided when the response's head arrives.
  enum Decision: Equatable {
    /// Write the response's body to an empty file.
    case take
    /// Append the response's body to the partial file of an earlier download, which has `at` bytes. `total` is the length of the
    /// complete file in bytes.
    case append(at: UInt64, total: UInt64)
    /// Discard the response's body, because the file of the earlier download is already complete.
    case discard
    /// Discard the response's body, and send this request for the entire resource.
    case sendInstead(URLRequest)
  }

  private struct Earlier {
    let data: ResumeData
    let file: DownloadFile
  }

  /// The file to which the response's body is written.
  private struct Target {
    let file: DownloadFile
    /// The number of bytes that the complete file must have. Nil if the length isn't known in advance, because the framing of the
    /// body determines its end.
    var byteCountDue: UInt64?
  }

  /// The resume data of an earlier download whose partial file hasn't been opened yet. Nil if there was no earlier download, or
  /// after the file has been opened.
  private var unopened: ResumeData?
  /// Creates the file for the body and records it for a later process. Nil if the download is written to a temporary file.
  private let recorder: (any DownloadRecorder)?
  private var earlier: Earlier?
  /// The request for the entire resource, which was sent because the rest couldn't be appended to the partial file. Nil if no such
  /// request was sent.
  private var freshRequest: URLRequest?
  private var target: Target?
  private var hasEnded = false

  init(resuming data: ResumeData? = nil, recorder: (any DownloadRecorder)? = nil) {
    unopened = data
    self.recorder = recorder
  }

  /// The number of bytes in the file to which the response's body is written, or 0 if there is no file yet.
  var byteCount: UInt64 { target?.file.byteCount ?? 0 }

  /// Opens the partial file of an earlier download. Returns a request for the rest of the resource, or for the entire resource if
  /// the file no longer exists. Returns nil if there was no earlier download.
  ///
  /// - Throws: `URLError.cannotOpenFile`, or `.cancelled` if the download has already ended.
  mutating func open() throws(URLError) -> URLRequest? {
    if hasEnded { throw URLError(.cancelled) }
    guard let data = unopened.take() else { return nil }
    guard let file = try DownloadFile.reopen(data) else { return startAfresh(data) }
    earlier = Earlier(data: data, file: file)
    return data.makeRequest()
  }

  /// Chooses the file for a response's body, and creates it if necessary. Returns what to do with the body.
  ///
  /// - Throws: `URLError.cannotCreateFile`, the error of emptying the file of the earlier download, or `.cancelled` if the download
  ///   has already ended.
  mutating func begin(_ response: URLResponse) throws(URLError) -> Decision {
    if hasEnded { throw URLError(.cancelled) }
    // Only downloads over HTTP produce resume data.
    guard let earlier, let response = response as? HTTPURLResponse else {
      target = Target(file: try makeFile(response))
      return .take
    }
    switch ResumeAnswer.interpret(response, to: earlier.data) {
    case .append(let offset, let total):
      target = Target(file: earlier.file, byteCountDue: total)
      return .append(at: offset, total: total)
    case .startAfresh:
      return try overwrite(earlier, with: response)
    case .complete:
      target = Target(file: earlier.file)
      return .discard
    case .askAgain:
      earlier.file.abandon()
      self.earlier = nil
      return .sendInstead(startAfresh(earlier.data))
    case .unrelated:
      // A recorder records only one file, which will be delivered. Therefore the partial file is overwritten.
      if recorder != nil { return try overwrite(earlier, with: response) }
      target = Target(file: try makeFile(response))
      return .take
    }
  }

  private mutating func overwrite(_ earlier: Earlier, with response: HTTPURLResponse) throws(URLError) -> Decision {
    target = Target(file: earlier.file)
    // The recorded response is removed before the file is emptied and replaced afterward, so that the bytes in the file always
    // belong to the recorded response.
    try recorder?.willEmptyFile()
    try earlier.file.startAfresh(total: UInt64(exactly: response.expectedContentLength))
    try recorder?.noteAnswer(response)
    return .take
  }

  private mutating func startAfresh(_ data: ResumeData) -> URLRequest {
    let request = data.makeFreshRequest()
    freshRequest = request
    return request
  }

  private func makeFile(_ response: URLResponse) throws(URLError) -> DownloadFile {
    if let recorder { return try recorder.makeFile(for: response) }
    return try DownloadFile.create(from: response.url, total: UInt64(exactly: response.expectedContentLength))
  }

  /// Appends a piece of the response's body to its file.
  ///
  /// - Throws: `URLError.cannotWriteToFile`, after removing the file.
  func write(_ data: Data) throws(URLError) {
    try target?.file.write(data)
  }

  /// Ends the download after a complete response. Returns the URL of the file, which then belongs to the caller.
  ///
  /// - Throws: The error of closing the file, or `.badServerResponse` if bytes are missing. After these errors, the file has been
  ///   removed. `.cancelled` if the download has already ended.
  mutating func finish() throws(URLError) -> URL {
    guard !hasEnded, let target else { throw URLError(.cancelled) }
    hasEnded = true
    // If the response was written to another file, it isn't the rest of the resource. The partial file is then kept for another
    // attempt.
    if let earlier, earlier.file !== target.file { try? earlier.file.keep() }
    return try target.file.finish(byteCountDue: target.byteCountDue)
  }

  /// Ends an incomplete download, and removes its files.
  mutating func abandon() {
    hasEnded = true
    // Opens the file before removing it, because `reopen` checks whether the file belongs to the download.
    if let data = unopened.take() { (try? DownloadFile.reopen(data))?.abandon() }
    target?.file.abandon()
    earlier?.file.abandon()
  }

  /// Ends an incomplete download, but keeps its partial file. Returns serialized resume data. If the download can't be resumed,
  /// removes its files and returns nil.
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
    // Closing the file may fail, for example because the disk is full. In this case, `keep` has removed the file.
    let isKept = kept.map { (try? $0.keep()) != nil } ?? false
    // Removes the other files. It doesn't remove the partial file that was kept.
    abandon()
    return isKept ? resumeData?.serialized : nil
  }
}
