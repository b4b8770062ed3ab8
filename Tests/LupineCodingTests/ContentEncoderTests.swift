// ContentEncoderTests: encoding in pieces of any size into output of any size, in HTTP's formats.
import LupineCoding
import Testing

@Suite("Encoding of content codings")
struct ContentEncoderTests {
  private static let body = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }

  /// Encodes `body` in pieces of `pieceBytes` with an output buffer of `outputBytes`.
  private func encode(_ coding: ContentCoding, pieceBytes: Int, outputBytes: Int) throws -> [UInt8] {
    var encoder = try ContentEncoder(coding)
    var scratch = [UInt8](repeating: 0, count: outputBytes)
    var result: [UInt8] = []
    var start = 0
    while start < Self.body.count {
      let end = min(start + pieceBytes, Self.body.count)
      let progress = try encoder.encode(Self.body.span.bytes.extracting(start..<end), into: &scratch)
      start += progress.consumed
      result += scratch[..<progress.produced]
      #expect(!progress.isDone)
      #expect(start == end || progress.produced == outputBytes)
    }
    var isDone = false
    while !isDone {
      let progress = try encoder.finish(into: &scratch)
      result += scratch[..<progress.produced]
      isDone = progress.isDone
      #expect(isDone || progress.produced == outputBytes)
    }
    let more = try encoder.finish(into: &scratch)
    #expect(more.produced == 0 && more.isDone)
    return result
  }

  @Test(
    "a body that the encoder receives piece by piece decodes to the original", arguments: ContentCoding.allCases,
    [1, 7, 5000])
  func pieces(_ coding: ContentCoding, outputBytes: Int) throws {
    for pieceBytes in [1, 999, 20_000] {
      let coded = try encode(coding, pieceBytes: pieceBytes, outputBytes: outputBytes)
      #expect(try decode(coded, [coding]) == Self.body)
    }
  }

  @Test("an encoder that receives no input writes a valid empty stream", arguments: ContentCoding.allCases)
  func nothing(_ coding: ContentCoding) throws {
    let coded = try ContentEncoder.encode([], as: coding)
    #expect(!coded.isEmpty)
    #expect(try decode(coded, [coding]).isEmpty)
  }

  @Test(
    "a content encoder's output starts with the header of the coding's format",
    arguments: [(ContentCoding.gzip, "1f8b08000000000000"), (.deflate, "785e")])
  func header(_ coding: ContentCoding, hex: String) throws {
    let coded = try ContentEncoder.encode(Array("hello".utf8), as: coding)
    #expect(coded.starts(with: bytes(hex: hex)))
  }

  @Test(
    "a compression level outside of the valid range is replaced by the nearest valid level",
    arguments: ContentCoding.allCases)
  func levels(_ coding: ContentCoding) throws {
    let highest =
      switch coding {
      case .brotli: 11
      #if Zstd
        case .zstd: 19
      #endif
      case .gzip, .deflate: 9
      }
    let lowest = try ContentEncoder.encode(Self.body, as: coding, level: 0)
    #expect(try ContentEncoder.encode(Self.body, as: coding, level: .min) == lowest)
    let best = try ContentEncoder.encode(Self.body, as: coding, level: highest)
    #expect(try ContentEncoder.encode(Self.body, as: coding, level: .max) == best)
    #expect(best.count < lowest.count)
    #expect(try decode(lowest, [coding]) == Self.body)
    #expect(try decode(best, [coding]) == Self.body)
  }

  @Test("the content encoder doesn't change the bytes before the given offset of the output buffer")
  func offset() throws {
    let body = Array("hello".utf8)
    var encoder = try ContentEncoder(.gzip)
    var scratch = [UInt8](repeating: 7, count: 64)
    let start = 3 + (try encoder.encode(body.span.bytes, into: &scratch, at: 3)).produced
    let progress = try encoder.finish(into: &scratch, at: start)
    #expect(progress.isDone && scratch[..<3] == [7, 7, 7])
    #expect(try scratch[3..<start + progress.produced] == ContentEncoder.encode(body, as: .gzip)[...])
  }
}
