// CodingLimitsTests: limits of decoding against decompression bombs, in each layer; bodies at the limits decode.
import LupineCoding
import Testing

@Suite("Limits of decoding content codings")
struct CodingLimitsTests {
  private static let zeros = [UInt8](repeating: 0, count: 10_000_000)

  @Test("the content decoder stops decoding 10 MB of zeros at the limit of 1 MB", arguments: ContentCoding.allCases)
  func decodedBytes(_ coding: ContentCoding) throws {
    let bomb = try ContentEncoder.encode(Self.zeros, as: coding)
    let limits = CodingLimits(decodedBytesMax: 1_000_000, expansionRatioMax: nil)
    let result = try decodeUntilRefused(bomb, [coding], limits)
    #expect(result.error?.cause == .decodedBytesMax(1_000_000))
    #expect(result.error?.coding == coding)
    #expect(result.decodedBytes <= 1_000_000)
  }

  @Test(
    "the content decoder decodes a body of exactly the maximum size, and refuses a body that is one byte longer",
    arguments: ContentCoding.allCases.map { [$0] } + [[], [.brotli, .gzip]])
  func decodedBytesExactly(_ codings: [ContentCoding]) throws {
    let body = Array("0123456789".utf8)
    var coded = body
    for coding in codings { coded = try ContentEncoder.encode(coded, as: coding) }
    for outputBytes in [1, 10, 100] {
      let limits = CodingLimits(decodedBytesMax: 10)
      #expect(try decode(coded, codings, limits: limits, outputBytes: outputBytes) == body)
      let error = failure { () throws(CodingError) in
        try decode(coded, codings, limits: CodingLimits(decodedBytesMax: 9), outputBytes: outputBytes)
      }
      #expect(error?.cause == .decodedBytesMax(9))
    }
  }

  @Test("the content decoder refuses a brotli bomb for its expansion ratio before decoding more than 1 MiB")
  func ratio() throws {
    let bomb = try ContentEncoder.encode(Self.zeros, as: .brotli)
    let result = try decodeUntilRefused(bomb, [.brotli], CodingLimits())
    #expect(result.error?.cause == .expansionRatioMax(1100))
    #expect(result.decodedBytes <= 1 << 20)
  }

  @Test(
    "a body with a single layer of deflate can't exceed the default limit of the expansion ratio",
    arguments: [ContentCoding.gzip, .deflate])
  func ratioOfDeflate(_ coding: ContentCoding) throws {
    let coded = try ContentEncoder.encode(Self.zeros, as: coding, level: 9)
    #expect(Self.zeros.count / coded.count > 1000)
    #expect(try decodeUntilRefused(coded, [coding], CodingLimits()).error == nil)
  }

  @Test("the content decoder refuses gzip within gzip for its overall ratio of decoded bytes to received bytes")
  func ratioOfStack() throws {
    let bomb = try ContentEncoder.encode(ContentEncoder.encode(Self.zeros, as: .gzip), as: .gzip)
    let result = try decodeUntilRefused(bomb, [.gzip, .gzip], CodingLimits())
    #expect(result.error?.cause == .expansionRatioMax(1100))
    #expect(result.decodedBytes <= 1 << 20)
  }

  @Test("a body that decodes to fewer bytes than expansionFloorBytes may have any expansion ratio")
  func floor() throws {
    let coded = try ContentEncoder.encode(Array(Self.zeros[..<(1 << 20)]), as: .brotli)
    #expect(try decodeUntilRefused(coded, [.brotli], CodingLimits()).error == nil)
    let strict = CodingLimits(expansionFloorBytes: 1000)
    #expect(try decodeUntilRefused(coded, [.brotli], strict).error?.cause == .expansionRatioMax(1100))
  }

  @Test(
    "a decompression bomb in one coding layer is refused, even if the next layer decodes the bomb to an empty body")
  func swallowed() throws {
    // Empty stored blocks (RFC 1951 §3.2.4): 3 MB of them decode to nothing.
    let blocks = Array(repeatElement([0x00, 0x00, 0x00, 0xff, 0xff] as [UInt8], count: 600_000).joined())
    let bomb = try ContentEncoder.encode(blocks, as: .brotli)
    let byRatio = try decodeUntilRefused(bomb, [.deflate, .brotli], CodingLimits())
    #expect(byRatio.error?.cause == .expansionRatioMax(1100))
    #expect(byRatio.error?.coding == .brotli)
    let limits = CodingLimits(decodedBytesMax: 1_000_000, expansionRatioMax: nil)
    let byBytes = try decodeUntilRefused(bomb, [.deflate, .brotli], limits)
    #expect(byBytes.error?.cause == .decodedBytesMax(1_000_000))
    #expect(byBytes.error?.coding == .brotli)
  }

  @Test("extreme values of the decoding limits don't make the content decoder trap", arguments: [0, 1, UInt64.max])
  func extremes(_ value: UInt64) throws {
    let coded = try ContentEncoder.encode(ContentEncoder.encode([1, 2, 3], as: .gzip), as: .gzip)
    let limits = CodingLimits(decodedBytesMax: value, expansionRatioMax: value, expansionFloorBytes: value)
    let error = try decodeUntilRefused(coded, [.gzip, .gzip], limits).error
    #expect((error == nil) == (value == .max))
  }

  @Test("the content decoder decodes a body with five layers of content codings, and refuses a sixth layer")
  func layers() throws {
    var coded = Array("hello".utf8)
    let codings: [ContentCoding] = [.gzip, .brotli, .deflate, .gzip, .brotli]
    for coding in codings { coded = try ContentEncoder.encode(coded, as: coding) }
    let limits = CodingLimits(brotliLayersMax: 2)
    #expect(
      try decode(coded, codings, limits: limits, cuts: Array(0..<coded.count), outputBytes: 1) == Array("hello".utf8))
    let error = failure { () throws(CodingError) in try decode(coded, codings + [.gzip], limits: limits) }
    #expect(error?.cause == .tooManyLayers(max: 5))
  }

  @Test("by default, the content decoder refuses a second brotli layer, so that a body needs only one window of 16 MiB")
  func brotliLayers() throws {
    var coded = Array("hello".utf8)
    for _ in 0..<5 { coded = try ContentEncoder.encode(coded, as: .brotli) }
    let two: [ContentCoding] = [.brotli, .gzip, .brotli]
    for codings in [two, Array(repeating: .brotli, count: 5)] {
      let error = failure { () throws(CodingError) in try decode(coded, codings) }
      #expect(error?.cause == .tooManyBrotliLayers(max: 1))
    }
    let raised = CodingLimits(brotliLayersMax: 5)
    #expect(try decode(coded, Array(repeating: .brotli, count: 5), limits: raised) == Array("hello".utf8))
  }
}
