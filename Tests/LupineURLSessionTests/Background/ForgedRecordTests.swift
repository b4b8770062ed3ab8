// Records of background sessions that the session hasn't written: they deliver no other files.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import LupineTransferStore
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct ForgedRecordTests {
  @Test(
    "a link in place of a background task's recorded body isn't delivered: a download is loaded again, an upload fails")
  func linkedBody() async throws {
    let secret = FileManager.default.temporaryDirectory.appending(path: "lupine-secret-\(UUID().uuidString)")
    try Data([1, 2, 3]).write(to: secret)
    defer { try? FileManager.default.removeItem(at: secret) }
    let finished = TransferProgress(stage: .finished, status: 200, byteCount: 3, startedAt: 1)
    let folder = SessionFolder()
    let content = SequenceBytes.bytes(from: 0, count: 10_000)
    try await withServer { _ in
      Reply(.bytes(content))
    } _: { origin in
      let upload = TransferDescription(kind: .upload(path: secret.path), url: origin.url, method: "PUT", fields: [])
      for (id, description) in [(1, .download(origin)), (2, upload)] as [(UInt64, TransferDescription)] {
        try folder.leave(id: id, description, finished, answer: TransferAnswer(origin, byteCount: 3))
        let body = "\(folder.path)/\(TransferFileName.body(id).text)"
        try FileManager.default.createSymbolicLink(atPath: body, withDestinationPath: secret.path)
      }
      let recorder = EventRecorder()
      let session = folder.session(recorder) { $0.timeoutIntervalForResource = 0 }
      defer { session.invalidateAndCancel() }
      #expect(await settles { recorder.events.completions.count == 2 && folder.names.isEmpty })
      #expect(recorder.events.files == [content] && recorder.events.data.isEmpty && origin.requestCount == 1)
      #expect(try Data(contentsOf: secret) == Data([1, 2, 3]))
    }
  }

  @Test("a recorded background task whose URL names a local file delivers nothing, and a new one fails")
  func localFile() async throws {
    let secret = FileManager.default.temporaryDirectory.appending(path: "lupine-secret-\(UUID().uuidString)")
    try Data([1, 2, 3]).write(to: secret)
    defer { try? FileManager.default.removeItem(at: secret) }
    let folder = SessionFolder()
    let urls = [secret.absoluteString, "FILE://localhost\(secret.path)", "data:,secret"]
    for (index, url) in urls.enumerated() {
      let description = TransferDescription(kind: .download, url: url, method: "GET", fields: [])
      try folder.leave(id: UInt64(index + 1), description, TransferProgress(stage: .running, startedAt: 1))
    }
    let recorder = EventRecorder()
    let session = folder.session(recorder) { $0.timeoutIntervalForResource = 0 }
    defer { session.invalidateAndCancel() }
    #expect(await settles { recorder.events.finishedEventsCount == 1 && folder.names.isEmpty })
    #expect(recorder.events.files.isEmpty)
    #expect(recorder.events.completions.map(\.error?.code) == urls.map { _ in .cannotOpenFile })
    session.downloadTask(with: secret).resume()
    #expect(await settles { recorder.events.completions.count == 4 && folder.names.isEmpty })
    #expect(recorder.events.completions.last?.error?.code == .unsupportedURL && recorder.events.files.isEmpty)
  }
}
