// A stream request's body read through an `InputStream`: the whole body, errors, retries and closing.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct ResponseInputStreamTests {
  /// The bytes read from an InputStream, and the stream's final status and error.
  private struct Read: Sendable {
    var data = Data()
    var status = Stream.Status.notOpen
    var error: (any Error)?
  }

  /// Opens the InputStream, and reads it to its end or until it fails.
  private static func read(_ stream: InputStream?, upToCount count: Int = 10_000) -> Read {
    guard let stream else { return Read() }
    var read = Read()
    stream.open()
    while stream.hasBytesAvailable, let bytes = try? stream.readBytes(upToCount: count), !bytes.isEmpty {
      read.data.append(contentsOf: bytes)
    }
    read.status = stream.streamStatus
    read.error = stream.streamError
    return read
  }

  @Test(
    "asInputStream resumes its stream request, and returns an InputStream that delivers the complete body",
    arguments: [7, 65_536, 10_000_000])
  func wholeBody(count: Int) async throws {
    let byteCount = count == 7 ? 100_000 : 8 * 1024 * 1024
    try await withServer { _ in
      Reply(.pattern(byteCount: UInt64(byteCount)))
    } _: { origin in
      try await withSession(startRequestsImmediately: false) { session in
        let request = session.streamRequest(origin.url)
        let read = await onThread { Self.read(request.asInputStream(), upToCount: count) }
        let isWhole = read.data == Pattern.data(byteCount)
        #expect(isWhole && read.status == .atEnd && read.error == nil)
        #expect(request.isFinished)
      }
    }
  }

  @Test("reading a stream request's InputStream blocks until bytes arrive, and returns bytes as they arrive")
  func blocking() async throws {
    try await withChunks([Array("one".utf8), Array("two".utf8)]) { url, gates in
      try await withSession { session in
        let request = session.streamRequest(url)
        let pieces = Recorder<String>()
        async let read = onThread {
          guard let stream = request.asInputStream() else { return }
          stream.open()
          while let bytes = try? stream.readBytes(upToCount: 100), !bytes.isEmpty {
            pieces.record(String(decoding: bytes, as: UTF8.self))
          }
        }
        #expect(await pieces.next() == "one")
        gates[1].open()
        #expect(await pieces.next() == "two")
        gates[2].open()
        await read
        #expect(await request.outcome().completion.error == nil)
      }
    }
  }

  @Test(
    "if the connection is lost, a stream request's InputStream delivers the received bytes, and then each read fails")
  func connectionLost() async throws {
    try await withOrigin { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        let (read, again) = await onThread {
          let stream = request.asInputStream()
          let read = Self.read(stream)
          var byte: UInt8 = 0
          return (read, stream?.read(&byte, maxLength: 1))
        }
        #expect(String(decoding: read.data, as: UTF8.self) == "hello")
        #expect(read.status == .error && again == -1)
        #expect(((read.error as? AFError)?.underlyingError as? URLError)?.code == .networkConnectionLost)
      }
    }
  }

  @Test("the InputStream of a finished stream request is at its end, and the InputStream of a cancelled request fails")
  func late() async throws {
    try await withServer { _ in
      .text("piece")
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        #expect(await request.outcome().pieces == ["piece"])
        let read = await onThread { Self.read(request.asInputStream()) }
        #expect(read.data.isEmpty && read.status == .atEnd && read.error == nil)
        let cancelled = session.streamRequest(origin.url).cancel()
        let failed = await onThread { Self.read(cancelled.asInputStream()) }
        #expect(failed.data.isEmpty && failed.status == .error)
        #expect((failed.error as? AFError)?.isExplicitlyCancelledError == true)
      }
    }
  }

  @Test(
    "closing or releasing a stream request's InputStream before its end cancels the request", arguments: [true, false])
  func closing(isClosed: Bool) async throws {
    let left = Gate()
    try await withOrigin { peer in
      guard try peer.readRequest() != nil else { return }
      try peer.beginChunked()
      try peer.chunk("piece")
      _ = try peer.awaitClose()
      left.open()
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        let bytes = await onThread {
          let stream = request.asInputStream()
          stream?.open()
          let bytes = try? stream?.readBytes(upToCount: 100)
          if isClosed {
            stream?.close()
            var byte: UInt8 = 0
            #expect(stream?.streamStatus == .closed && stream?.hasBytesAvailable == false)
            #expect(stream?.read(&byte, maxLength: 1) == -1)
          }
          return bytes
        }
        #expect(bytes == Array("piece".utf8))
        await left.wait()
        #expect(request.isCancelled)
        #expect(await request.outcome().completion.error?.isExplicitlyCancelledError == true)
      }
    }
  }

  @Test("closing a stream request's InputStream after its end doesn't change the finished request")
  func closingAtEnd() async throws {
    try await withServer { _ in
      .text("piece")
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        await onThread {
          let stream = request.asInputStream()
          #expect(Self.read(stream).status == .atEnd)
          stream?.close()
        }
        #expect(request.isFinished && request.error == nil)
      }
    }
  }

  @Test("each method of a stream request's InputStream can be called in every state of the stream without a crash")
  func members() async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      try await withSession { session in
        let request = session.streamRequest(origin.url)
        await onThread {
          guard let stream = request.asInputStream() else {
            Issue.record("the request has no stream")
            return
          }
          var bytes: [UInt8] = [1, 2]
          #expect(stream.streamStatus == .notOpen && !stream.hasBytesAvailable)
          #expect(stream.read(&bytes, maxLength: 2) == -1)
          stream.open()
          stream.open()
          #expect(stream.streamStatus == .open && stream.hasBytesAvailable)
          #expect(stream.read(&bytes, maxLength: 0) == 0 && stream.read(&bytes, maxLength: -1) == 0)
          #expect(stream.streamError == nil && stream.delegate == nil)
          #expect(stream.property(forKey: .fileCurrentOffsetKey) == nil)
          #expect(!stream.setProperty(nil, forKey: .fileCurrentOffsetKey))
          stream.schedule(in: .current, forMode: .default)
          stream.remove(from: .current, forMode: .default)
          stream.close()
          stream.close()
          stream.open()
          #expect(stream.streamStatus == .closed && stream.streamError == nil)
        }
      }
    }
  }

  @Test(
    "after a retry, an InputStream delivers the last response if nothing has been read yet, and fails otherwise")
  func retry() async throws {
    for isRead in [false, true] {
      let count = Atomic(0)
      let mayFail = Gate()
      try await withOrigin { peer in
        while try peer.readRequest() != nil {
          if count.add(1, ordering: .relaxed).newValue == 2 {
            try peer.respond(body: Array("second".utf8))
          } else {
            try peer.send("HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nfirs")
            try peer.wait(for: mayFail)
            try peer.send("t")
          }
        }
      } _: { origin in
        // `asInputStream()` resumes the request. Otherwise the handler would, and the body could arrive before the stream exists.
        try await withSession(startRequestsImmediately: false) { session in
          let request = session.streamRequest(origin.url, interceptor: OneRetry()).validate(statusCode: [200])
          let completed = Gate()
          request.responseStream(on: .global()) { if $0.completion != nil { completed.open() } }
          let read = await onThread {
            let stream = request.asInputStream()
            stream?.open()
            let first = isRead ? (try? stream?.readBytes(upToCount: 2)) ?? [] : []
            mayFail.open()
            completed.waitBlocking()
            var read = Self.read(stream)
            read.data = Data(first) + read.data
            return read
          }
          #expect(String(decoding: read.data, as: UTF8.self) == (isRead ? "fi" : "second"))
          #expect(read.status == (isRead ? .error : .atEnd))
          #expect((read.error is ResponseFeed.ReadBeforeRetry) == isRead)
          #expect(request.retryCount == 1)
        }
      }
    }
  }
}
