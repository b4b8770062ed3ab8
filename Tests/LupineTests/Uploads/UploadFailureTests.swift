// Uploads that fail: missing files, streams that fail, have a wrong length or were consumed, and servers that refuse
// the body.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct UploadFailureTests {
  private func error(of response: AFDataResponse<Data?>) throws -> URLError {
    guard case .sessionTaskFailed(let error) = try #require(response.error) else { throw Mishap("\(response)") }
    return try #require(error as? URLError)
  }

  // MARK: Files

  @Test(
    "an upload of an unreadable file opens no connection, and fails with the file's path and a remedy")
  func noFile() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withSession { session in
        let cases: [(String, URLError.Code)] = [
          ("file:///nonexistent/lupine", .fileDoesNotExist), ("file:///tmp", .fileIsDirectory),
          ("file:///dev/zero", .cannotOpenFile), ("https://h.example/file", .unsupportedURL),
        ]
        for (url, code) in cases {
          let file = try #require(URL(string: url))
          let error = try error(of: await session.upload(file, to: origin.url).outcome())
          #expect(error.code == code)
          #expect(error.localizedDescription.contains(file.isFileURL ? file.path : url))
          #expect(error.localizedDescription.hasSuffix("."))
          #expect(error.failingURL == file)
        }
        #expect(origin.connectionCount == 0)
      }
    }
  }

  @Test("an upload fails if its file is truncated while the file is being sent")
  func shrinking() async throws {
    try await withFolder { folder in
      let file = try folder.patternFile(64 << 20)
      try await withOrigin { peer in
        guard try peer.readHead() != nil else { return }
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 1)
        while try !peer.receive().isEmpty {}
      } _: { origin in
        try await withSession { session in
          let response = await session.upload(file, to: origin.url).outcome()
          try expectTransferError(response.error, .cannotOpenFile, .bodyUnreadable)
        }
      }
    }
  }

  // MARK: Streams

  @Test(
    "the error for a failed body stream contains the stream's class, the stream's error and the number of bytes read")
  func failingStream() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withSession { session in
        let stream = PatternStream(100_000, failingWith: Mishap("no more tape"))
        let response = await session.upload(stream, to: origin.url).outcome()
        let error = try expectTransferError(
          response.error, .cannotOpenFile, .bodyUnreadable, "PatternStream failed after 100000 bytes")
        guard case .producer(let cause) = error.cause, let failure = cause as? BodyStreamFailure else {
          throw Mishap("\(error)")
        }
        #expect(failure.underlying as? Mishap == Mishap("no more tape"))
      }
    }
  }

  @Test("the error for a body stream of a missing file contains the system's error text")
  func missingStream() async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withSession { session in
        let stream = try #require(InputStream(fileAtPath: "/nonexistent/lupine"))
        let response = await session.upload(stream, to: origin.url).outcome()
        try expectTransferError(response.error, .cannotOpenFile, .bodyUnreadable, "No such file or directory")
      }
    }
  }

  @Test(
    "the error for a body stream whose length differs from Content-Length contains both lengths", arguments: [4, 6])
  func wrongLength(declared: Int) async throws {
    try await withServer {
      $0.uploadReply
    } _: { origin in
      try await withSession { session in
        let request = session.upload(
          InputStream(data: Pattern.data(5)), to: origin.url, headers: ["Content-Length": "\(declared)"])
        try expectTransferError(
          await request.outcome().error, .cannotOpenFile, .bodyUnreadable, "\(declared) bytes", "wrote 5")
      }
    }
  }

  @Test(
    "if a redirect, challenge or retry needs a consumed body stream, the request fails with requestBodyStreamExhausted",
    arguments: ["/307", "/401", "/retry"])
  func spent(path: String) async throws {
    try await withServer { request in
      request.path == "/retry" ? .text("", status: 500) : request.uploadReply
    } _: { origin in
      try await withSession { session in
        let stream = PatternStream(200_000)
        let request = session.upload(stream, to: origin.url + path)
        request.authenticate(username: "u", password: "p")
        if path == "/retry" { request.validate().retry(using: RetryOnce()) }
        let error = try error(of: await request.outcome())
        #expect(error.code == .requestBodyStreamExhausted)
        #expect(error.localizedDescription.contains("was already read"))
        #expect(stream.openCount == 1)
      }
    }
  }

  @Test("a body stream that can be reopened is sent again from its start", arguments: ["/307", "/401", "/retry"])
  func reopened(path: String) async throws {
    let count = Atomic(0)
    try await withServer { request in
      if request.path == "/retry", count.add(1, ordering: .relaxed).newValue == 1 { return .text("", status: 500) }
      return request.uploadReply
    } _: { origin in
      try await withSession { session in
        let stream = PatternStream(200_000, canReopen: true)
        let request = session.upload(stream, to: origin.url + path)
        request.authenticate(username: "u", password: "p").validate().retry(using: RetryOnce())
        let report = try await request.serializingString().value
        #expect(report == "POST chunked 200000 true")
        #expect(stream.openCount == 2)
      }
    }
  }

  // MARK: Servers

  @Test(
    "if a server refuses a body early and closes, the upload ends with the response or networkConnectionLost",
    arguments: ["data", "file", "stream"], [false, true])
  func earlyAnswer(kind: String, isReset: Bool) async throws {
    try await withOrigin { peer in
      guard try peer.readHead() != nil else { return }
      try peer.respond(status: 413, fields: ["Connection": "close"], body: Array("too large".utf8))
      if isReset { peer.reset() } else { peer.close() }
    } _: { origin in
      try await withFolder { folder in
        let file = try folder.patternFile(16 << 20)
        try await withSession { session in
          for _ in 0..<5 {
            let request =
              switch kind {
              case "data": session.upload(Pattern.data(16 << 20), to: origin.url)
              case "file": session.upload(file, to: origin.url)
              default: session.upload(PatternStream(16 << 20), to: origin.url)
              }
            let response = await request.outcome()
            if let error = response.error {
              try expectTransferError(error, .networkConnectionLost, .connectionLost)
            } else {
              #expect(response.response?.statusCode == 413 && response.data == Data("too large".utf8))
            }
            #expect(request.uploadProgress.fractionCompleted < 1)
          }
        }
      }
    }
  }
}

/// A retrier that retries each failed request once.
struct RetryOnce: RequestRetrier {
  func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (RetryResult) -> Void
  ) { completion(request.retryCount == 0 ? .retry : .doNotRetry) }
}
