// Background sessions: their tasks, what they refuse, and their owner.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import LupineTransferStore
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct BackgroundTests {
  private let content = Array("a download's content".utf8)

  @Test("completed background transfers leave no records, and cause no call of urlSessionDidFinishEvents")
  func completion() async throws {
    let folder = SessionFolder()
    try await withServer { [content] request in
      Reply(fields: ["Answer": request.method], .bytes(request.method == "PUT" ? request.body : content))
    } _: { origin in
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      let file = folder.directory.appending(path: "upload")
      try Data([1, 2, 3]).write(to: file)
      let download = session.downloadTask(with: origin.request())
      let upload = session.uploadTask(with: origin.request("/", "PUT"), fromFile: file)
      #expect(folder.names == [TransferFileName.record(1).text, TransferFileName.record(2).text])
      for task in [download, upload] { task.resume() }
      #expect(await settles { recorder.events.completions.count == 2 && folder.names.isEmpty })
      #expect(recorder.events.completions.allSatisfy { $0.error == nil && $0.status == 200 })
      #expect(recorder.events.files == [content] && recorder.events.data == Data([1, 2, 3]))
      session.finishTasksAndInvalidate()
      #expect(await settles { recorder.events.invalidity == [nil] })
      #expect(recorder.events.finishedEventsCount == 0)
    }
  }

  @Test(
    "a background session refuses uploads from memory and streams, completion handlers and async methods")
  func refusals() async throws {
    let folder = SessionFolder()
    try await withServer { _ in
      .text("no")
    } _: { origin in
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      defer { session.invalidateAndCancel() }
      let request = origin.request()
      let tasks: [(URLSessionTask, String)] = [
        (session.uploadTask(with: request, from: Data()), "from memory"),
        (session.uploadTask(withStreamedRequest: request), "from streams"),
      ]
      for (index, (task, text)) in tasks.enumerated() {
        task.resume()
        #expect(await settles { recorder.events.completions.count == index + 1 })
        let error = recorder.events.completions[index].error
        #expect(error?.code == .unsupportedURL && error?.localizedDescription.contains(text) == true)
      }
      var own = request
      own.lupine.proxy = ProxySettings.none
      let refused = session.downloadTask(with: own)
      refused.resume()
      #expect(await settles { recorder.events.completions.count == tasks.count + 1 })
      let text = recorder.events.completions.last?.error?.localizedDescription
      #expect(text?.contains("URLSessionConfiguration.engine") == true)
      let handled = await outcome { session.dataTask(with: request, completionHandler: $0) }
      #expect(handled.code == .unsupportedURL)
      await #expect(throws: URLError.self) { try await session.data(for: request) }
      let file = folder.directory.appending(path: "upload")
      try Data().write(to: file)
      let uploaded = await outcome { session.uploadTask(with: request, fromFile: file, completionHandler: $0) }
      #expect(uploaded.code == .unsupportedURL)
      await #expect(throws: URLError.self) { try await session.download(for: request) }
      #expect(origin.requestCount == 0 && folder.names.isEmpty)
    }
  }

  // As on Apple's systems, where Alamofire's own tests send a data request in a background session.
  @Test(
    "a data task of a background session runs without a record, so a later session doesn't have it")
  func dataTask() async throws {
    let folder = SessionFolder()
    try await withServer { _ in
      .text("data")
    } _: { origin in
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      session.dataTask(with: origin.request()).resume()
      #expect(await settles { recorder.events.completions.count == 1 })
      #expect(recorder.events.completions.first?.status == 200 && recorder.events.data == Data("data".utf8))
      let unsent = session.dataTask(with: origin.request())
      #expect(unsent.state == .suspended && folder.names.isEmpty)
      session.invalidateAndCancel()
      #expect(await settles { recorder.events.invalidity == [nil] })
      let later = folder.session(EventRecorder())
      defer { later.invalidateAndCancel() }
      #expect(await later.allTasks.isEmpty)
    }
  }

  @Test(
    "a second background session with an identifier in use is invalid, but one created after the first has ended is valid"
  )
  func owner() async throws {
    let folder = SessionFolder()
    try await withServer { _ in
      .text("yes")
    } _: { origin in
      let (first, second, third) = (EventRecorder(), EventRecorder(), EventRecorder())
      let owner = folder.session(first)
      let other = folder.session(second)
      let task = other.downloadTask(with: origin.request())
      task.resume()
      #expect(await settles { second.events.invalidity.map { $0?.code } == [.backgroundSessionInUseByAnotherProcess] })
      #expect(await settles { (task.error as? URLError)?.code == .backgroundSessionInUseByAnotherProcess })
      let dataTask = other.dataTask(with: origin.request())
      dataTask.resume()
      #expect(await settles { (dataTask.error as? URLError)?.code == .backgroundSessionInUseByAnotherProcess })
      #expect(origin.requestCount == 0)
      owner.finishTasksAndInvalidate()
      #expect(await settles { first.events.invalidity == [nil] })
      let last = folder.session(third)
      defer { last.invalidateAndCancel() }
      last.downloadTask(with: origin.request()).resume()
      #expect(await settles { third.events.files.count == 1 })
    }
  }

  @Test("a background session's identifier is converted to the name of one directory, whatever its characters")
  func identifiers() {
    #expect(BackgroundOptions.folderName(of: "com.example.App-1_a") == "com.example.App-1_a")
    #expect(BackgroundOptions.folderName(of: "../ä") == "%2E.%2F%C3%A4")
    #expect(BackgroundOptions.folderName(of: "") == nil)
    #expect(BackgroundOptions.folderName(of: String(repeating: "a", count: 255)) != nil)
    #expect(BackgroundOptions.folderName(of: String(repeating: "/", count: 86)) == nil)
  }

  @Test("a background session with an unusable identifier becomes invalid, and the error contains the reason")
  func unusableIdentifier() async {
    let recorder = EventRecorder()
    let session = URLSession(
      configuration: .background(withIdentifier: ""), delegate: recorder, delegateQueue: nil)
    #expect(session.configuration.identifier == "")
    #expect(await settles { recorder.events.invalidity.map { $0?.code } == [.cannotCreateFile] })
  }

  @Test("a background session whose folder other users can change becomes invalid, and the error contains a remedy")
  func foreignFolder() async throws {
    let folder = SessionFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
    let recorder = EventRecorder()
    let session = folder.session(recorder)
    defer { session.invalidateAndCancel() }
    #expect(await settles { recorder.events.invalidity.map { $0?.code } == [.cannotOpenFile] })
    #expect(recorder.events.invalidity.first??.localizedDescription.contains("chmod go-w") == true)
  }

  @Test("after a failed connection, a background task tries again, and a download continues where it was cut off")
  func retries() async throws {
    let folder = SessionFolder()
    let bytes = SequenceBytes.bytes(from: 0, count: 10_000)
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        guard peer.connectionIndex > 0 else { return peer.close() }
        let first = peer.connectionIndex == 1 ? 0 : 4_000
        let isRest = request.fields.first("Range") == "bytes=4000-" && request.fields.first("If-Range") == "\"1\""
        guard peer.connectionIndex == 1 || isRest else { return peer.close() }
        let range = isRest ? "Content-Range: bytes 4000-9999/10000\r\n" : ""
        try peer.send(
          "HTTP/1.1 \(isRest ? 206 : 200) OK\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\n\(range)"
            + "Content-Length: \(10_000 - first)\r\n\r\n")
        try peer.send(Array(bytes[first..<(isRest ? 10_000 : 4_000)]))
        if !isRest { return peer.close() }
      }
    }
    defer { origin.stop() }
    let recorder = EventRecorder()
    let session = folder.session(recorder)
    defer { session.invalidateAndCancel() }
    session.downloadTask(with: origin.request()).resume()
    #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
    #expect(recorder.events.completions.first?.error == nil && recorder.events.files == [bytes])
    #expect(recorder.events.offsets == [4_000])
  }

  @Test("a background upload is sent again if the connection is lost before the response head, but not after the head")
  func uploadRetries() async throws {
    let folder = SessionFolder()
    let file = folder.directory.appending(path: "upload")
    let origin = try OriginServer { peer in
      while try peer.readRequest() != nil {
        // The first connection ends before the response, and the second one within the body.
        if peer.connectionIndex == 1 { try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab") }
        return peer.close()
      }
    }
    defer { origin.stop() }
    let recorder = EventRecorder()
    let session = folder.session(recorder)
    defer { session.invalidateAndCancel() }
    try Data([1, 2, 3]).write(to: file)
    session.uploadTask(with: origin.request("/", "POST"), fromFile: file).resume()
    #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
    #expect(recorder.events.completions.first?.error?.code == .networkConnectionLost)
    #expect(origin.requestCount == 2)
  }

  @Test(
    "after a redirect and a lost connection, a background upload is sent again only if the redirect kept the method")
  func redirectedUpload() async throws {
    let again = ["POST", "POST", "POST", "POST"]
    let result = ["POST", "GET"]
    for (status, methods) in [(301, result), (302, result), (303, result), (307, again), (308, again)] {
      let folder = SessionFolder()
      let file = folder.directory.appending(path: "upload")
      let received = Mutex<[String]>([])
      let origin = try OriginServer { peer in
        while let request = try peer.readRequest() {
          let count = received.withLock { methods in
            methods.append(request.method)
            return methods.count
          }
          // The server closes the connection without a response to the second request, which follows the redirect.
          guard count != 2 else { return peer.close() }
          guard request.target == "/" else { return try peer.respond() }
          // On a connection that is kept alive, the engine itself would send the GET again.
          let fields = "Location: /result\r\nContent-Length: 0\r\nConnection: close"
          try peer.send("HTTP/1.1 \(status) Redirect\r\n\(fields)\r\n\r\n")
          return peer.close()
        }
      }
      defer { origin.stop() }
      let recorder = EventRecorder()
      let session = folder.session(recorder)
      defer { session.invalidateAndCancel() }
      try Data([1, 2, 3]).write(to: file)
      session.uploadTask(with: origin.request("/", "POST"), fromFile: file).resume()
      #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
      let expected: URLError.Code? = methods == again ? nil : .networkConnectionLost
      #expect(recorder.events.completions.first?.error?.code == expected)
      #expect(received.withLock { $0 } == methods)
    }
  }

  @Test("a background upload isn't sent again after its response head, even if recording the response fails")
  func unrecordedAnswer() async throws {
    let folder = SessionFolder()
    let file = folder.directory.appending(path: "upload")
    let origin = try OriginServer { [path = folder.path] peer in
      while try peer.readRequest() != nil {
        // Without its file, the record of the task can't be changed.
        try FileManager.default.removeItem(atPath: "\(path)/\(TransferFileName.record(1).text)")
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab")
        return peer.close()
      }
    }
    defer { origin.stop() }
    let recorder = EventRecorder()
    let session = folder.session(recorder)
    defer { session.invalidateAndCancel() }
    try Data([1, 2, 3]).write(to: file)
    session.uploadTask(with: origin.request("/", "POST"), fromFile: file).resume()
    #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
    #expect(recorder.events.completions.first?.error?.code == .networkConnectionLost)
    #expect(origin.requestCount == 1)
  }

  @Test("a background session tries failed connections again until timeoutIntervalForResource")
  func timeLimit() async throws {
    let folder = SessionFolder()
    let origin = try OriginServer { $0.close() }
    defer { origin.stop() }
    let recorder = EventRecorder()
    let session = folder.session(recorder) { $0.timeoutIntervalForResource = 0.5 }
    defer { session.invalidateAndCancel() }
    session.downloadTask(with: origin.request()).resume()
    #expect(await settles { recorder.events.completions.count == 1 && folder.names.isEmpty })
    // A task that doesn't try again fails with networkConnectionLost. On a slow machine, only one attempt may fit in the time.
    let error = recorder.events.completions.first?.error
    #expect(error?.code == .timedOut && error?.localizedDescription.contains("timeoutIntervalForResource") == true)
  }

  @Test("a background task's retry delay doubles up to a maximum, and only connection failures are retried")
  func retryRule() {
    let rule = BackgroundRetryRule(delayMin: .seconds(1), delayMax: .seconds(60))
    #expect(
      (1...8).map { rule.delay(afterFailure: $0, jitter: 1) } == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    #expect(rule.delay(afterFailure: 2, jitter: 0) == .seconds(1))
    #expect(rule.delay(afterFailure: .max, jitter: 1) == .seconds(60))
    for code in [
      URLError.Code.cannotConnectToHost, .networkConnectionLost, .timedOut, .cannotFindHost, .dnsLookupFailed,
      .notConnectedToInternet,
    ] {
      #expect(BackgroundRetryRule.isTransient(URLError(code)))
    }
    for code in [
      URLError.Code.cancelled, .badURL, .unsupportedURL, .badServerResponse, .serverCertificateUntrusted,
      .resourceUnavailable,
    ] {
      #expect(!BackgroundRetryRule.isTransient(URLError(code)))
    }
  }

  @Test("a discretionary background session has one connection per origin, and other sessions have no such limit")
  func discretion() async throws {
    let folder = SessionFolder()
    try await withServer { _ in
      .hold
    } _: { origin in
      let session = folder.session(EventRecorder()) { $0.isDiscretionary = true }
      for _ in 0..<3 { session.downloadTask(with: origin.request()).resume() }
      #expect(await settles { origin.requestCount == 1 })
      #expect(session.client.settings.engine.pool.connectionsPerOriginMax == 1)
      session.invalidateAndCancel()
      let configuration = URLSessionConfiguration.ephemeral
      configuration.isDiscretionary = true
      let other = URLSession(configuration: configuration)
      #expect(other.client.settings.engine.pool.connectionsPerOriginMax == 6)
    }
  }

  @Test("a cancelled background task leaves no file, except resume data, with which any session can continue")
  func cancellation() async throws {
    let folder = SessionFolder()
    let bytes = SequenceBytes.bytes(from: 0, count: 10_000)
    let origin = try OriginServer { peer in
      while let request = try peer.readRequest() {
        let isRest = request.fields.contains("Range")
        let range = isRest ? "Content-Range: bytes 4000-9999/10000\r\n" : ""
        let head = "HTTP/1.1 \(isRest ? 206 : 200) OK\r\nETag: \"1\"\r\nAccept-Ranges: bytes\r\n\(range)"
        try peer.send(head + "Content-Length: \(isRest ? 6_000 : 10_000)\r\n\r\n")
        try peer.send(Array(bytes[(isRest ? 4_000 : 0)..<(isRest ? 10_000 : 4_000)]))
        if !isRest { _ = try peer.receive() }
      }
    }
    defer { origin.stop() }
    let recorder = EventRecorder()
    let session = folder.session(recorder)
    defer { session.invalidateAndCancel() }
    let task = session.downloadTask(with: origin.request())
    task.resume()
    #expect(await settles { task.countOfBytesReceived == 4_000 })
    let data = try #require(await firstValue { task.cancel(byProducingResumeData: $0) })
    #expect(await settles { folder.names.isEmpty })
    session.downloadTask(withResumeData: data).resume()
    #expect(await settles { recorder.events.files == [bytes] })
    let cancelled = session.downloadTask(with: origin.request())
    cancelled.resume()
    #expect(await settles { cancelled.countOfBytesReceived == 4_000 })
    cancelled.cancel()
    #expect(await settles { folder.names.isEmpty })
    #expect(recorder.events.offsets == [4_000])
  }
}
