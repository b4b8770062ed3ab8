// PartialResponseTests: the session's cache stores, serves, combines and completes parts of representations (RFC 9111 §3.4).

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

extension CacheFixture {
  /// The number of files with stored responses, after all earlier work with files.
  fileprivate var records: Int { cache.stores.waitForFiles { directory.records.count } }
}

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

  @Test(
    "parts of one version are combined, and answer a request for the whole when nothing is missing",
    arguments: [0, 10_000_000])
  func combined(disk: Int) async throws {
    try await withCache(memory: disk == 0 ? 1_000_000 : 0, disk: disk) { fixture async throws in
      fixture.script.on("/a") { request, _ in Self.reply(to: request) }
      for range in ["bytes=0-2", "bytes=6-9", "bytes=2-6"] { try await fixture.load("/a", ["Range": range]) }
      if disk > 0 { #expect(fixture.records == 1) }
      #expect(try await fixture.load("/a", ["Range": "bytes=1-8"]).text == "12345678")
      let (text, head) = try await fixture.load()
      #expect(text == "0123456789" && head.statusCode == 200 && head.expectedContentLength == 10)
      #expect(fixture.script.count == 3)
    }
  }

  @Test("parts of different versions are never combined", arguments: [0, 10_000_000])
  func versions(disk: Int) async throws {
    try await withCache(memory: disk == 0 ? 1_000_000 : 0, disk: disk) { fixture async throws in
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

  /// Where a stored part is, and how its request's body is read.
  struct Case: Sendable, CustomTestStringConvertible {
    let disk: Int
    let isStreamed: Bool

    var memory: Int { disk == 0 ? 1_000_000 : 0 }
    var testDescription: String { (disk == 0 ? "in memory" : "in a file") + (isStreamed ? ", streamed" : "") }

    /// Requests a resource, and returns its body.
    func load(_ fixture: CacheFixture) async throws -> String {
      guard isStreamed else { return try await fixture.load().text }
      let (bytes, response) = try await fixture.session.bytes(for: fixture.request())
      #expect((response as? HTTPURLResponse)?.statusCode == 200)
      var body: [UInt8] = []
      for try await byte in bytes { body.append(byte) }
      return String(decoding: body, as: UTF8.self)
    }

    static let all = [0, 10_000_000].flatMap { disk in [false, true].map { Case(disk: disk, isStreamed: $0) } }
  }

  @Test("a data task and a stream complete a stored beginning, in memory and in a file", arguments: Case.all)
  func completedAnywhere(_ place: Case) async throws {
    try await withCache(memory: place.memory, disk: place.disk) { fixture async throws in
      fixture.script.on("/a") { request, _ in Self.reply(to: request) }
      try await fixture.load("/a", ["Range": "bytes=0-6"])
      for _ in 0..<2 {
        fixture.cache.stores.waitForFiles {}
        #expect(try await place.load(fixture) == "0123456789")
      }
      #expect(ranges(fixture) == ["bytes=0-6", "bytes=7-"])
      if place.disk > 0 { #expect(fixture.records == 1) }
    }
  }

  @Test("a new version answers the request for the rest completely", arguments: Case.all)
  func changed(_ place: Case) async throws {
    try await withCache(memory: place.memory, disk: place.disk) { fixture async throws in
      fixture.script.on("/a") { request, number in
        number == 0 ? Self.reply(to: request) : Self.reply(to: request, "abcdefghij", tag: "\"2\"")
      }
      try await fixture.load("/a", ["Range": "bytes=0-6"])
      #expect(try await place.load(fixture) == "abcdefghij")
      #expect(try await place.load(fixture) == "abcdefghij")
      #expect(ranges(fixture) == ["bytes=0-6", "bytes=7-"])
    }
  }

  @Test(
    "if the rest is longer or shorter than announced, the task fails, and the next one requests the whole",
    arguments: Case.all)
  func wrongRest(_ place: Case) async throws {
    try await withCache(memory: place.memory, disk: place.disk) { fixture async throws in
      for (path, rest) in [("/a", "78"), ("/a", "789!"), ("/a", "")] {
        fixture.cache.removeAllCachedResponses()
        fixture.script.on(path) { request, _ in Self.reply(to: request) }
        try await fixture.load(path, ["Range": "bytes=0-6"])
        fixture.script.on(path) { request, _ in
          Reply(
            status: 206,
            fields: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Content-Range": "bytes 7-9/10"],
            .chunks(rest.isEmpty ? [] : [Array(rest.utf8)], pause: .zero))
        }
        let error = await #expect(throws: URLError.self) { _ = try await place.load(fixture) }
        #expect(error?.code == .networkConnectionLost)
        fixture.script.on(path) { request, _ in Self.reply(to: request) }
        #expect(try await place.load(fixture) == "0123456789")
        #expect(ranges(fixture).suffix(3) == ["bytes=0-6", "bytes=7-", "-"])
      }
    }
  }

  @Test(
    "a damaged beginning in a file is removed, and the whole is requested",
    arguments: CachedFileTests.Damage.allCases, [false, true])
  func damagedBeginning(damage: CachedFileTests.Damage, isStreamed: Bool) async throws {
    try await withCache(memory: 0, disk: 10_000_000) { fixture async throws in
      fixture.script.on("/a") { request, _ in Self.reply(to: request) }
      try await fixture.load("/a", ["Range": "bytes=0-6"])
      #expect(fixture.records == 1)
      try damage.apply(to: try #require(fixture.directory.records.first))
      let place = Case(disk: 10_000_000, isStreamed: isStreamed)
      #expect(try await place.load(fixture) == "0123456789")
      #expect(ranges(fixture) == ["bytes=0-6", "-"])
      #expect(try await place.load(fixture) == "0123456789")
      #expect(fixture.script.count == 2)
    }
  }

  /// Makes the mock origin answer requests for ranges of a long resource, whose bytes are those of `Pattern`.
  private func scriptPattern(_ fixture: CacheFixture, byteCount: Int) {
    fixture.script.on("/a") { request, _ in
      var fields: Fields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
      guard let range = request.fields.first("Range")?.dropFirst("bytes=".count) else {
        return Reply(fields: fields, .pattern(byteCount: UInt64(byteCount)))
      }
      let ends = range.split(separator: "-").compactMap { Int($0) }
      let (first, last) = (ends[0], ends.count > 1 ? ends[1] : byteCount - 1)
      fields.append(name: "Content-Range", value: "bytes \(first)-\(last)/\(byteCount)")
      return Reply(status: 206, fields: fields, .bytes(Pattern.bytes(first..<last + 1)))
    }
  }

  /// Reads a stream of the long resource, and returns the number of its bytes before the first wrong one.
  private func readPattern(_ fixture: CacheFixture) async throws -> Int {
    let (bytes, _) = try await fixture.session.bytes(for: fixture.request())
    var count = 0
    for try await byte in bytes {
      guard byte == Pattern.byte(at: UInt64(count)) else { return count }
      count += 1
    }
    return count
  }

  @Test(
    "a stream completes a beginning of several megabytes, which is read from its file in pieces, and the whole is stored"
  )
  func longBeginning() async throws {
    try await withCache(memory: 0, disk: 100_000_000) { fixture async throws in
      let (whole, end) = (4_000_000 / testsDivisor, 3_200_000 / testsDivisor)
      scriptPattern(fixture, byteCount: whole)
      try await fixture.load("/a", ["Range": "bytes=0-\(end - 1)"])
      for _ in 0..<2 {
        #expect(fixture.records == 1)
        #expect(try await readPattern(fixture) == whole)
      }
      #expect(ranges(fixture) == ["bytes=0-\(end - 1)", "bytes=\(end)-"])
      let (part, _) = try await fixture.session.data(for: fixture.request("/a", ["Range": "bytes=\(end - 1)-\(end)"]))
      #expect(Array(part) == [end - 1, end].map { Pattern.byte(at: UInt64($0)) } && fixture.script.count == 2)
    }
  }

  @Test(
    "if a long beginning turns out to be damaged while a stream reads it, the stream fails, and the whole is requested")
  func longDamaged() async throws {
    try await withCache(memory: 0, disk: 100_000_000) { fixture async throws in
      scriptPattern(fixture, byteCount: 4_000_000)
      try await fixture.load("/a", ["Range": "bytes=0-3199999"])
      #expect(fixture.records == 1)
      try CachedFileTests.Damage.body.apply(to: try #require(fixture.directory.records.first))
      let error = await #expect(throws: URLError.self) { _ = try await readPattern(fixture) }
      #expect(error?.code == .networkConnectionLost)
      #expect(fixture.records == 0)
      #expect(try await readPattern(fixture) == 4_000_000)
      #expect(ranges(fixture) == ["bytes=0-3199999", "bytes=3200000-", "-"])
    }
  }

  @Test("a request that is cancelled while the beginning is read from its file ends, and the stored beginning stays")
  func cancelledInBeginning() async throws {
    try await withCache(memory: 0, disk: 100_000_000) { fixture async throws in
      scriptPattern(fixture, byteCount: 4_000_000)
      try await fixture.load("/a", ["Range": "bytes=0-3199999"])
      do {
        let (bytes, _) = try await fixture.session.bytes(for: fixture.request())
        var iterator = bytes.makeAsyncIterator()
        #expect(try await iterator.next() == Pattern.byte(at: 0))
        bytes.task.cancel()
        await #expect(throws: (any Error).self) { while try await iterator.next() != nil {} }
      }
      #expect(fixture.records == 1)
      #expect(try await readPattern(fixture) == 4_000_000)
      #expect(ranges(fixture) == ["bytes=0-3199999", "bytes=3200000-", "bytes=3200000-"])
    }
  }

  @Test("if the disk doesn't respond while a stored beginning is read, the whole is requested after the lookup's limit")
  func stalledBeginning() async throws {
    try await withCache(memory: 0, disk: 10_000_000) { fixture async throws in
      let (rest, whole, disk) = (Gate(), Gate(), Gate())
      defer { for gate in [rest, whole, disk] { gate.open() } }
      fixture.script.on("/a") { request, number in
        if number == 1 { rest.waitBlocking() }
        if number == 2 { whole.waitBlocking() }
        return Self.reply(to: request)
      }
      try await fixture.load("/a", ["Range": "bytes=0-6"])
      let first = fixture.session.dataTask(with: fixture.request())
      first.resume()
      #expect(await settles { fixture.script.count == 2 })
      async let body = fixture.load().text
      #expect(await settles { fixture.session.client.cache?.waiterCount == 1 })
      // The second request takes the place of the first one, and opens the beginning's file after the earlier work with files.
      fixture.cache.stores.onQueue { disk.waitBlocking() }
      first.cancel()
      try #require(await settles { fixture.script.count == 3 })
      #expect(!disk.isOpen)
      disk.open()
      // The beginning, which is read too late, isn't used.
      fixture.cache.stores.waitForFiles {}
      whole.open()
      #expect(try await body == "0123456789")
      #expect(ranges(fixture) == ["bytes=0-6", "bytes=7-", "-"])
    }
  }

  @Test("parts of random ranges, in memory and in files, requested in random ways, always have the resource's bytes")
  func random() async throws {
    var random = SplitMix64(seed: 5)
    for round in 0..<repetitions(of: 6) {
      // With 3,000 bytes, some parts are in memory and others only in files.
      try await withCache(memory: round % 2 == 0 ? 3_000 : 0, disk: 10_000_000) { fixture async throws in
        let byteCount = random.number(1...2_000)
        let version = Atomic(0)
        fixture.script.on("/a") { request, _ in
          let current = version.load(ordering: .relaxed)
          return Self.reply(to: request, Self.text(byteCount, current), tag: "\"\(current)\"")
        }
        for _ in 0..<30 {
          let current = Array(Self.text(byteCount, version.load(ordering: .relaxed)).utf8)
          switch random.number(0...9) {
          case 0:
            version.add(1, ordering: .relaxed)
            try await fixture.load("/a", [:], "PUT")
          case 1...2:
            let isStreamed = random.number(0...1) == 1
            #expect(try await Case(disk: 1, isStreamed: isStreamed).load(fixture).utf8.elementsEqual(current))
          case 3: try await fixture.load("/a", ["Cache-Control": "no-cache", "Range": "bytes=0-0"])
          default:
            let ends = (0..<2).map { _ in random.number(0...byteCount - 1) }.sorted()
            let (text, _) = try await fixture.load("/a", ["Range": "bytes=\(ends[0])-\(ends[1])"])
            #expect(text.utf8.elementsEqual(current[ends[0]...ends[1]]))
          }
        }
      }
    }
  }

  /// Returns a version of a text with this number of bytes.
  private static func text(_ byteCount: Int, _ version: Int) -> String {
    String(decoding: (0..<byteCount).map { UInt8(0x20 + ($0 * 7 + version * 3) % 90) }, as: UTF8.self)
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
