// DownloadWriter: decides to which file a download's body is written, and which files are kept at the end.

import Foundation

/// Records a download's response and its file, so that a later process can continue the download. Called on the file queue.
protocol DownloadRecorder: Sendable {
  /// Creates the file for a response's body, and records the response. Replaces an earlier file.
  func makeFile(for response: URLResponse) throws(URLError) -> DownloadFile
  /// Called before the file is emptied. Removes the recorded response, whose bytes the file contains until then.
  func willEmptyFile() throws(URLError)
  /// Called after the file was emptied. Records the response whose body is written to the file.
  func noteAnswer(_ response: URLResponse) throws(URLError)
}

/// Writes the files of one download. The methods may block the thread on disk I/O.
struct DownloadWriter: ~Copyable {
  /// The decision about a response's body, made when the response's head arrives.
  enum Decision: Equatable {
    /// Write the response's body to the file from the start.
    case take
    /// Append the response's body to the bytes of the earlier download.
    case append(at: UInt64, total: UInt64)
    /// Discard the response's body, because the file is already complete.
    case discard
    /// Discard the response's body, and send this request instead.
    case sendInstead(URLRequest)
  }

  private struct Earlier {
    let data: ResumeData
    let file: DownloadFile
  }

  /// The file to which the body is written.
  private struct Target {
    let file: DownloadFile
    /// The number of bytes that the complete file must have, or nil if the framing of the body determines its end.
    var byteCountDue: UInt64?
  }

  /// The resume data of the earlier download. Nil if there was none, or after its file has been opened.
  private var unopened: ResumeData?
  /// Creates and records the file. Nil for a download to a temporary file.
  private let recorder: (any DownloadRecorder)?
  private var earlier: Earlier?
  /// The request for the entire resource that is sent in place of the request for the rest. Nil if the download wasn't started
  /// again.
  private var freshRequest: URLRequest?
  private var target: Target?
  private var hasEnded = false

  init(resuming data: ResumeData? = nil, recorder: (any DownloadRecorder)? = nil) {
    unopened = data
    self.recorder = recorder
  }

  /// The number of bytes in the file to which the body is written.
  var byteCount: UInt64 { target?.file.byteCount ?? 0 }

  /// Opens the file of the earlier download. Returns the request for the rest of the resource, or for the entire resource if the
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

  /// Writes a piece of the body.
  ///
  /// - Throws: `URLError.cannotWriteToFile`, after removing the file.
  func write(_ data: Data) throws(URLError) {
    try target?.file.write(data)
  }

  /// Ends the download after a complete response. Returns the URL of the file, which then belongs to the caller.
  ///
  /// - Throws: The error of closing the file, or `.badServerResponse` if bytes are missing. The file has then been removed.
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

  /// Ends an incomplete download, and returns its serialized resume data. If the download can't be resumed, removes its files and
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
    // Closing the file may fail, for example because the disk is full. The file has then been removed.
    let isKept = kept.map { (try? $0.keep()) != nil } ?? false
    // Removes the other files. The file that was kept isn't affected.
    abandon()
    return isKept ? resumeData?.serialized : nil
  }
}
