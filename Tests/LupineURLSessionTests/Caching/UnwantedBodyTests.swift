// UnwantedBodyTests: bodies that are read only to be stored are short, and end soon.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct UnwantedBodyTests {
  private let clock = CacheClock()

  /// Calls `body` with a server, and with a session that has a URLCache of `capacity` bytes in memory.
  private func withOrigin(
    capacity: Int = 10_000_000, _ handler: @escaping @Sendable (Peer) throws -> Void,
    _ body: (URLSession, OriginServer, URLCache) async throws -> Void
  ) async throws {
    let cache = URLCache(memoryCapacity: capacity, diskCapacity: 0, folder: "") { [clock] in clock.now }
    let origin = try OriginServer(handler: handler)
    defer { origin.stop() }
    try await withSession({ $0.urlCache = cache }, { session in try await body(session, origin, cache) })
  }

  /// Sends an endless chunked response body, until the client closes the connection.
  private static func sendEndlessBody(_ peer: Peer) throws {
    let bytes = [UInt8](repeating: 0x78, count: 10_000)
    while true {
      try peer.chunk(bytes)
      try peer.pause(for: .milliseconds(1))
    }
  }

  @Test(
    "the session follows a redirect at once if its body is endless, silent or long, and doesn't store the redirect",
    arguments: ["endless", "silent", "long"])
  func redirect(kind: String) async throws {
    let redirectCount = Atomic(0)
    try await withOrigin { peer in
      while let request = try peer.readRequest() {
        guard request.path == "/a" else {
          try peer.respond(body: Array("here".utf8))
          continue
        }
        redirectCount.add(1, ordering: .relaxed)
        if kind == "long" {
          try peer.send(
            "HTTP/1.1 301 Moved\r\nLocation: /b\r\nCache-Control: max-age=60\r\nContent-Length: 100000\r\n\r\nx")
        } else {
          try peer.beginChunked(status: 301, fields: ["Location": "/b", "Cache-Control": "max-age=60"])
          try peer.chunk("x")
          if kind == "endless" { try Self.sendEndlessBody(peer) }
        }
        _ = try peer.awaitClose()
        return
      }
    } _: { session, origin, _ in
      for _ in 0..<2 {
        let start = ContinuousClock.now
        let (data, _) = try await session.data(for: origin.request("/a"))
        #expect(String(decoding: data, as: UTF8.self) == "here")
        #expect(ContinuousClock.now - start < .seconds(50), "the timeout of the body is 100 s")
      }
      #expect(redirectCount.load(ordering: .relaxed) == 2)
    }
  }

  @Test("the session stores a redirect whose short body arrives after the head")
  func splitRedirect() async throws {
    let redirectCount = Atomic(0)
    try await withOrigin { peer in
      while let request = try peer.readRequest() {
        guard request.path == "/a" else {
          try peer.respond(body: Array("here".utf8))
          continue
        }
        redirectCount.add(1, ordering: .relaxed)
        try peer.beginChunked(status: 301, fields: ["Location": "/b", "Cache-Control": "max-age=60"])
        try peer.chunk("moved")
        try peer.endChunked()
      }
    } _: { session, origin, _ in
      _ = try await session.data(for: origin.request("/a"))
      // The session waits at most 1 s for the body. On a slow machine, the body may come too late the first times.
      var isServed = false
      for _ in 0..<10 where !isServed {
        let before = redirectCount.load(ordering: .relaxed)
        _ = try await session.data(for: origin.request("/a"))
        isServed = redirectCount.load(ordering: .relaxed) == before
      }
      #expect(isServed)
    }
  }

  @Test(
    "the session stores a redirect only if its body has at most 64 KiB, whether or not its length is announced",
    arguments: [true, false], [0, 1])
  func limit(isAnnounced: Bool, excess: Int) async throws {
    let redirectCount = Atomic(0)
    try await withOrigin { peer in
      let body = [UInt8](repeating: 0x78, count: 64 * 1024 + excess)
      let fields: Fields = ["Location": "/b", "Cache-Control": "max-age=60"]
      while let request = try peer.readRequest() {
        guard request.path == "/a" else {
          try peer.respond(body: Array("here".utf8))
          continue
        }
        redirectCount.add(1, ordering: .relaxed)
        guard !isAnnounced else {
          try peer.respond(status: 301, fields: fields, body: body)
          continue
        }
        try peer.beginChunked(status: 301, fields: fields)
        try peer.chunk(body)
        try peer.endChunked()
      }
    } _: { session, origin, _ in
      // The session waits at most 1 s for the body. On a slow machine, the body may come too late the first times.
      var isServed = false
      for _ in 0..<(excess == 0 ? 10 : 2) where !isServed {
        let before = redirectCount.load(ordering: .relaxed)
        _ = try await session.data(for: origin.request("/a"))
        isServed = redirectCount.load(ordering: .relaxed) == before
      }
      #expect(isServed == (excess == 0))
    }
  }

  @Test("a validation of a stored response in the background ends once the body is too long to be stored")
  func validation() async throws {
    let count = Atomic(0)
    let isClosed = Gate()
    try await withOrigin(capacity: 1_000_000) { peer in
      while try peer.readRequest() != nil {
        guard count.add(1, ordering: .relaxed).newValue > 1 else {
          try peer.respond(
            fields: ["Cache-Control": "max-age=60, stale-while-revalidate=600"], body: Array("one".utf8))
          continue
        }
        defer { isClosed.open() }
        try peer.beginChunked(fields: ["Cache-Control": "max-age=60"])
        try Self.sendEndlessBody(peer)
      }
    } _: { session, origin, _ in
      for _ in 0..<2 {
        let (data, _) = try await session.data(for: origin.request())
        #expect(data == Data("one".utf8))
        clock.advance(61)
      }
      #expect(await settles { isClosed.isOpen })
    }
  }

  @Test("once a response turns out to be too long for the cache, the requests that wait for the response are sent")
  func tooLong() async throws {
    let (hasBegun, head, body) = (Gate(), Gate(), Gate())
    let count = Atomic(0)
    try await withOrigin(capacity: 100_000) { peer in
      while try peer.readRequest() != nil {
        guard count.add(1, ordering: .relaxed).newValue == 1 else {
          try peer.respond(body: Array("other".utf8))
          continue
        }
        hasBegun.open()
        try peer.wait(for: head)
        try peer.beginChunked(fields: ["Cache-Control": "max-age=60"])
        try peer.chunk([UInt8](repeating: 0x78, count: 6_000))
        try peer.wait(for: body)
        try peer.endChunked()
      }
    } _: { session, origin, cache in
      try cache.storeStale(for: origin.request())
      async let first = session.data(for: origin.request()).0
      await hasBegun.wait()
      async let second = session.data(for: origin.request()).0
      #expect(await settles { session.client.cache?.waiterCount == 1 })
      let start = ContinuousClock.now
      head.open()
      let other = try await second
      #expect(other == Data("other".utf8))
      #expect(ContinuousClock.now - start < .seconds(15), "a request waits at most 20 s")
      body.open()
      let whole = try await first
      #expect(whole.count == 6_000)
    }
  }
}
