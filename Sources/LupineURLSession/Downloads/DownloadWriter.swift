// DownloadWriter: decides to which file a download's body is written, and which files are kept at the end.

import Foundation

/// Records on disk a download's response and its file, so that a later process can continue the download. Called on the file queue.
protocol DownloadRecorder: Sendable {
  /// Creates the file for the response's body, and records the response. The new file replaces the file of an earlier response.
  func makeFile(for response: URLResponse) throws(URLError) -> DownloadFile
  /// Removes the record of the response whose body is in the file. Called before the file is emptied.
  func willEmptyFile() throws(URLError)
  /// Records the response whose body will be written to the file. Called after the file has been emptied.
  func noteAnswer(_ response: URLResponse) throws(URLError)
}

/// Writes the body of one download to files. The methods may block the thread on disk I/O.
struct DownloadWriter: ~Copyable {
  /// What to do with a response's body. Decided when the response's head arrives.
  enum Decision: Equatable {
    /// Write the response's body to an empty file.
    case take
    /// Append the response's body to the earlier download's file, which has `at` bytes. `total` is the length of the complete file
    /// in bytes.
    case append(at: UInt64, total: UInt64)
    /// Discard the response's body, because the earlier download's file is already complete.
    case discard
    /// Discard the response's body, and send this request instead of the previous one.
    case sendInstead(URLRequest)
  }

  private struct Earlier {
    let data: ResumeData
    let file: DownloadFile
  }

  /// The file to which the response's body is written.
  private struct Target {
    let file: DownloadFile
    /// The number of bytes that the complete file must have. Nil if any number is correct, because the framing of the body
    /// determines its end.
    var byteCountDue: UInt64?
  }

  /// The earlier download's resume data, whose file hasn't been opened yet. Nil if there was no earlier download, or after its file
  /// has been opened.
  private var unopened: ResumeData?
  /// Creates the file for the body and records it for later processes. Nil for a download to a temporary file.
  private let recorder: (any DownloadRecorder)?
  private var earlier: Earlier?
  /// The request for the entire resource, which was sent because the rest couldn't be appended to the earlier download's file. Nil
  /// if no such request was sent.
  private var freshRequest: URLRequest?
  private var target: Target?
  private var hasEnded = false

  init(resuming data: ResumeData? = nil, recorder: (any DownloadRecorder)? = nil) {
    unopened = data
    self.recorder = recorder
  }

  /// The number of bytes in the file to which the body is written.
  var byteCount: UInt64 { target?.file.byteCount ?? 0 }

  /// Opens the file of the earlier download. Returns a request for the rest of the resource, or for the entire resource if that
  /// file no longer exists. Returns nil if there was no earlier download.
  ///
  /// - Throws: `URLError.cannotOpenFile`, or `.cancelled` if the download has already ended.
  mutating func open() throws(URLError) -> URLRequest? {
    if hasEnded { throw URLError(.cancelled) }
    guard let data = unopened.take() else { return nil }
    guard let file = try DownloadFile.reopen(data) else { return startAfresh(data) }
    earlier = Earlier(data: data, file: file)
    return data.makeRequest()
  }

  /// Chooses the file to which a response's body is written, and creates it if necessary. Returns what to do with the body.
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
      // With a recorder, the recorded file is overwritten, because it is the file that is delivered.
      if recorder != nil { return try overwrite(earlier, with: response) }
      target = Target(file: try makeFile(response))
      return .take
    }
  }

  private mutating func overwrite(_ earlier: Earlier, with response: HTTPURLResponse) throws(URLError) -> Decision {
    target = Target(file: earlier.file)
    // The recorded response is removed first and replaced last, so that the file's bytes always belong to it.
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
    // If the response was written to another file, it doesn't contain the rest of the resource. The earlier file is then kept for
    // another attempt.
    if let earlier, earlier.file !== target.file { try? earlier.file.keep() }
    return try target.file.finish(byteCountDue: target.byteCountDue)
  }

  /// Ends an incomplete download and removes its files.
  mutating func abandon() {
    hasEnded = true
    // Opens the file before removing it, because `reopen` checks whether it is the download's file.
    if let data = unopened.take() { (try? DownloadFile.reopen(data))?.abandon() }
    target?.file.abandon()
    earlier?.file.abandon()
  }

  /// Ends an incomplete download, keeps its partial file, and returns its serialized resume data. If the download can't be resumed,
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
    // Closing the file may fail, for example because the disk is full. The file has then been removed.
    let isKept = kept.map { (try? $0.keep()) != nil } ?? false
    // Removes the other files. The file that was kept isn't affected.
    abandon()
    return isKept ? resumeData?.serialized : nil
  }
}
