// The lifetime of sessions, tasks and delegates, and behaviors that users of URLSession on Linux have found broken.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct LifetimeTests {
  @Test("a task in progress retains its session, and both are released after the task has completed")
  func taskRetainsSession() async throws {
    let (arrived, mayAnswer) = (Gate(), Gate())
    let origin = try OriginServer { peer in
      try peer.serve { _ in
        arrived.open()
        try peer.wait(for: mayAnswer)
        return .text("here")
      }
    }
    defer { origin.stop() }
    weak var heldSession: URLSession?
    weak var heldTask: URLSessionTask?
    let bodies = Notes()
    do {
      let session = URLSession(configuration: .ephemeral)
      let task = session.dataTask(with: origin.request()) { data, _, _ in
        bodies.add(String(decoding: data ?? Data(), as: UTF8.self))
      }
      heldSession = session
      heldTask = task
      task.resume()
    }
    await arrived.wait()
    #expect(heldSession != nil && heldTask != nil)
    mayAnswer.open()
    #expect(await settles { heldSession == nil && heldTask == nil })
    #expect(bodies.all == ["here"])
    // The connections are closed even though the session wasn't invalidated.
    #expect(await settles { origin.openConnectionCount == 0 })
  }

  @Test("a task that is never resumed retains its session until it is cancelled")
  func unresumed() async throws {
    weak var heldSession: URLSession?
    var task: URLSessionTask?
    do {
      let session = URLSession(configuration: .ephemeral)
      task = session.dataTask(with: URL(filePath: "/nowhere"))
      heldSession = session
    }
    #expect(heldSession != nil)
    task?.cancel()
    #expect(await settles { heldSession == nil })
    #expect(task?.state == .completed)
  }

  @Test("an invalidated session notifies its delegate once and last, and then releases it", arguments: [true, false])
  func delegate(isCancelling: Bool) async throws {
    try await withServer {
      .text($0.path)
    } _: { origin in
      weak var held: NotingDelegate?
      let session: URLSession
      let notes: Notes
      let isInvalid: Gate
      do {
        let delegate = NotingDelegate()
        held = delegate
        notes = delegate.notes
        isInvalid = delegate.isInvalid
        session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
      }
      let tasks: [URLSessionTask] = [
        session.dataTask(with: origin.request()), session.downloadTask(with: origin.request()),
        session.uploadTask(with: origin.request("/", "POST"), from: Data("x".utf8)),
        session.dataTask(with: origin.request()) { _, _, _ in }, session.dataTask(with: URL(filePath: "/nowhere")),
      ]
      for task in tasks { task.resume() }
      #expect(held != nil)
      if isCancelling { session.invalidateAndCancel() } else { session.finishTasksAndInvalidate() }
      await isInvalid.wait()
      #expect(await settles { held == nil })
      #expect(notes.all.last == "invalid" && notes.all.count { $0 == "invalid" } == 1)
      #expect(session.delegate == nil && tasks.allSatisfy { $0.state == .completed })
    }
  }

  @Test("finishTasksAndInvalidate notifies the delegate even if the session has had no task, or only failed ones")
  func invalidationWithoutTasks() async throws {
    for fails in [false, true] {
      let delegate = NotingDelegate()
      let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
      if fails { session.dataTask(with: try #require(URL(string: "http://127.0.0.1:1/"))).resume() }
      session.finishTasksAndInvalidate()
      await delegate.isInvalid.wait()
      #expect(delegate.notes.all.last == "invalid")
    }
  }

  @Test("invalidating the shared session has no effect, even on its tasks")
  func shared() async throws {
    let (arrived, mayAnswer) = (Gate(), Gate())
    let origin = try OriginServer { peer in
      try peer.serve { _ in
        arrived.open()
        try peer.wait(for: mayAnswer)
        return .text("here")
      }
    }
    defer { origin.stop() }
    let request = origin.request()
    let running = Task { try await URLSession.shared.data(for: request).0 }
    await arrived.wait()
    URLSession.shared.finishTasksAndInvalidate()
    URLSession.shared.invalidateAndCancel()
    mayAnswer.open()
    #expect(try await running.value == Data("here".utf8))
    #expect(try await URLSession.shared.data(for: request).0 == Data("here".utf8))
  }

  @Test("hundreds of sessions can be used and invalidated, and leave no connection")
  func manySessions() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      let request = origin.request()
      for _ in 0..<20 {
        await withTaskGroup(of: Bool.self) { group in
          for _ in 0..<20 {
            group.addTask {
              let session = URLSession(configuration: .ephemeral)
              defer { session.finishTasksAndInvalidate() }
              return (try? await session.data(for: request).0) == Data("here".utf8)
            }
          }
          for await isHere in group { #expect(isHere) }
        }
      }
      #expect(origin.requestCount == 400)
      #expect(await settles { origin.openConnectionCount == 0 })
    }
  }

  @Test("hundreds of concurrent requests share the connections of a host, and all succeed")
  func manyRequests() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let request = origin.request()
        await withTaskGroup(of: Bool.self) { group in
          for _ in 0..<300 {
            group.addTask { (try? await session.data(for: request).0) == Data("here".utf8) }
          }
          for await isHere in group { #expect(isHere) }
        }
        #expect(origin.connectionCount <= session.configuration.httpMaximumConnectionsPerHost)
      }
    }
  }

  @Test("if tasks are cancelled on many threads while their responses arrive, each completion handler is called once")
  func cancellationRace() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let calls = Notes()
        let tasks = (0..<200).map { index in
          session.dataTask(with: origin.request()) { _, _, _ in calls.add("\(index)") }
        }
        DispatchQueue.concurrentPerform(iterations: tasks.count) { index in
          tasks[index].resume()
          tasks[tasks.count - 1 - index].cancel()
        }
        #expect(await settles { tasks.allSatisfy { $0.state == .completed } })
        #expect(await settles { calls.all.count >= tasks.count })
        #expect(calls.all.count == tasks.count && Set(calls.all).count == tasks.count)
      }
    }
  }

  @Test("a redirect to another origin carries neither Authorization nor Cookie, whatever kind of task follows it")
  func redirectedCredentials() async throws {
    let heads = Notes()
    try await withServer { request in
      heads.add(String(decoding: request.rawHead, as: UTF8.self))
      return .text("there")
    } _: { other in
      try await withServer { _ in
        Reply(status: 302, fields: ["Location": "\(other.url)/there"])
      } _: { origin in
        try await withSession { session in
          var guarded = origin.request()
          guarded.setValue("Basic c2VjcmV0", forHTTPHeaderField: "Authorization")
          guarded.setValue("a=secret", forHTTPHeaderField: "Cookie")
          let request = guarded
          _ = try await session.data(for: request)
          let (file, _) = try await session.download(for: request)
          try FileManager.default.removeItem(at: file)
          _ = await outcome { session.dataTask(with: request, completionHandler: $0) }
          let (bytes, _) = try await session.bytes(for: request)
          for try await _ in bytes {}
          #expect(heads.all.count == 4)
          for head in heads.all {
            for secret in ["Authorization", "c2VjcmV0", "Cookie", "secret"] { #expect(!head.contains(secret)) }
          }
        }
      }
    }
  }
}
