// PartialResponseTests: the session's cache stores, serves, combines and completes parts of representations (RFC 9111 §3.4).

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct PartialResponseTests {
  /// Returns a server's reply to a request for a resource of ten bytes, which supports ranges and If-Range.
  private static func reply(
    to request: ReceivedRequest, _ text: String = "0123456789", tag: String = "\"1\"", fields more: Fields = [:]
  ) -> Reply {
    let body = Array(text.utf8)
    var fields: Fields = ["Cache-Control": "max-age=60", "ETag": tag]
    fields.appendMissing(more)
    let isCurrent = request.fields.first("If-Range").map { $0 == tag } ?? true
    guard isCurrent, let range = request.fields.first("Range")?.dropFirst("bytes=".count) else {
      return Reply(fields: fields, .bytes(body))
    }
    let ends = range.split(separator: "-").compactMap { Int($0) }
    let (first, last) = (ends[0], ends.count > 1 ? ends[1] : body.count - 1)
    fields.append(name: "Content-Range", value: "bytes \(first)-\(last)/\(body.count)")
    return Reply(status: 206, fields: fields, .bytes(Array(body[first...last])))
  }

  private func ranges(_ fixture: CacheFixture) -> [String] {
    fixture.script.requests.map { $0.fields.first("Range") ?? "-" }
  }

  @Test("a part is stored, and served again in whole and in part", arguments: [0, 10_000_000])
  func stored(disk: Int) async throws {
    try await withCache(memory: disk == 0 ? 1_000_000 : 0, disk: disk) { fixture async throws in
      fixture.script.on("/a") { request, _ in Self.reply(to: request) }
      #expect(try await fixture.load("/a", ["Range": "bytes=2-6"]).text == "23456")
      fixture.cache.stores.waitForFiles {}
      for _ in 0..<2 {
        let (text, head) = try await fixture.load("/a", ["Range": "bytes=2-6"])
        #expect(text == "23456" && head.statusCode == 206)
      }
      let (text, head) = try await fixture.load("/a", ["Range": "bytes=4-5"])
      #expect(text == "45" && head.value(forHTTPHeaderField: "Content-Range") == "bytes 4-5/10")
      #expect(ranges(fixture) == ["bytes=2-6"])
      #expect(try await fixture.load("/a", ["Range": "bytes=4-7"]).text == "4567")
      #expect(ranges(fixture) == ["bytes=2-6", "bytes=4-7"])
      // The program asks for the resource, of which only parts are stored.
      #expect(fixture.cache.cachedResponse(for: fixture.request("/a", ["Range": "bytes=2-6"])) == nil)
    }
  }

  @Test("parts of one version are combined, and answer a request for the whole when nothing is missing")
  func combined() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { request, _ in Self.reply(to: request) }
      for range in ["bytes=0-2", "bytes=6-9", "bytes=2-6"] { try await fixture.load("/a", ["Range": range]) }
      #expect(try await fixture.load("/a", ["Range": "bytes=1-8"]).text == "12345678")
      let (text, head) = try await fixture.load()
      #expect(text == "0123456789" && head.statusCode == 200 && head.expectedContentLength == 10)
      #expect(fixture.script.count == 3)
    }
  }

  @Test("parts of different versions are never combined")
  func versions() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { request, number in
        number == 0 ? Self.reply(to: request) : Self.reply(to: request, "abcdefghij", tag: "\"2\"")
      }
      try await fixture.load("/a", ["Range": "bytes=0-4"])
      try await fixture.load("/a", ["Range": "bytes=5-9"])
      #expect(try await fixture.load("/a", ["Range": "bytes=0-4"]).text == "abcde")
      #expect(try await fixture.load().text == "abcdefghij")
      #expect(fixture.script.count == 3)
    }
  }

  @Test("a request for the whole asks only for what is missing after a stored beginning")
  func completed() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { request, number in
        Self.reply(to: request, fields: number == 0 ? ["Set-Cookie": "a=1"] : ["Set-Cookie": "a=2"])
      }
      try await fixture.load("/a", ["Range": "bytes=0-6"])
      for _ in 0..<2 {
        let (text, head) = try await fixture.load()
        #expect(text == "0123456789" && head.statusCode == 200 && head.expectedContentLength == 10)
        #expect(head.value(forHTTPHeaderField: "Content-Range") == nil)
      }
      #expect(ranges(fixture) == ["bytes=0-6", "bytes=7-"])
      #expect(fixture.script.requests.last?.fields.first("If-Range") == "\"1\"")
    }
  }

  @Test("a new version answers the request for the rest completely")
  func changed() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { request, number in
        number == 0 ? Self.reply(to: request) : Self.reply(to: request, "abcdefghij", tag: "\"2\"")
      }
      try await fixture.load("/a", ["Range": "bytes=0-6"])
      #expect(try await fixture.load().text == "abcdefghij")
      #expect(try await fixture.load().text == "abcdefghij")
      #expect(ranges(fixture) == ["bytes=0-6", "bytes=7-"])
    }
  }

  @Test("if the origin's answer isn't the rest of the stored version, the request is sent again without a range")
  func notTheRest() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { request, _ in Self.reply(to: request) }
      try await fixture.load("/a", ["Range": "bytes=0-6"])
      // The origin ignores If-Range.
      fixture.script.on("/a") { request, _ in
        guard request.fields.contains("Range") else { return Self.reply(to: request, "abcdefghij", tag: "\"2\"") }
        return Reply(
          status: 206, fields: ["ETag": "\"2\"", "Content-Range": "bytes 7-9/10"], .bytes(Array("hij".utf8)))
      }
      #expect(try await fixture.load().text == "abcdefghij")
      #expect(ranges(fixture) == ["bytes=0-6", "bytes=7-", "-"])
    }
  }

  @Test("a part isn't stored if its length isn't that of its Content-Range")
  func wrongLength() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { _, _ in
        Reply(
          status: 206, fields: ["Cache-Control": "max-age=60", "Content-Range": "bytes 4-9/10"],
          .bytes(Array("01234".utf8)))
      }
      for _ in 0..<2 { #expect(try await fixture.load("/a", ["Range": "bytes=-5"]).text == "01234") }
      #expect(fixture.script.count == 2)
    }
  }

  @Test("a successful unsafe request removes the stored parts of its URL")
  func invalidated() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { request, _ in Self.reply(to: request) }
      try await fixture.load("/a", ["Range": "bytes=0-6"])
      try await fixture.load("/a", [:], "PUT")
      try await fixture.load("/a", ["Range": "bytes=0-6"])
      #expect(fixture.script.count == 3)
    }
  }
}
