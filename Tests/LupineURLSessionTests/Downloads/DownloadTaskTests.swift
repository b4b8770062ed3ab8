// `URLSessionDownloadTask`: its delegate's calls, its file, and its resume data.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct DownloadTaskTests {
  /// A session's delegate that records the calls of its methods for download tasks.
  private final class Delegate: NSObject, URLSessionDownloadDelegate {
    struct Heard: Sendable {
      var written: [Int64] = []
      var totals: [Int64] = []
      var expected: Set<Int64> = []
      var offset: Int64?
      var body: Data?
      var file: URL?
    }

    let heard = Mutex(Heard())
    let ended = Recorder<(any Error)?>()
    let target: URL?

    init(target: URL? = nil) { self.target = target }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
      heard.withLock { heard in
        heard.body = try? Data(contentsOf: location)
        heard.file = location
      }
      if let target { try? FileManager.default.moveItem(at: location, to: target) }
    }
    func urlSession(
      _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
      totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
    ) {
      heard.withLock { heard in
        heard.written.append(bytesWritten)
        heard.totals.append(totalBytesWritten)
        heard.expected.insert(totalBytesExpectedToWrite)
      }
    }
    func urlSession(
      _ session: URLSession, downloadTask: URLSessionDownloadTask, didResumeAtOffset fileOffset: Int64,
      expectedTotalBytes: Int64
    ) { heard.withLock { $0.offset = fileOffset } }
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      ended.record(error)
    }
  }

  @Test("the session's delegate gets the progress that a task's own delegate doesn't implement")
  func ownDelegate() async throws {
    final class Own: NSObject, URLSessionDownloadDelegate, Sendable {
      let file = Recorder<Data?>()
      func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
      ) { file.record(try? Data(contentsOf: location)) }
    }
    try await withServer { _ in
      .text("hello")
    } _: { origin in
      let (delegate, own) = (Delegate(), Own())
      try await withSession(delegate: delegate) { session in
        let task = session.downloadTask(with: origin.request())
        task.delegate = own
        task.resume()
        #expect(await own.file.next() == Data("hello".utf8))
        let error = try #require(await delegate.ended.next())
        #expect(error == nil)
        #expect(delegate.heard.withLock { $0.totals.last == 5 && $0.file == nil })
      }
    }
  }

  @Test(
    "a downloaded file exists during didFinishDownloadingTo, and afterward only if the delegate has moved the file",
    arguments: [true, false])
  func file(isMoved: Bool) async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: 600_000))
    } _: { origin in
      try await withFolder { folder in
        let target = folder.appending(path: "file")
        let delegate = Delegate(target: isMoved ? target : nil)
        try await withSession(delegate: delegate) { session in
          let task = session.downloadTask(with: origin.request())
          task.resume()
          let error = try #require(await delegate.ended.next())
          #expect(error == nil && task.state == .completed)
          let heard = delegate.heard.withLock { $0 }
          let isIntact = heard.body == Pattern.data(600_000)
          #expect(isIntact)
          #expect(heard.written.reduce(0, +) == 600_000 && heard.totals.last == 600_000 && heard.offset == nil)
          #expect(heard.totals == heard.totals.sorted() && heard.expected == [600_000])
          #expect(task.countOfBytesReceived == 600_000 && task.countOfBytesExpectedToReceive == 600_000)
          let file = try #require(heard.file)
          #expect(!FileManager.default.fileExists(atPath: file.path))
          #expect(names(in: folder) == (isMoved ? ["file"] : []))
        }
      }
    }
  }

  @Test("cancel(byProducingResumeData:) calls its closure before the task ends, and the data resumes another task")
  func resumes() async throws {
    let resource = Resource()
    try await withScripts([
      { try resource.answer($0, on: $1, .hold(at: 70_000)) }, { try resource.answer($0, on: $1) },
    ]) { origin, _ in
      let delegate = Delegate()
      try await withSession(delegate: delegate) { session in
        let task = session.downloadTask(with: origin.request())
        task.resume()
        #expect(await settles { task.countOfBytesReceived >= 70_000 })
        let data = await firstValue { task.cancel(byProducingResumeData: $0) }
        let error = try #require(await delegate.ended.next() as? URLError)
        #expect(error.code == .cancelled && error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data == data)
        let resumeData = try #require(data)
        // A call after the task has ended returns the same resume data.
        let again = await firstValue { task.cancel(byProducingResumeData: $0) }
        #expect(again == data)
        #expect(await task.cancelByProducingResumeData() == data)

        let rest = session.downloadTask(withResumeData: resumeData)
        rest.resume()
        let end = try #require(await delegate.ended.next())
        #expect(end == nil)
        let heard = delegate.heard.withLock { $0 }
        let isIntact = heard.body == resource.bytes
        #expect(isIntact)
        #expect(heard.offset == 70_000 && rest.countOfBytesReceived == 200_000)
        #expect(rest.originalRequest?.value(forHTTPHeaderField: "Range") == "bytes=70000-")
      }
    }
  }

  @Test("cancelling an unstarted download task that was created with resume data returns the same resume data")
  func neverRan() async throws {
    let resource = Resource()
    try await withScripts([{ try resource.answer($0, on: $1, .cut(at: 70_000)) }]) { origin, _ in
      let delegate = Delegate()
      try await withSession(delegate: delegate) { session in
        let task = session.downloadTask(with: origin.request())
        let data = await firstValue { task.cancel(byProducingResumeData: $0) }
        #expect(data == nil)
        #expect((await delegate.ended.next() as? URLError)?.code == .cancelled)

        let first = session.downloadTask(with: origin.request())
        first.resume()
        let error = try #require(await delegate.ended.next() as? URLError)
        let left = try #require(error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
        let second = session.downloadTask(withResumeData: left)
        let same = await second.cancelByProducingResumeData()
        #expect(try same.map { try ResumeData($0) } == ResumeData(left))
        _ = await delegate.ended.next()
        let third = session.downloadTask(withResumeData: left)
        third.cancel()
        #expect((await delegate.ended.next() as? URLError)?.code == .cancelled)
        #expect(try !FileManager.default.fileExists(atPath: ResumeData(left).path))
      }
    }
  }
}
