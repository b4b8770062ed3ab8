// CombinedRecordTests: parts in files that are combined with new ones, also in random order, damaged and interrupted.

import LupineCache
import LupineTestSupport
import LupineWire
import Testing

@testable import LupineCacheStore

/// A representation of which the tests store parts.
struct Representation {
  let byteCount: Int
  let version: Int

  /// Returns the bytes in a range. They depend on their positions and on the version.
  func bytes(_ range: Range<Int>) -> [UInt8] {
    SequenceBytes.bytes(from: range.lowerBound + version * 101, count: range.count)
  }

  /// The metadata of a 206 with these bytes.
  func part(_ range: Range<Int>) -> StoredResponse {
    StoredResponse(
      status: 206,
      fields: [
        "Cache-Control": "max-age=60", "ETag": "\"\(version)\"",
        "Content-Range": "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(byteCount)",
      ], times: ExchangeTimes(request: 1_700_000_000, response: 1_700_000_001), partition: .anonymous,
      selectingFields: SelectingFields([])
    ).withAnnouncedBody
  }
}

@Suite struct CombinedRecordTests {
  private let folder: StoreFolder
  private let store: DiskStore
  private let request: CacheRequest

  init() throws {
    folder = try StoreFolder()
    store = try DiskStore(folder: folder.path, capacity: 100_000_000)
    request = CacheRequest(uri: try URI("http://a.test/"))
  }

  /// Stores a part in the way in which the cache does, with `bytes` as its body.
  private func store(_ part: StoredResponse, _ bytes: [UInt8], id: UInt64) throws(DiskStoreError) {
    let record = store.record(of: part, uri: "u")
    let writer = try record.begin(in: store, uri: "u", id: id)
    try writer.append(bytes.span)
    let request = request
    try record.finish(writer) { $0.isSuperseded(by: record.response, to: request) }
  }

  private func store(_ range: Range<Int>, of whole: Representation, id: UInt64) throws(DiskStoreError) {
    try store(whole.part(range), whole.bytes(range), id: id)
  }

  /// Returns the stored ranges of the representation, in their order. A whole 200 is the range from 0. Records an issue if a record
  /// has other bytes than the representation, or if the ranges of other versions are stored.
  private func check(_ whole: Representation) -> [Range<Int>] {
    store.contents(of: "u").compactMap { found -> Range<Int>? in
      let range =
        found.response.part.map { Int($0.range.lowerBound)..<Int($0.range.upperBound) } ?? 0..<whole.byteCount
      #expect(found.response.fields.first("ETag") == "\"\(whole.version)\"")
      #expect(found.response.isPartial == (range.count < whole.byteCount))
      guard let body = found.body else { return nil }
      // #expect would search for the differences of long arrays, which takes minutes.
      let isIntact = body == whole.bytes(range)
      #expect(isIntact, "\(range)")
      return range
    }.sorted { $0.lowerBound < $1.lowerBound }
  }

  @Test("parts in files are combined with a part between them, and the whole is a 200")
  func combined() throws {
    let whole = Representation(byteCount: 300_000, version: 1)
    try store(0..<100_000, of: whole, id: 1)
    try store(200_001..<300_000, of: whole, id: 2)
    #expect(check(whole) == [0..<100_000, 200_001..<300_000])
    try store(150_000..<200_000, of: whole, id: 3)
    #expect(check(whole) == [0..<100_000, 150_000..<200_000, 200_001..<300_000])
    try store(90_000..<200_010, of: whole, id: 4)
    #expect(check(whole) == [0..<300_000])
    #expect(store.count == 1 && store.contents(of: "u").first?.response.status == 200)
  }

  @Test("a part of another version replaces the parts in files, and isn't combined with them")
  func versions() throws {
    try store(0..<100_000, of: Representation(byteCount: 300_000, version: 1), id: 1)
    let second = Representation(byteCount: 300_000, version: 2)
    try store(100_000..<300_000, of: second, id: 2)
    #expect(check(second) == [100_000..<300_000])
  }

  @Test("if the body of a part isn't as long as announced, neither it nor a combined record is stored")
  func wrongLength() throws {
    let whole = Representation(byteCount: 300_000, version: 1)
    try store(0..<100_000, of: whole, id: 1)
    for range in [100_000..<200_000, 150_000..<200_000] {
      for count in [range.count - 1, range.count + 1] {
        let bytes = whole.bytes(range.lowerBound..<range.lowerBound + count)
        #expect(throws: DiskStoreError.wrongLength) { try store(whole.part(range), bytes, id: 2) }
        #expect(check(whole) == [0..<100_000] && folder.names.count == 1)
      }
    }
  }

  @Test("a damaged part in a file is removed instead of combined")
  func damaged() throws {
    let whole = Representation(byteCount: 300_000, version: 1)
    try store(0..<100_000, of: whole, id: 1)
    var bytes = try folder.bytes(folder.names[0])
    // The first block ends before the second half of the file.
    bytes[bytes.count - 20] ^= 1
    try folder.write(bytes, to: folder.names[0])
    #expect(throws: DiskStoreError.damaged) { try store(100_000..<200_000, of: whole, id: 2) }
    #expect(store.count == 0 && folder.names.isEmpty)
    try store(100_000..<200_000, of: whole, id: 3)
    #expect(check(whole) == [100_000..<200_000])
  }

  @Test("an interrupted combination leaves the earlier part")
  func interrupted() throws {
    let whole = Representation(byteCount: 300_000, version: 1)
    try store(0..<100_000, of: whole, id: 1)
    do {
      let record = store.record(of: whole.part(100_000..<200_000), uri: "u")
      let writer = try record.begin(in: store, uri: "u", id: 2)
      let bytes = whole.bytes(100_000..<150_000)
      try writer.append(bytes.span)
      #expect(folder.names.count == 2)
    }
    #expect(check(whole) == [0..<100_000] && folder.names.count == 1)
  }

  @Test("a short part isn't combined with a part so long that copying it costs too much")
  func amplification() throws {
    let whole = Representation(byteCount: 1_400_000, version: 1)
    try store(0..<1_200_000, of: whole, id: 1)
    try store(1_200_000..<1_200_010, of: whole, id: 2)
    #expect(check(whole) == [0..<1_200_000, 1_200_000..<1_200_010])
    // Six copied bytes for each received one are permitted, so the three parts become one.
    try store(1_200_010..<1_400_000, of: whole, id: 3)
    #expect(check(whole) == [0..<1_400_000])
  }

  @Test("a short part that completes the representation is combined with a long one, however much must be copied")
  func wholeIsCopied() throws {
    let whole = Representation(byteCount: 1_200_010, version: 1)
    try store(0..<1_200_000, of: whole, id: 1)
    try store(1_200_000..<1_200_010, of: whole, id: 2)
    #expect(check(whole) == [0..<1_200_010])
  }

  @Test("a part that announces the greatest possible length is combined without a trap, and not stored")
  func greatestLength() throws {
    let whole = Representation(byteCount: .max, version: 1)
    try store(0..<10, of: whole, id: 1)
    #expect(store.record(of: whole.part(10..<Int.max), uri: "u").isCombined)
    #expect(throws: DiskStoreError.wrongLength) { try store(whole.part(10..<Int.max), [1, 2, 3], id: 2) }
    #expect(folder.names.count == 1)
  }

  @Test("parts of random ranges and versions, some of them damaged or cut off, never mix up bytes")
  func random() throws {
    var random = SplitMix64(seed: 11)
    var id: UInt64 = 0
    for _ in 0..<repetitions(of: 4) {
      try store.removeAll()
      var whole = Representation(byteCount: random.number(1...140_000), version: 1)
      var expected: [Range<Int>] = []
      for _ in 0..<15 {
        id += 1
        let ends = (0..<2).map { _ in random.number(0...whole.byteCount) }.sorted()
        let range = ends[0]..<ends[1]
        guard !range.isEmpty else { continue }
        switch random.number(0...9) {
        case 0:
          // A writer that doesn't finish.
          _ = try store.record(of: whole.part(range), uri: "u").begin(in: store, uri: "u", id: id)
        case 1:
          let cut = whole.bytes(range.dropLast())
          #expect(throws: DiskStoreError.wrongLength) { try store(whole.part(range), cut, id: id) }
        case 2:
          whole = Representation(byteCount: whole.byteCount, version: whole.version + 1)
          try store(range, of: whole, id: id)
          expected = [range]
        case 3 where !folder.names.isEmpty:
          let name = folder.names[random.number(0...folder.names.count - 1)]
          var bytes = try folder.bytes(name)
          bytes[random.number(0...bytes.count - 1)] ^= 1
          try folder.write(bytes, to: name)
          // Reading all blocks removes what is damaged.
          expected = check(whole)
          let intact = store.contents(of: "u").filter { $0.body != nil }.map(\.id)
          store.forEachRecord(of: "u") { if !intact.contains($0.id) { store.remove($0.id) } }
        default:
          try store(range, of: whole, id: id)
          let joined = expected.filter { $0.lowerBound <= range.upperBound && range.lowerBound <= $0.upperBound }
          expected.removeAll { joined.contains($0) }
          expected.append(
            joined.reduce(range) { min($0.lowerBound, $1.lowerBound)..<max($0.upperBound, $1.upperBound) })
          expected.sort { $0.lowerBound < $1.lowerBound }
        }
        #expect(check(whole) == expected)
      }
    }
  }
}
