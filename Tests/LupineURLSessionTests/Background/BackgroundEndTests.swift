// The end of background tasks and sessions: afterward, neither may change a file in the folder, which may have another owner.

import Foundation
import LupineOrigin
import LupineTestSupport
import LupineTransferStore
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct BackgroundEndTests {
  private let folder = SessionFolder()
  private let recorder = EventRecorder()

  private func uploadFile() throws -> URL {
    let file = folder.directory.appending(path: "upload")
    try Data([1, 2, 3]).write(to: file)
    return file
  }

  private func record(_ number: UInt64) throws -> Data {
    try Data(contentsOf: URL(filePath: "\(folder.path)/\(TransferFileName.record(number).text)"))
  }

  @Test("setting the description of a completed background task doesn't write a record of the task again")
  func lateDescription() async throws {
    try await withServer { _ in
      .text("answer")
    } _: { origin in
      let session = folder.session(recorder)
      defer { session.invalidateAndCancel() }
      let upload = session.uploadTask(with: origin.request("/", "PUT"), fromFile: try uploadFile())
      let download = session.downloadTask(with: origin.request())
      for task in [upload, download] { task.resume() }
      #expect(await settles { recorder.events.completions.count == 2 && folder.names.isEmpty })
      for task in [upload, download] {
        task.taskDescription = "late"
        #expect(task.taskDescription == "late")
      }
      #expect(folder.names.isEmpty)
    }
  }

  @Test("a task created in an invalidated background session that still has other tasks fails, and leaves no record")
  func lateTask() async throws {
    let isReleased = Gate()
    try await withServer { request in
      if request.path == "/held" { isReleased.waitBlocking() }
      return .text("content")
    } _: { origin in
      defer { isReleased.open() }
      let session = folder.session(recorder)
      session.downloadTask(with: origin.request("/held")).resume()
      session.finishTasksAndInvalidate()
      let late: [URLSessionTask] = [
        session.downloadTask(with: origin.request("/late")),
        session.uploadTask(with: origin.request("/late", "PUT"), fromFile: try uploadFile()),
      ]
      #expect(folder.names == [TransferFileName.record(1).text])
      for task in late {
        task.resume()
        #expect(await settles { (task.error as? URLError)?.code == .cancelled })
      }
      isReleased.open()
      #expect(await settles { recorder.events.invalidity == [nil] })
      #expect(folder.names.isEmpty && origin.requestCount == 1)
    }
  }

  @Test(
    "a task created in an invalidated background session doesn't change the records of a later session with its identifier"
  )
  func foreignTask() async throws {
    try await withServer {
      .text($0.path)
    } _: { origin in
      let earlier = folder.session(recorder)
      earlier.finishTasksAndInvalidate()
      #expect(await settles { recorder.events.invalidity == [nil] })
      let owner = EventRecorder()
      let session = folder.session(owner)
      defer { session.invalidateAndCancel() }
      let task = session.downloadTask(with: origin.request("/owner"))
      let before = try record(1)
      let late = earlier.downloadTask(with: origin.request("/late"))
      late.resume()
      #expect(await settles { (late.error as? URLError)?.code == .cancelled })
      #expect(late.taskIdentifier == 1 && folder.names == [TransferFileName.record(1).text])
      #expect(try record(1) == before)
      task.resume()
      #expect(await settles { owner.events.files == [Array("/owner".utf8)] && folder.names.isEmpty })
      #expect(origin.requestCount == 1)
    }
  }

  @Test("a task created while its session is invalidated on another thread leaves no record")
  func simultaneousInvalidation() async throws {
    try await withServer { _ in
      .text("")
    } _: { origin in
      for round in 1...30 {
        let session = folder.session(recorder)
        let request = origin.request()
        DispatchQueue.concurrentPerform(iterations: 2) { index in
          if index == 0 { _ = session.downloadTask(with: request) } else { session.invalidateAndCancel() }
        }
        #expect(await settles { recorder.events.invalidity.count == round })
        #expect(folder.names.isEmpty)
      }
      #expect(recorder.events.invalidity.allSatisfy { $0 == nil })
    }
  }

  @Test("a session that is invalidated while tasks run keeps its folder until their records are removed")
  func invalidation() async throws {
    try await withServer { _ in
      .text("content")
    } _: { origin in
      let session = folder.session(recorder)
      for _ in 0..<10 { session.downloadTask(with: origin.request()).resume() }
      session.finishTasksAndInvalidate()
      #expect(await settles { recorder.events.invalidity == [nil] })
      #expect(folder.names.isEmpty && recorder.events.files.count == 10)
    }
  }

  @Test(
    "releasing a failed background upload doesn't delete the file of a later session's task with the same identifier")
  func releasedUpload() async throws {
    let origin = try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
      peer.close()
    }
    defer { origin.stop() }
    let session = folder.session(recorder)
    var task: URLSessionUploadTask? = session.uploadTask(
      with: origin.request("/", "PUT"), fromFile: try uploadFile())
    weak let released = task
    task?.resume()
    #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
    #expect(recorder.events.completions.first?.error?.code == .networkConnectionLost)
    session.finishTasksAndInvalidate()
    #expect(await settles { recorder.events.invalidity == [nil] })
    try folder.leave(.download(origin), TransferProgress(), body: [1, 2, 3])
    task = nil
    #expect(await settles { released == nil })
    #expect(folder.names == [TransferFileName.record(1).text, TransferFileName.body(1).text])
  }

  @Test("an upload whose recorded response has no head fails, instead of succeeding without a response")
  func missingHead() async throws {
    try await withServer { _ in
      .text("again")
    } _: { origin in
      let description = TransferDescription(
        kind: .upload(path: try uploadFileOfEarlierProcess()), url: origin.url, method: "PUT", fields: [])
      try folder.leave(
        description, TransferProgress(stage: .finished, status: 201, byteCount: 3, startedAt: 1), body: [7, 8, 9])
      let session = folder.session(recorder) { $0.timeoutIntervalForResource = 0 }
      defer { session.invalidateAndCancel() }
      #expect(await settles { recorder.events.finishedEventsCount == 1 && folder.names.isEmpty })
      let error = recorder.events.completions.first?.error
      #expect(error?.code == .networkConnectionLost && error?.localizedDescription.contains("201") == true)
      #expect(origin.requestCount == 0 && recorder.events.data.isEmpty)
    }
  }

  private func uploadFileOfEarlierProcess() throws -> String {
    try FileManager.default.createDirectory(at: folder.directory, withIntermediateDirectories: true)
    return try uploadFile().path
  }
}
