// The cache's rules, with arbitrary fields, and the parser of the cache's records on disk, with arbitrary bytes.

@testable import LupineCache
@testable import LupineCacheStore
@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the cache's rules. The input consists of the field lines of a request and a response. A line's first byte selects its
  /// name.
  static let caching = FuzzTarget(
    name: "caching", summary: "responses that must not be stored aren't, and none is served stale or to another session"
  ) { bytes in
    var input = Input(bytes)
    let names = [
      "Cache-Control", "Vary", "Age", "Date", "Expires", "ETag", "Last-Modified", "If-None-Match", "If-Range", "Range",
      "Accept-Language", "Pragma", "Set-Cookie", "Cookie",
    ]
    let (requestTime, responseTime, now) = (input.word(), input.word(), input.word())
    var sections = [Fields(), Fields()]
    for line in input.lines {
      guard let choice = line.first else { continue }
      let value = Array(FieldList.trimmed(line.dropFirst()))
      sections[Int(choice >> 7)].append(name: names[Int(choice & 0x7F) % names.count], valueBytes: value)
    }
    guard let uri = try? URI("http://a.test/") else { return }
    let request = CacheRequest(uri: uri, fields: sections[0], session: "first")
    let times = ExchangeTimes(
      request: Int64(bitPattern: requestTime), response: Int64(bitPattern: responseTime))
    let decision = StoreDecision(request, status: 200, fields: sections[1], times: times)
    let directives = CacheControl(sections[1])
    guard case .store(let head) = decision else { return }
    let stored = head.withBody(byteCount: 1000)
    hold(!directives.flags.contains(.noStore) || directives.flags.contains(.mustUnderstand), "stored despite no-store")
    hold((0...CacheLimits.deltaSecondsMax).contains(stored.currentAge(now: Int64(bitPattern: now))), "age")
    hold((0...CacheLimits.deltaSecondsMax).contains(stored.lifetime.seconds), "lifetime \(stored.lifetime)")

    let served = CacheDecision(request, stored: [stored], now: Int64(bitPattern: now))
    if case .serve(let hit) = served {
      hold(hit.reason != .fresh || stored.isFresh(now: Int64(bitPattern: now)), "stale but served as fresh")
      hold(stored.cacheControl.noCache != .everything, "served despite no-cache")
      hold(hit.response.fields.all("Age") == ["\(stored.currentAge(now: Int64(bitPattern: now)))"], "Age")
      if case .part(let part) = hit.response.body { hold(part.upperBound <= 1000 && !part.isEmpty, "range \(part)") }
    }
    var other = request
    other.session = "second"
    let isPersonal =
      ["Cookie", "Authorization"].contains(where: sections[0].contains) || sections[1].contains("Set-Cookie")
    if isPersonal, case .serve = CacheDecision(other, stored: [stored], now: Int64(bitPattern: now)) {
      hold(false, "served to another session")
    }
    // If the response is written to a record and read back, it is the same.
    let record = RecordHead(uri: uri.cacheKey.text, response: stored)
    hold(RecordHead(record.bytes, bodyByteCount: 1000) == record, "the record reads back differently")
  }

  /// Fuzzes the parser of cache records. It parses the input as the preamble, the head and the file name of a record.
  static let cacheRecord = FuzzTarget(
    name: "cache-record", summary: "any bytes are refused as a record, or read as one that is written the same way"
  ) { bytes in
    if let preamble = RecordPreamble(bytes) {
      hold(RecordPreamble(preamble.bytes) == preamble, "\(preamble)")
      hold(preamble.fileByteCount.map { $0 >= preamble.bodyByteCount } ?? true, "\(preamble)")
    }
    if let head = RecordHead(bytes, bodyByteCount: 7) {
      hold(RecordHead(head.bytes, bodyByteCount: 7) == head, "\(head)")
      _ = CacheDecision(
        CacheRequest(uri: URI(Origin(scheme: .http, host: "a", port: 80))), stored: [head.response], now: 0)
    }
    let name = String(decoding: bytes, as: UTF8.self)
    hold(RecordName(name).map { $0.text == name } ?? true, name)
  }
}
