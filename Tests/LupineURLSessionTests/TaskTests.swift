// Tasks: suspension, the session's list of tasks, delays, progress, and tasks without a session.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import LupineURLSession

extension URLSession {
  fileprivate var listed: [URLSessionTask] {
    get async { await firstValue { getAllTasks(completionHandler: $0) } }
  }
}

@Suite(.timeLimit(.minutes(10))) struct TaskTests {
  @Test(
    "a suspended task continues after as many calls of resume as of suspend; a new task needs one more call of resume")
  func suspension() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let task = session.dataTask(with: origin.request())
        task.suspend()
        task.resume()
        #expect(task.state == .suspended && origin.requestCount == 0)
        task.resume()
        #expect(await settles { task.state == .completed })
        let held = session.dataTask(with: origin.request())
        held.resume()
        held.suspend()
        held.suspend()
        held.resume()
        let state = held.state
        #expect(state == .suspended || state == .completed)
        held.resume()
        #expect(await settles { held.state == .completed })
      }
    }
  }

  @Test(
    "getAllTasks, getTasksWithCompletionHandler and their async forms list the tasks that were resumed and haven't ended"
  )
  func list() async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      let session = URLSession(configuration: .ephemeral)
      let request = origin.request()
      let (fresh, running, suspended, cancelled) = (
        session.dataTask(with: request), session.dataTask(with: request), session.downloadTask(with: request),
        session.uploadTask(with: request, from: Data())
      )
      for task in [running, suspended, cancelled] { task.resume() }
      suspended.suspend()
      #expect(await session.listed == [running, suspended, cancelled])
      cancelled.cancel()
      #expect(await session.listed == [running, suspended])
      let kinds: [Int] = await firstValue { completion in
        session.getTasksWithCompletionHandler { completion([$0.count, $1.count, $2.count]) }
      }
      #expect(kinds == [1, 0, 1])
      let tasks = await session.tasks
      #expect(tasks.0 == [running] && tasks.1.isEmpty && tasks.2 == [suspended])
      #expect(await session.allTasks == [running, suspended])
      #expect(fresh.state == .suspended)
      session.finishTasksAndInvalidate()
      #expect(await session.listed.isEmpty)
      #expect(await session.allTasks.isEmpty)
      session.invalidateAndCancel()
      for task in [fresh, running, suspended] { #expect(await settles { task.state == .completed }) }
    }
  }

  @Test("a task's request isn't sent before the earliest begin date, and the delegate may then replace the request")
  func delay() async throws {
    final class Replacing: NSObject, URLSessionTaskDelegate, Sendable {
      func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
      ) {
        guard request.url?.path != "/cancel" else { return completionHandler(.cancel, nil) }
        var other = request
        other.url?.append(path: "replaced")
        completionHandler(.useNewRequest, other)
      }
    }
    try await withServer {
      .text($0.path)
    } _: { origin in
      try await withSession { session in
        let date = Date(timeIntervalSinceNow: 0.2)
        let result = await outcome { handler in
          let task = session.dataTask(with: origin.request("/a"), completionHandler: handler)
          task.earliestBeginDate = date
          return task
        }
        #expect(result.text == "/a" && Date() >= date)
        for (path, expected) in [("/a", "/a/replaced"), ("/cancel", nil)] {
          let replaced = await outcome { handler in
            let task = session.dataTask(with: origin.request(path), completionHandler: handler)
            task.earliestBeginDate = Date(timeIntervalSinceNow: 0.01)
            task.delegate = Replacing()
            return task
          }
          #expect(replaced.text == expected && (expected != nil || replaced.code == .cancelled))
        }
        let never = session.dataTask(with: origin.request())
        never.earliestBeginDate = .distantFuture
        never.resume()
        #expect(await session.listed == [never])
        never.cancel()
        #expect(await settles { never.state == .completed })
      }
    }
  }

  @Test("a server that announces the longest body can't make a task's Progress object overflow")
  func longestBody() async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: UInt64(Int64.max)))
    } _: { origin in
      try await withSession { session in
        let task = session.uploadTask(with: origin.request("/", "POST"), from: Data(count: 5))
        let progress = task.progress
        task.resume()
        #expect(await settles { progress.totalUnitCount == .max && progress.completedUnitCount > 5 })
        task.cancel()
        #expect(await settles { task.state == .completed })
      }
    }
  }

  @Test("a task's Progress object counts bytes, and can suspend, resume and cancel the task")
  func progress() async throws {
    try await withServer { request in
      request.path == "/hold" ? .hold : .text("0123456789")
    } _: { origin in
      try await withSession { session in
        let task = session.uploadTask(with: origin.request("/", "POST"), from: Data(count: 90))
        let progress = task.progress
        #expect(progress === task.progress && progress.isIndeterminate)
        task.resume()
        #expect(await settles { progress.isFinished })
        #expect(progress.totalUnitCount == 100 && progress.completedUnitCount == 100)
        // Read only after the task has completed.
        let late = session.dataTask(with: origin.request())
        late.resume()
        #expect(await settles { late.state == .completed })
        #expect(late.progress.isFinished && late.progress.completedUnitCount == 10)
        let held = session.dataTask(with: origin.request("/hold"))
        held.resume()
        // Progress calls its handlers asynchronously on a private queue.
        held.progress.pause()
        #expect(await settles { held.state == .suspended })
        held.progress.resume()
        #expect(await settles { held.state == .running })
        held.progress.cancel()
        #expect(await settles { held.state == .completed })
        #expect((held.error as? URLError)?.code == .cancelled)
      }
    }
  }

  @Test("a task's countOfBytesClientExpectsToSend and …ToReceive keep the values that the caller sets")
  func expectedByteCounts() throws {
    let task = URLSession.shared.dataTask(with: try #require(URL(string: "http://127.0.0.1/")))
    #expect(task.countOfBytesClientExpectsToSend == NSURLSessionTransferSizeUnknown)
    #expect(task.countOfBytesClientExpectsToReceive == NSURLSessionTransferSizeUnknown)
    task.countOfBytesClientExpectsToSend = 3
    task.countOfBytesClientExpectsToReceive = 5
    #expect(task.countOfBytesClientExpectsToSend == 3 && task.countOfBytesClientExpectsToReceive == 5)
    task.cancel()
  }

  @Test("a program can create an instance of a URLSessionTask subclass without a session")
  func standIn() {
    final class Mock: URLSessionDataTask, @unchecked Sendable {
      let notes = Notes()

      override func resume() { notes.add("resumed") }
    }
    let mock = Mock()
    mock.resume()
    #expect(mock.notes.all == ["resumed"] && mock.originalRequest == nil && mock.state == .suspended)
    let plain = URLSessionDownloadTask()
    plain.resume()
    plain.cancel()
    #expect(plain.taskIdentifier == 0 && URLSessionUploadTask().state == .suspended)
  }
}
