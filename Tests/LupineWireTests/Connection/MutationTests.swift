// MutationTests: parses mutated responses; the outcome is the same however the bytes are split, and memory is bounded.

import LupineTestSupport
import Testing

@testable import LupineWire

@Suite("Parsing of mutated responses")
struct MutationTests {
  /// The bytes that have a special meaning in an HTTP head or in chunked framing. Mutations insert these bytes more often than
  /// others.
  private let telling = Array("\r\n\t :;,0123456789aAfFgHT/.\0\u{7F}".utf8)

  // From each seed, the test derives 2,500 inputs, unless they are repeated or a sanitizer is used.
  @Test(
    "parsing a randomly mutated response has the same outcome whether it arrives whole, byte by byte or in random parts",
    arguments: 1...8 as ClosedRange<UInt64>
  )
  func splitsAgree(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let originals = ResponseVector.all.filter { $0.bytes.count < 512 }
    for _ in 0..<repetitions(of: 2500) {
      let vector = try #require(originals.randomElement(using: &random))
      let bytes = random.mutation(of: vector.bytes, inserting: telling)
      let whole = transcript(of: [bytes[...]], like: vector)
      let single = transcript(of: bytes.singly, like: vector)
      let pieces = transcript(of: randomPieces(bytes, using: &random), like: vector)
      guard whole.agrees(with: single), whole.agrees(with: pieces) else {
        Issue.record("\(vector.name), seed \(seed): \(bytes)\n\(whole)\n\(single)\n\(pieces)")
        continue
      }
    }
  }

  @Test("the parser of a field section never buffers more than its limit", arguments: [9, 10] as [UInt64])
  func retainedBytes(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let limits = Limits.with { ($0.headBytesMax, $0.trailerBytesMax, $0.fieldLinesMax) = (60, 40, 2) }
    for _ in 0..<1000 {
      let vector = try #require(ResponseVector.all.randomElement(using: &random))
      let bytes = random.mutation(of: vector.bytes, inserting: telling)
      expectBounded(SectionParser(.response, limits: limits), bytes, limit: 60)
      expectBounded(SectionParser(.request, limits: limits), bytes, limit: 60)
      expectBounded(SectionParser(.trailers, limits: limits), bytes, limit: 40)
    }
  }

  private func transcript(of pieces: [ArraySlice<UInt8>], like vector: ResponseVector) -> Transcript {
    vector.transcript(pieces)
  }

  private func expectBounded(_ parser: SectionParser, _ bytes: [UInt8], limit: Int) {
    var parser = parser
    var reading = true
    for byte in bytes where reading {
      var cursor = 0
      switch try? parser.next([byte].span, at: &cursor) {
      case .needMoreBytes: break
      case .section(let section):
        #expect(section.byteCount <= limit && section.fields.bytes.count <= limit && section.fields.count <= 2)
        #expect(parser.pendingCount == 0)
        reading = false
      case nil: reading = false
      }
      if parser.pendingCount > limit { Issue.record("the parser buffers \(parser.pendingCount) bytes") }
    }
  }

  private func randomPieces(_ bytes: [UInt8], using random: inout SplitMix64) -> [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + Int.random(in: 0...20, using: &random))
      pieces.append(bytes[start..<end])
      start = end
    }
    return pieces
  }
}

extension Transcript {
  /// Returns whether the events and the error of both transcripts are the same. `notHTTP` errors may quote prefixes of different
  /// lengths.
  func agrees(with other: Transcript) -> Bool {
    switch (error, other.error) {
    case (nil, nil): self == other
    case (let mine?, let theirs?): mine.agrees(with: theirs) && withoutError == other.withoutError
    default: false
    }
  }
}
