// RecordFormatTests: records read back as written, and damaged ones are refused.

import LupineCache
import LupineReactor
import LupineTestSupport
import LupineWire
import Testing

@testable import LupineCacheStore

@Suite struct RecordFormatTests {
  @Test(
    "the checksum function of cache records returns the values of the xxHash specification",
    arguments: [
      ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
      ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
    ] as [(String, UInt64)])
  func checksum(_ text: String, _ expected: UInt64) {
    #expect(Checksum.of(Array(text.utf8).span) == expected)
  }

  static let heads = [
    RecordHead(uri: "https://a.test/ä?b", response: .sample()),
    RecordHead(uri: "", response: .sample("", partition: .session("ä"), state: .invalidated)),
    RecordHead(
      uri: "u",
      response: StoredResponse(
        status: 404, fields: Fields(), times: ExchangeTimes(request: -5, response: 7), partition: .session(""),
        selectingFields: SelectingFields([.init(name: "a", value: nil), .init(name: "b", value: [])]),
        bodyForm: .decoded, bodyByteCount: 3)),
  ]

  @Test("a cache record's head decodes to the head that was encoded", arguments: heads)
  func roundTrip(_ head: RecordHead) {
    #expect(RecordHead(head.bytes, bodyByteCount: head.response.bodyByteCount) == head)
    let preamble = RecordPreamble(head: head.bytes, bodyByteCount: 5, id: 7)
    #expect(RecordPreamble(preamble.bytes) == preamble)
    #expect(preamble.matches(head.bytes))
  }

  @Test("the cache refuses a record's head that is truncated at any byte, or followed by more bytes", arguments: heads)
  func cut(_ head: RecordHead) {
    for count in 0..<head.bytes.count {
      #expect(RecordHead(Array(head.bytes.prefix(count)), bodyByteCount: 0) == nil)
    }
    #expect(RecordHead(head.bytes + [0], bodyByteCount: 0) == nil)
  }

  @Test("the checksum detects a change of any byte of a cache record's preamble or head", arguments: heads)
  func changed(_ head: RecordHead) {
    let preamble = RecordPreamble(head: head.bytes, bodyByteCount: 5, id: 7)
    for index in preamble.bytes.indices {
      var bytes = preamble.bytes
      bytes[index] ^= 1
      #expect(RecordPreamble(bytes)?.matches(head.bytes) != true)
    }
    for index in head.bytes.indices {
      var bytes = head.bytes
      bytes[index] ^= 0x80
      #expect(!preamble.matches(bytes))
    }
  }

  @Test("no sequence of bytes crashes the parser of cache record heads", arguments: 0..<repetitions(of: 200))
  func mutations(_ seed: Int) {
    var random = SplitMix64(seed: UInt64(seed))
    let telling: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
    for _ in 0..<50 {
      let original = random.pick(Self.heads)
      let bytes = random.mutation(of: original.bytes, inserting: telling)
      // The decoded numbers may be limited, but the decoded head encodes and decodes to itself.
      guard let head = RecordHead(bytes, bodyByteCount: 0) else { continue }
      #expect(RecordHead(head.bytes, bodyByteCount: 0) == head)
      _ = RecordPreamble(bytes)
    }
  }

  @Test("the cache refuses a record whose preamble has another version or announces a head larger than the limit")
  func limits() {
    let head = RecordHead(uri: "u", response: .sample()).bytes
    var bytes = RecordPreamble(head: head, bodyByteCount: 0, id: 1).bytes
    bytes[8] = 2
    #expect(RecordPreamble(bytes) == nil)
    let large = [UInt8](repeating: 0, count: RecordFormat.headBytesMax)
    #expect(RecordPreamble(RecordPreamble(head: large, bodyByteCount: 0, id: 1).bytes) != nil)
    #expect(RecordPreamble(RecordPreamble(head: large + [0], bodyByteCount: 0, id: 1).bytes) == nil)
  }

  @Test(
    "a cache record's file size is the sum of its parts, or nil if the sum overflows",
    arguments: [
      (0, 140), (1, 149), (65_536, 65_684), (65_537, 65_693), (UInt64.max, nil), (UInt64(Int64.max), nil),
    ] as [(UInt64, UInt64?)])
  func sizes(_ body: UInt64, _ expected: UInt64?) {
    #expect(RecordFormat.fileByteCount(headByteCount: 100, bodyByteCount: body) == expected)
  }

  @Test(
    "the disk cache recognizes a file as a record only if the file name is a valid record name",
    arguments: [
      ("0123456789abcdef-00000000000000ff-1f3a.lupine", true), ("0123456789abcdef-00000000000000ff-0.lupine", true),
      ("0123456789abcdef-00000000000000ff-01.lupine", false), ("0123456789ABCDEF-00000000000000ff-1.lupine", false),
      ("0123456789abcde-00000000000000ff-1.lupine", false), ("0123456789abcdef-00000000000000ff-1", false),
      ("0123456789abcdef-00000000000000ff--1.lupine", false), ("+123456789abcdef-00000000000000ff-1.lupine", false),
      ("0123456789abcdef-00000000000000ff-ffffffffffffffff.lupine", false), ("new-00000000000000ff.lupine", false),
      (".lupine", false), ("", false),
    ])
  func names(_ text: String, _ isRecord: Bool) {
    #expect((RecordName(text) != nil) == isRecord)
    #expect(RecordName(text).map { $0.text == text } ?? true)
  }
}
