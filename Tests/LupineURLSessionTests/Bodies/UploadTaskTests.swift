// `URLSessionUploadTask`: the bytes that it sends and counts, and the body streams that it requests.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct UploadTaskTests {
  /// Resumes one upload task, and waits for its end. Returns the session's delegate, the task and the task's error.
  private func run(
    to url: String, method: String = "POST", length: String? = nil, _ witness: UploadWitness = UploadWitness(),
    _ make: (URLSession, URLRequest) throws -> URLSessionUploadTask
  ) async throws -> (UploadWitness, URLSessionUploadTask, (any Error)?) {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.httpMethod = method
    if let length { request.setValue(length, forHTTPHeaderField: "Content-Length") }
    let session = URLSession(configuration: .ephemeral, delegate: witness, delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    let task = try make(session, request)
    task.resume()
    let error = await witness.end()
    return (witness, task, error)
  }

  private func expectProgress(_ witness: UploadWitness, endsAt count: Int64, of expected: Int64) {
    let progress = witness.progress
    #expect(progress.map(\.total) == progress.map(\.total).sorted())
    #expect(progress.allSatisfy { $0.expected == expected && $0.sent > 0 })
    #expect(progress.reduce(0) { $0 + $1.sent } == count && progress.last?.total == count)
  }

  // MARK: Kinds of bodies

  @Test("an upload task with data sends all bytes, and counts each byte once", arguments: [1, 65_536, 3_000_001])
  func data(byteCount: Int) async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      // A slice whose first index isn't 0.
      let data = (Data([9, 9]) + Pattern.data(byteCount)).dropFirst(2)
      let (witness, task, error) = try await run(to: origin.url) { $0.uploadTask(with: $1, from: data) }
      #expect(error == nil && witness.text == "POST \(byteCount) \(byteCount) true")
      #expect(task.countOfBytesSent == Int64(byteCount) && task.countOfBytesExpectedToSend == Int64(byteCount))
      expectProgress(witness, endsAt: Int64(byteCount), of: Int64(byteCount))
    }
  }

  @Test(
    "an upload task with a file sends all bytes over TCP and TLS, and counts each byte once",
    arguments: [1, 3_000_001],
    [false, true])
  func file(byteCount: Int, isTLS: Bool) async throws {
    let identity = try ServerIdentity.throwaway()
    try await withServer(tls: isTLS ? identity : nil) {
      $0.uploadReply
    } _: { origin in
      try await withFolder { folder in
        let file = try folder.patternFile(byteCount)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.engine.tls.trustRoots = [.pem(identity.authorityPEM)]
        let witness = UploadWitness()
        let session = URLSession(configuration: configuration, delegate: witness, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        var request = URLRequest(url: try #require(URL(string: origin.url)))
        request.httpMethod = "PUT"
        let task = session.uploadTask(with: request, fromFile: file)
        #expect(task.countOfBytesExpectedToSend == NSURLSessionTransferSizeUnknown)
        task.resume()
        #expect(await witness.end() == nil)
        #expect(witness.text == "PUT \(byteCount) \(byteCount) true")
        #expect(task.countOfBytesSent == Int64(byteCount) && task.countOfBytesExpectedToSend == Int64(byteCount))
        expectProgress(witness, endsAt: Int64(byteCount), of: Int64(byteCount))
      }
    }
  }

  @Test("an upload task sends a body stream in chunks, with an unknown total, unless the request has a Content-Length")
  func stream() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      for length in [nil, "300000"] {
        let (witness, task, error) = try await run(
          to: origin.url, length: length, UploadWitness { _ in .pattern(300_000) }
        ) { $0.uploadTask(withStreamedRequest: $1) }
        #expect(error == nil && witness.text == "POST \(length ?? "chunked") 300000 true")
        #expect(witness.streamCount == 1)
        let expected = length == nil ? NSURLSessionTransferSizeUnknown : 300_000
        #expect(task.countOfBytesSent == 300_000 && task.countOfBytesExpectedToSend == expected)
        expectProgress(witness, endsAt: 300_000, of: expected)
      }
    }
  }

  @Test("an upload task with an empty body sends Content-Length: 0, and reports no progress")
  func empty() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withFolder { folder in
        let file = try folder.patternFile(0)
        for make in [
          { (session: URLSession, request: URLRequest) in session.uploadTask(with: request, from: Data()) },
          { $0.uploadTask(with: $1, fromFile: file) },
        ] {
          let (witness, task, error) = try await run(to: origin.url, UploadWitness(), make)
          #expect(error == nil && witness.text == "POST 0 0 true" && witness.progress.isEmpty)
          #expect(task.countOfBytesSent == 0 && task.countOfBytesExpectedToSend == 0)
        }
      }
    }
  }

  @Test("the data of an upload task replaces the body of its URLRequest")
  func ownBody() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      let (witness, _, _) = try await run(to: origin.url) { session, request in
        var request = request
        request.httpBody = Data("another".utf8)
        return session.uploadTask(with: request, from: Pattern.data(3))
      }
      #expect(witness.text == "POST 3 3 true")
    }
  }

  @Test("an upload task reads the length of its file when the task starts")
  func length() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withFolder { folder in
        let (witness, _, _) = try await run(to: origin.url) { session, request in
          let task = session.uploadTask(with: request, fromFile: folder.appending(path: "body"))
          try folder.patternFile(200_000)
          return task
        }
        #expect(witness.text == "POST 200000 200000 true")
      }
    }
  }

  @Test("an upload task whose method is GET fails without a request, unless its body is empty")
  func get() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withFolder { folder in
        let file = try folder.patternFile(3)
        for make in [
          { $0.uploadTask(with: $1, from: Data([1])) }, { $0.uploadTask(with: $1, fromFile: file) },
          { $0.uploadTask(withStreamedRequest: $1) },
        ] as [(URLSession, URLRequest) -> URLSessionUploadTask] {
          let (witness, task, error) = try await run(
            to: origin.url, method: "GET", UploadWitness { _ in .pattern(3) }, make)
          #expect((error as? URLError)?.code == .dataLengthExceedsMaximum && task.response == nil)
          #expect(witness.streamCount == 0 && witness.progress.isEmpty)
        }
        #expect(origin.requestCount == 0)
        let (witness, _, error) = try await run(to: origin.url, method: "GET") { $0.uploadTask(with: $1, from: Data()) }
        #expect(error == nil && witness.text.hasPrefix("GET ") && witness.text.hasSuffix(" 0 true"))
      }
    }
  }

  @Test(
    "a data task with data as its body reports its progress, also for the method HEAD", arguments: ["POST", "HEAD"])
  func dataTaskProgress(method: String) async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      let witness = UploadWitness()
      try await withSession(delegate: witness) { session in
        var request = origin.request("/", method)
        request.httpBody = Pattern.data(5000)
        let task = session.dataTask(with: request)
        #expect(task.countOfBytesExpectedToSend == 5000)
        task.resume()
        #expect(await witness.end() == nil)
        #expect(witness.text == (method == "HEAD" ? "" : "POST 5000 5000 true"))
        #expect(task.countOfBytesSent == 5000)
        expectProgress(witness, endsAt: 5000, of: 5000)
      }
    }
  }

  // MARK: Repeated bodies

  @Test(
    "a data task without a body requests no body stream when the request is sent again", arguments: ["/307", "/401"])
  func noBody(path: String) async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      let witness = UploadWitness { _ in .pattern(3) }
      try await withSession(delegate: witness) { session in
        session.dataTask(with: origin.request(path, "POST")).resume()
        #expect(await witness.end() == nil)
        #expect(witness.text.hasPrefix("POST ") && witness.text.hasSuffix(" 0 true"))
        #expect(witness.streamCount == 0 && witness.progress.isEmpty && origin.requestCount == 2)
      }
    }
  }

  @Test(
    "if a challenge or redirect requires the body again, the task requests a new stream, and its counts never decrease",
    arguments: ["/307", "/308", "/401"])
  func sentAgain(path: String) async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withFolder { folder in
        let file = try folder.patternFile(300_000)
        let makers: [(String, (URLSession, URLRequest) -> URLSessionUploadTask)] = [
          ("300000", { $0.uploadTask(with: $1, from: Pattern.data(300_000)) }),
          ("300000", { $0.uploadTask(with: $1, fromFile: file) }),
          ("chunked", { $0.uploadTask(withStreamedRequest: $1) }),
        ]
        for (framing, make) in makers {
          let (witness, task, error) = try await run(
            to: origin.url + path, UploadWitness { _ in .pattern(300_000) }, make)
          #expect(error == nil && witness.text == "POST \(framing) 300000 true")
          #expect(witness.streamCount == (framing == "chunked" ? 2 : 0))
          expectProgress(witness, endsAt: 300_000, of: framing == "chunked" ? -1 : 300_000)
          #expect(task.countOfBytesSent == 300_000)
        }
      }
    }
  }

  @Test(
    "an upload task that is redirected without its body doesn't request another body stream",
    arguments: ["/301", "/302", "/303"])
  func dropped(path: String) async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      let (witness, _, error) = try await run(to: origin.url + path, UploadWitness { _ in .pattern(10) }) {
        $0.uploadTask(withStreamedRequest: $1)
      }
      #expect(error == nil && witness.text == "GET none 0 true" && witness.streamCount == 1)
    }
  }

  @Test("an upload task that is replayed because a reused connection closed requests a new body stream")
  func replayed() async throws {
    let origin = try OriginServer { peer in
      guard let first = try peer.readRequest() else { return }
      try peer.send(first.uploadReply, to: first)
      guard first.method == "GET" else { return }
      // The server reads the next request, and closes the connection without a response.
      guard try peer.readRequest() != nil else { return }
      peer.close()
    }
    defer { origin.stop() }
    let witness = UploadWitness { _ in .pattern(1000) }
    let session = URLSession(configuration: .ephemeral, delegate: witness, delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    var request = URLRequest(url: try #require(URL(string: origin.url)))
    session.dataTask(with: request).resume()
    #expect(await witness.end() == nil)
    request.httpMethod = "PUT"
    let task = session.uploadTask(withStreamedRequest: request)
    task.resume()
    #expect(await witness.end() == nil)
    #expect(witness.text.hasSuffix("PUT chunked 1000 true"))
    #expect(witness.streamCount == 2 && origin.connectionCount == 2)
    expectProgress(witness, endsAt: 1000, of: -1)
  }

  @Test("a data task sends its URLRequest's body stream first, and its delegate's streams when the body is resent")
  func dataTask() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      let witness = UploadWitness { _ in .pattern(70_000) }
      let session = URLSession(configuration: .ephemeral, delegate: witness, delegateQueue: nil)
      defer { session.finishTasksAndInvalidate() }
      var request = URLRequest(url: try #require(URL(string: origin.url + "/307")))
      request.httpMethod = "POST"
      request.httpBodyStream = InputStream(data: Pattern.data(70_000))
      let task = session.dataTask(with: request)
      #expect(task.countOfBytesExpectedToSend == -1)
      task.resume()
      #expect(await witness.end() == nil)
      #expect(witness.text == "POST chunked 70000 true" && witness.streamCount == 1)
    }
  }

  @Test("if the delegate replaces a delayed request whose body is a stream, the new request's body is sent")
  func replacedStream() async throws {
    final class Replacing: NSObject, URLSessionTaskDelegate, Sendable {
      func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
      ) {
        var other = request
        other.httpBody = Pattern.data(7)
        completionHandler(.useNewRequest, other)
      }
    }
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withSession { session in
        var streamed = origin.request("/", "POST")
        streamed.httpBodyStream = InputStream(data: Pattern.data(70_000))
        let request = streamed
        let result = await outcome { handler in
          let task = session.dataTask(with: request, completionHandler: handler)
          task.earliestBeginDate = Date(timeIntervalSinceNow: 0.01)
          task.delegate = Replacing()
          return task
        }
        #expect(result.text == "POST 7 7 true")
      }
    }
  }

  // MARK: Missing bodies

  @Test("an upload task for which the delegate provides no body stream fails with an error that says so")
  func noStream() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      let witness = UploadWitness()
      let session = URLSession(configuration: .ephemeral, delegate: witness, delegateQueue: nil)
      defer { session.finishTasksAndInvalidate() }
      var request = URLRequest(url: try #require(URL(string: origin.url)))
      request.httpMethod = "POST"
      session.uploadTask(withStreamedRequest: request).resume()
      let error = try #require(await witness.end() as? URLError)
      #expect(error.code == .requestBodyStreamExhausted)
      #expect(error.localizedDescription.contains("the delegate returned no stream"))
    }
  }

  @Test("an upload can be cancelled while it waits for a body stream from its delegate")
  func silentDelegate() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      let delegate = SilentDelegate()
      let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
      defer { session.finishTasksAndInvalidate() }
      var request = URLRequest(url: try #require(URL(string: origin.url)))
      request.httpMethod = "POST"
      let task = session.uploadTask(withStreamedRequest: request)
      task.resume()
      _ = await delegate.asked.next()
      task.cancel()
      #expect((await delegate.ended.next() as? URLError)?.code == .cancelled)
    }
  }
}

/// A session's delegate that doesn't answer when a task requests a body stream, and records that request and the task's end.
private final class SilentDelegate: NSObject, URLSessionDataDelegate {
  let asked = Recorder<Void>()
  let ended = Recorder<(any Error)?>()

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) { asked.record(()) }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    ended.record(error)
  }
}
