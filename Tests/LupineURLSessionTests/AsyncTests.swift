// The async forms, and the bytes of a response as a sequence.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct AsyncTests {
  @Test("awaiting a session's data, upload or download returns the response and the body")
  func forms() async throws {
    try await withServer {
      .text("\($0.method) \(String(decoding: $0.body, as: UTF8.self))")
    } _: { origin in
      try await withSession { session in
        let url = try #require(URL(string: origin.url))
        let (data, response) = try await session.data(from: url)
        #expect(data == Data("GET ".utf8) && (response as? HTTPURLResponse)?.statusCode == 200)
        let (echo, _) = try await session.upload(for: origin.request("/", "POST"), from: Data("body".utf8))
        #expect(echo == Data("POST body".utf8))
        let (file, _) = try await session.download(from: url)
        #expect(try String(contentsOf: file, encoding: .utf8) == "GET ")
        let (sent, _) = try await session.upload(for: origin.request("/", "PUT"), fromFile: file)
        #expect(sent == Data("PUT GET ".utf8))
        try FileManager.default.removeItem(at: file)
      }
    }
  }

  @Test("the delegate that is passed to an async method of URLSession can decide about redirects")
  func delegate() async throws {
    try await withServer { request in
      request.path == "/moved" ? Reply(status: 302, fields: ["Location": "/there"]) : .text("there")
    } _: { origin in
      try await withSession { session in
        let delegate = NotingDelegate()
        _ = try await session.data(for: origin.request("/moved"), delegate: delegate)
        #expect(delegate.notes.all == ["redirect 302", "metrics 2"])
      }
    }
  }

  @Test("cancelling the task that awaits a request cancels the request, whether or not it has been sent")
  func cancellation() async throws {
    let arrived = Gate()
    try await withServer { _ in
      arrived.open()
      return .hold
    } _: { origin in
      try await withSession { session in
        let request = origin.request()
        let waiting = Task { await code { try await session.data(for: request) } }
        await arrived.wait()
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
        let unsent = Task { () -> URLError.Code? in
          withUnsafeCurrentTask { $0?.cancel() }
          return await code { try await session.data(for: request) }
        }
        #expect(await unsent.value == .cancelled)
        #expect(origin.requestCount == 1)
        #expect(await settles { origin.openConnectionCount == 0 })
      }
    }
  }

  @Test("if many tasks that await requests are cancelled while the responses arrive, each request ends once")
  func cancellationRace() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let request = origin.request()
        let tasks = (0..<200).map { _ in Task { await code { try await session.data(for: request) } } }
        for task in tasks { task.cancel() }
        for task in tasks {
          let code = await task.value
          #expect(code == nil || code == .cancelled)
        }
      }
    }
  }

  @Test("awaiting a request throws the error of the session's task")
  func errors() async throws {
    try await withSession { session in
      #expect(await code { try await session.data(from: URL(string: "http://127.0.0.1:1/")!) } == .cannotConnectToHost)
      #expect(await code { try await session.download(resumeFrom: Data("?".utf8)) } != nil)
      session.invalidateAndCancel()
      #expect(await code { try await session.data(from: URL(string: "http://127.0.0.1:1/")!) } == .cancelled)
    }
  }

  @Test("bytes(for:) returns the response head before the body has ended, and then delivers all bytes")
  func bytes() async throws {
    let mayEnd = Gate()
    let origin = try OriginServer { peer in
      _ = try peer.readRequest()
      try peer.beginChunked()
      try peer.chunk(Array("first\n".utf8))
      mayEnd.waitBlocking()
      try peer.chunk(Array("second".utf8))
      try peer.endChunked()
    }
    defer { origin.stop() }
    try await withSession { session in
      let (bytes, response) = try await session.bytes(for: origin.request())
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
      mayEnd.open()
      var all: [UInt8] = []
      for try await byte in bytes { all.append(byte) }
      #expect(all == Array("first\nsecond".utf8))
      #expect(bytes.task.state == .completed)
    }
  }

  @Test("bytes(for:) receives a long body completely, and only as fast as the caller's loop consumes the bytes")
  func longBody() async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: 3_000_000))
    } _: { origin in
      try await withSession { session in
        let (bytes, _) = try await session.bytes(for: origin.request())
        #expect(bytes.task.countOfBytesReceived <= 1 << 20)
        var count: UInt64 = 0
        var isRight = true
        for try await byte in bytes {
          isRight = isRight && byte == Pattern.byte(at: count)
          count += 1
        }
        #expect(isRight && count == 3_000_000)
      }
    }
  }

  @Test("discarding the sequence from bytes(for:) cancels the request")
  func discardedBytes() async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: 1 << 40))
    } _: { origin in
      try await withSession { session in
        var task: URLSessionDataTask?
        do {
          let (bytes, _) = try await session.bytes(for: origin.request())
          task = bytes.task
          for try await _ in bytes { break }
        }
        #expect(await settles { task?.state == .completed && origin.openConnectionCount == 0 })
        #expect((task?.error as? URLError)?.code == .cancelled)
      }
    }
  }

  /// Iterates over the elements until the iterator throws an error. Returns the error's code, and the iterator's next result.
  private func failure<Elements: AsyncSequence>(
    of elements: Elements
  ) async throws -> (code: URLError.Code?, next: Elements.Element?) {
    var iterator = elements.makeAsyncIterator()
    do {
      while try await iterator.next() != nil {}
      return (nil, nil)
    } catch {
      return ((error as? URLError)?.code, try await iterator.next())
    }
  }

  @Test("after the sequence from bytes(for:) or one of its text forms has thrown an error, it returns nil")
  func failedBytes() async throws {
    let origin = try OriginServer { peer in
      _ = try peer.readRequest()
      try peer.beginChunked()
      try peer.chunk(Array("ab".utf8))
    }
    defer { origin.stop() }
    try await withSession { session in
      let bytes = try await failure(of: session.bytes(for: origin.request()).0)
      #expect(bytes.code == .networkConnectionLost && bytes.next == nil)
      let lines = try await failure(of: session.bytes(for: origin.request()).0.lines)
      #expect(lines.code == .networkConnectionLost && lines.next == nil)
      let characters = try await failure(of: session.bytes(for: origin.request()).0.characters)
      #expect(characters.code == .networkConnectionLost && characters.next == nil)
      let scalars = try await failure(of: session.bytes(for: origin.request()).0.unicodeScalars)
      #expect(scalars.code == .networkConnectionLost && scalars.next == nil)
    }
  }

  @Test("if several tasks iterate over the bytes of a response, each byte is returned to exactly one of them")
  func sharedBytes() async throws {
    try await withServer { _ in
      Reply(.pattern(byteCount: 200_000))
    } _: { origin in
      try await withSession { session in
        let (bytes, _) = try await session.bytes(for: origin.request())
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
          for _ in 0..<3 {
            group.addTask {
              var count = 0
              for try await _ in bytes { count += 1 }
              return count
            }
          }
          var all = 0
          for try await count in group { all += count }
          return all
        }
        #expect(count == 200_000)
      }
    }
  }

  @Test(
    "the sequence from bytes(for:) can split a body into lines, and skips empty lines",
    arguments: [
      ("a\nb\r\nc\rd", ["a", "b", "c", "d"]), ("\n\na\n\n\nb\n", ["a", "b"]), ("", []), ("\r\n", []),
      ("x\u{2028}y\u{2029}z\u{85}w", ["x", "y", "z", "w"]), ("ü\u{B}¨\u{C}†", ["ü", "¨", "†"]),
    ])
  func lines(text: String, expected: [String]) async throws {
    try await withServer { _ in
      .text(text)
    } _: { origin in
      try await withSession { session in
        let (bytes, _) = try await session.bytes(for: origin.request())
        var lines: [String] = []
        for try await line in bytes.lines { lines.append(line) }
        #expect(lines == expected)
      }
    }
  }

  @Test("the sequence from bytes(for:) can decode a body to scalars and characters, and replaces invalid bytes")
  func text() async throws {
    let invalid: [UInt8] = [0x61, 0xFF, 0xC3, 0x62, 0xE2, 0x82, 0xAC, 0xED, 0xA0, 0x80, 0xF0, 0x9F]
    try await withServer { request in
      request.path == "/valid" ? .text("e\u{301}🇩🇪ü") : Reply(.bytes(invalid))
    } _: { origin in
      try await withSession { session in
        var characters: [Character] = []
        for try await character in try await session.bytes(for: origin.request("/valid")).0.characters {
          characters.append(character)
        }
        #expect(characters == ["e\u{301}", "🇩🇪", "ü"])
        var scalars = String.UnicodeScalarView()
        for try await scalar in try await session.bytes(for: origin.request()).0.unicodeScalars {
          scalars.append(scalar)
        }
        #expect(String(scalars) == "a\u{FFFD}\u{FFFD}b€\u{FFFD}\u{FFFD}")
      }
    }
  }
}
