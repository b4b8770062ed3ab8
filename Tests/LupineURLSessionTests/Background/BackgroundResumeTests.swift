// The partial files of background downloads: which response they belong to, and who can continue them.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import LupineTransferStore
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct BackgroundResumeTests {
  private let content = SequenceBytes.bytes(from: 0, count: 10_000)
  private static let running = TransferProgress(stage: .running, startedAt: Int64(Date().timeIntervalSince1970 * 1000))

  private func resumeData(_ url: String, path: String) throws -> ResumeData {
    ResumeData(
      url: try #require(URL(string: url)), fields: [:], timeoutInterval: nil, handlesCookies: true,
      mainDocumentURL: nil, validator: .entityTag("\"1\""), path: path, receivedByteCount: 4_000,
      totalByteCount: 10_000)
  }

  @Test("a later process continues a background download that was created with resume data, from the same byte")
  func adopted() async throws {
    let (folder, later) = (SessionFolder(), SessionFolder())
    try await withServer { [content] request in
      guard request.fields.first("Range") == "bytes=4000-", request.fields.first("If-Range") == "\"1\"" else {
        return Reply(fields: ["ETag": "\"1\"", "Accept-Ranges": "bytes"], .bytes(content))
      }
      return Reply(
        status: 206, fields: ["ETag": "\"1\"", "Content-Range": "bytes 4000-9999/10000"],
        .bytes(Array(content[4_000...])))
    } _: { origin in
      let file = FileManager.default.temporaryDirectory.appending(path: DownloadFileName.random())
      // The resume data counts only the first 4,000 bytes of the file.
      try Data(Array(content[..<4_000]) + [1, 2, 3]).write(to: file)
      let data = try #require(try resumeData(origin.url + "/r", path: file.path).serialized)
      let session = folder.session(EventRecorder())
      defer { session.invalidateAndCancel() }
      _ = session.downloadTask(withResumeData: data)
      // The later process finds the files that this process would leave if it were killed now.
      try FileManager.default.createDirectory(
        atPath: later.path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      for name in folder.names {
        try FileManager.default.copyItem(atPath: "\(folder.path)/\(name)", toPath: "\(later.path)/\(name)")
      }
      let recorder = EventRecorder()
      let laterSession = later.session(recorder)
      defer { laterSession.invalidateAndCancel() }
      let tasks = await laterSession.allTasks
      #expect(tasks.map { $0.response == nil } == [true])
      tasks.first?.resume()
      #expect(await settles { recorder.events.completions.count == 1 && later.names.isEmpty })
      #expect(recorder.events.files == [content] && recorder.events.offsets == [4_000])
    }
  }

  @Test("resume data remains usable if a background session refuses its task because of a completion handler")
  func refused() async throws {
    let folder = SessionFolder()
    let file = FileManager.default.temporaryDirectory.appending(path: DownloadFileName.random())
    try Data(content[..<4_000]).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let data = try #require(try resumeData("http://127.0.0.1:9/r", path: file.path).serialized)
    let session = folder.session(EventRecorder())
    defer { session.invalidateAndCancel() }
    let code: URLError.Code? = await firstValue { done in
      let task = session.downloadTask(withResumeData: data) { _, _, error in done((error as? URLError)?.code) }
      task.resume()
    }
    #expect(code == .unsupportedURL && folder.names.isEmpty)
    #expect(try Data(contentsOf: file) == Data(content[..<4_000]))
  }

  @Test("the response head that is recorded for resume data has no user information in its URL")
  func userInformation() throws {
    let data = try resumeData("http://user:secret@127.0.0.1/r", path: "/tmp/\(DownloadFileName.random())")
    let answer = TransferAnswer(data)
    #expect(answer.url == "http://127.0.0.1/r")
    #expect(answer.response?.value(forHTTPHeaderField: "ETag") == "\"1\"")
  }

  @Test(
    "if a restored download's resource has changed, the next attempts continue the new representation, not the recorded one"
  )
  func changed() async throws {
    let folder = SessionFolder()
    let new = SequenceBytes.bytes(from: 1, count: 10_000)
    let origin = try OriginServer { [content] peer in
      while let request = try peer.readRequest() {
        switch peer.connectionIndex {
        case 0:
          try peer.send(
            "HTTP/1.1 200 OK\r\nETag: \"2\"\r\nAccept-Ranges: bytes\r\nContent-Length: 10000\r\n\r\n")
          try peer.send(Array(new[..<5_000]))
          return peer.close()
        case 1: return peer.close()
        default:
          // One of the origin's replicas still has the earlier representation.
          let isNew = request.fields.first("If-Range") == "\"2\""
          try peer.send(
            "HTTP/1.1 206 Partial Content\r\nETag: \"\(isNew ? 2 : 1)\"\r\nContent-Length: 5000\r\n"
              + "Content-Range: bytes 5000-9999/10000\r\n\r\n")
          try peer.send(Array((isNew ? new : content)[5_000...]))
        }
      }
    }
    defer { origin.stop() }
    try folder.leave(
      .download(origin), Self.running, answer: TransferAnswer(origin, byteCount: 10_000),
      body: Array(content.prefix(4_000)))
    let recorder = EventRecorder()
    let session = folder.session(recorder)
    defer { session.invalidateAndCancel() }
    #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
    #expect(recorder.events.files == [new] && recorder.events.offsets == [5_000])
  }

  @Test("a restored upload whose file was moved or deleted fails without a request, and leaves no record")
  func missingUpload() async throws {
    let folder = SessionFolder()
    try await withServer { _ in
      .text("")
    } _: { origin in
      let path = folder.directory.appending(path: "moved").path
      try folder.leave(
        TransferDescription(kind: .upload(path: path), url: origin.url + "/r", method: "POST", fields: []),
        Self.running)
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      defer { session.invalidateAndCancel() }
      #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
      #expect(recorder.events.completions.first?.error?.code == .fileDoesNotExist && origin.requestCount == 0)
    }
  }

  @Test("a background download that is cancelled between two attempts produces resume data")
  func cancelledBetweenAttempts() async throws {
    let folder = SessionFolder()
    let origin = try OriginServer { [content] peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\nContent-Length: 10000\r\n\r\n")
      try peer.send(Array(content[..<4_000]))
      peer.close()
    }
    defer { origin.stop() }
    let recorder = EventRecorder()
    let session = folder.session(recorder) { configuration in
      configuration.lupineBackground.retryDelayMin = .seconds(600)
      configuration.lupineBackground.retryDelayMax = .seconds(600)
    }
    defer { session.invalidateAndCancel() }
    let task = session.downloadTask(with: origin.request("/r"))
    task.resume()
    #expect(await settles { task.countOfBytesReceived == 4_000 && task.transfer == nil })
    let data = try #require(await firstValue { task.cancel(byProducingResumeData: $0) })
    #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
    let resumeData = try ResumeData(data)
    defer { URLSessionDownloadTask.removeFile(ofResumeData: data) }
    #expect(resumeData.receivedByteCount == 4_000 && resumeData.validator == .entityTag("\"1\""))
    #expect(try Data(contentsOf: URL(filePath: resumeData.path)) == Data(content[..<4_000]))
  }
}
