// Tasks with completion handlers, and the order of the delegates of a task.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CompletionHandlerTests {
  @Test("a data task's completion handler receives the body, on the delegate queue, after the task has completed")
  func data() async throws {
    try await withServer {
      .text("\($0.method) \($0.path)")
    } _: { origin in
      try await withSession { session in
        let states = Notes()
        let key = DispatchSpecificKey<Bool>()
        session.delegateQueue.underlyingQueue?.setSpecific(key: key, value: true)
        let result = await outcome { handler in
          let made = Mutex<URLSessionTask?>(nil)
          let task = session.dataTask(with: origin.request("/a")) { data, response, error in
            let (isOnQueue, task) = (DispatchQueue.getSpecific(key: key) == true, made.withLock { $0 })
            states.add("\(isOnQueue) \(task?.state == .completed) \(task?.response === response)")
            handler(data, response, error)
          }
          made.withLock { $0 = task }
          return task
        }
        #expect(result.text == "GET /a" && result.status == 200 && result.error == nil)
        let byURL = await outcome { session.dataTask(with: URL(string: origin.url + "/b")!, completionHandler: $0) }
        #expect(byURL.text == "GET /b")
        #expect(states.all == ["true true true"])
      }
    }
  }

  @Test("for a response without a body, the completion handler gets empty data, and an error status isn't an error")
  func emptyBody() async throws {
    try await withServer { _ in
      Reply(status: 404)
    } _: { origin in
      try await withSession { session in
        let result = await outcome { session.dataTask(with: origin.request(), completionHandler: $0) }
        #expect(result.data == Data() && result.status == 404 && result.error == nil)
      }
    }
  }

  @Test("a 401 is delivered with its body if the delegate has no method for challenges, or the 401 has no challenge")
  func unanswered() async throws {
    final class Silent: NSObject, URLSessionDataDelegate, Sendable {}
    try await withServer { request in
      let fields: Fields = request.path == "/none" ? [:] : ["WWW-Authenticate": "Basic realm=\"r\""]
      return Reply(status: 401, fields: fields, .bytes(Array("no".utf8)))
    } _: { origin in
      let delegates: [(any URLSessionDelegate)?] = [nil, Silent(), NotingDelegate()]
      for (delegate, paths) in zip(delegates, [["/", "/none"], ["/", "/none"], ["/none"]]) {
        try await withSession(delegate: delegate) { session in
          for path in paths {
            let result = await outcome { session.dataTask(with: origin.request(path), completionHandler: $0) }
            #expect(result.status == 401 && result.text == "no" && result.error == nil)
          }
        }
      }
      #expect(origin.requestCount == 5)
    }
  }

  @Test("a task's completion handler receives the error, and also the response if one was received")
  func failure() async throws {
    try await withServer { _ in
      Reply(fields: ["Connection": "close"], .bytes([]))
    } _: { origin in
      try await withSession { session in
        origin.stop()
        let result = await outcome { session.dataTask(with: origin.request(), completionHandler: $0) }
        #expect(result.data == nil && result.response == nil && result.code == .cannotConnectToHost)
      }
    }
    let truncating = try OriginServer { peer in
      _ = try peer.readRequest()
      try peer.beginChunked(status: 201)
      try peer.chunk("part")
    }
    defer { truncating.stop() }
    try await withSession { session in
      let result = await outcome { session.dataTask(with: truncating.request(), completionHandler: $0) }
      #expect(result.data == nil && result.status == 201 && result.code == .networkConnectionLost)
    }
  }

  @Test("an upload task with a completion handler can send data or a file")
  func uploads() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)")
    try Data("from a file".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try await withServer {
      .text(String(decoding: $0.body, as: UTF8.self))
    } _: { origin in
      try await withSession { session in
        let request = origin.request("/", "POST")
        let data = await outcome {
          session.uploadTask(with: request, from: Data("from memory".utf8), completionHandler: $0)
        }
        #expect(data.text == "from memory")
        let sent = await outcome { session.uploadTask(with: request, fromFile: file, completionHandler: $0) }
        #expect(sent.text == "from a file")
        var own = request
        own.httpBody = Data("its own".utf8)
        let nothing = await outcome { session.uploadTask(with: own, from: nil, completionHandler: $0) }
        #expect(nothing.text == "its own")
      }
    }
  }

  @Test("a downloaded file exists while the task's completion handler runs, and is deleted afterward")
  func download() async throws {
    try await withServer {
      .text($0.path)
    } _: { origin in
      try await withSession { session in
        let read = Notes()
        let file: URL? = await firstValue { completion in
          let task = session.downloadTask(with: URL(string: origin.url + "/file")!) { url, response, error in
            read.add(url.flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? "no file")
            completion(url)
          }
          task.resume()
        }
        #expect(read.all == ["/file"])
        let path = try #require(file).path
        #expect(await settles { !FileManager.default.fileExists(atPath: path) })
      }
    }
  }

  @Test(
    "a task with a completion handler calls its delegate only for redirects, challenges and metrics")
  func delegate() async throws {
    try await withServer { request in
      switch (request.path, request.fields.first("Authorization")) {
      case ("/moved", _): Reply(status: 302, fields: ["Location": "/guarded"])
      case (_, nil): Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
      default: .text("in")
      }
    } _: { origin in
      let delegate = NotingDelegate()
      try await withSession(delegate: delegate) { session in
        let result = await outcome { session.dataTask(with: origin.request("/moved"), completionHandler: $0) }
        #expect(result.text == "in")
        #expect(delegate.notes.all == ["redirect 302", "challenge", "metrics 3"])
      }
    }
  }

  @Test(
    "the session's delegate is called only for the methods that the task's delegate doesn't implement")
  func ownDelegate() async throws {
    final class Metered: NSObject, URLSessionTaskDelegate, Sendable {
      let notes = Notes()

      func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
      ) { notes.add("metrics") }
    }
    try await withServer { request in
      request.path == "/moved" ? Reply(status: 302, fields: ["Location": "/there"]) : .text("there")
    } _: { origin in
      let (delegate, own) = (NotingDelegate(), Metered())
      try await withSession(delegate: delegate) { session in
        let task = session.dataTask(with: origin.request("/moved"))
        #expect(task.delegate === delegate)
        task.delegate = own
        #expect(task.delegate === own)
        task.resume()
        #expect(await settles { task.state == .completed && delegate.notes.all.last == "end" })
        #expect(delegate.notes.all == ["redirect 302", "response", "data there", "end"])
        #expect(own.notes.all == ["metrics"])
      }
    }
  }

  @Test("a completed task releases its delegate and its completion handler")
  func release() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        weak var held: NotingDelegate?
        var task: URLSessionDataTask?
        do {
          let delegate = NotingDelegate()
          held = delegate
          let made = session.dataTask(with: origin.request())
          made.delegate = delegate
          task = made
        }
        task?.resume()
        #expect(await settles { task?.state == .completed && held == nil })
      }
    }
  }

  @Test("a task fails if its response body exceeds the limit for bodies in memory, and succeeds at exactly the limit")
  func bodyLimit() async throws {
    try await withServer { request in
      let body = [UInt8](repeating: 0x78, count: request.path == "/long" ? 101 : 100)
      // Chunks don't declare the body's length.
      return Reply(.chunks([body], pause: .zero))
    } _: { origin in
      try await withSession {
        $0.bodyBytesMax = 100
      } _: { session in
        let fits = await outcome { session.dataTask(with: origin.request("/fits"), completionHandler: $0) }
        #expect(fits.data?.count == 100)
        let long = await outcome { session.dataTask(with: origin.request("/long"), completionHandler: $0) }
        #expect(long.data == nil && long.code == .dataLengthExceedsMaximum && long.status == 200)
        #expect(long.error?.localizedDescription.contains("limit of 100 bytes") == true)
      }
    }
  }

  @Test(
    "a task whose response declares a longer body than the limit for bodies in memory fails before the body arrives")
  func declaredLength() async throws {
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        let status = request.path == "/204" ? "204" : "200"
        try peer.send("HTTP/1.1 \(status) X\r\nContent-Length: 101\r\n\r\n")
      }
    }
    defer { origin.stop() }
    try await withSession {
      $0.bodyBytesMax = 100
      // Without the check of the declared length, the task would wait for the body.
      $0.timeoutIntervalForRequest = 30
    } _: { session in
      let long = await outcome { session.dataTask(with: origin.request("/"), completionHandler: $0) }
      #expect(long.data == nil && long.code == .dataLengthExceedsMaximum && long.status == 200)
      #expect(long.error?.localizedDescription.contains("limit of 100 bytes") == true)
      for (method, path) in [("HEAD", "/"), ("GET", "/204")] {
        let bodiless = await outcome { session.dataTask(with: origin.request(path, method), completionHandler: $0) }
        #expect(bodiless.data == Data() && bodiless.error == nil, "\(method) \(path)")
      }
    }
  }

  @Test("a coded body that is longer than the limit for bodies in memory succeeds if the decoded body isn't")
  func codedLength() async throws {
    let body = (0..<100).map { UInt8($0) }
    try await withServer { _ in
      Reply(.coded(body, .gzip))
    } _: { origin in
      try await withSession {
        $0.bodyBytesMax = 100
      } _: { session in
        let result = await outcome { session.dataTask(with: origin.request(), completionHandler: $0) }
        #expect(result.data == Data(body) && result.error == nil)
      }
    }
  }

  @Test("invalidating a session with tasks in flight calls each task's completion handler once")
  func invalidation() async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      let session = URLSession(configuration: .ephemeral)
      let calls = Notes()
      let tasks = (0..<20).map { index in
        session.dataTask(with: origin.request()) { _, _, error in
          calls.add("\(index) \((error as? URLError)?.code == .cancelled)")
        }
      }
      for task in tasks { task.resume() }
      session.invalidateAndCancel()
      #expect(await settles { calls.all.count == 20 })
      #expect(Set(calls.all) == Set((0..<20).map { "\($0) true" }))
    }
  }

  @Test("the shared session can send requests with completion handlers")
  func shared() async throws {
    try await withServer { _ in
      .text("shared")
    } _: { origin in
      let result = await outcome { URLSession.shared.dataTask(with: origin.request(), completionHandler: $0) }
      #expect(result.text == "shared" && URLSession.shared.delegate == nil)
    }
  }
}
