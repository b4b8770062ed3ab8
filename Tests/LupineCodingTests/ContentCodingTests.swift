// ContentCodingTests: names of codings, lists in Content-Encoding, and descriptions of errors.
import LupineCoding
import Testing

@Suite("Content-Encoding")
struct ContentCodingTests {
  #if Zstd
    private static let zstd: ContentCoding? = .zstd
  #else
    private static let zstd: ContentCoding? = nil
  #endif

  @Test(
    "the content decoder ignores the case of a content coding's name",
    arguments: [
      ("gzip", ContentCoding.gzip), ("GZip", .gzip), ("x-gzip", .gzip), ("X-GZIP", .gzip), ("deflate", .deflate),
      ("Deflate", .deflate), ("br", .brotli), ("BR", .brotli), ("zstd", zstd), ("ZStd", zstd), ("identity", nil),
      ("", nil), ("gzip ", nil),
      ("x-deflate", nil), ("compress", nil), ("zst", nil), ("gz\u{49}p\u{0}", nil), ("@r", nil),
    ] as [(String, ContentCoding?)])
  func names(_ name: String, coding: ContentCoding?) {
    #expect(ContentCoding(name: name) == coding)
    #expect(ContentCoding(name: name[...]) == coding)
  }

  @Test("each supported content coding is found by its registered name", arguments: ContentCoding.allCases)
  func ownName(_ coding: ContentCoding) {
    #expect(ContentCoding(name: coding.name) == coding)
  }

  @Test(
    "the parser returns the codings of a Content-Encoding list in order, without identity and empty elements",
    arguments: [
      ("", []), ("identity", []), ("gzip", [.gzip]), ("gzip, br", [.gzip, .brotli]), ("br,gzip", [.brotli, .gzip]),
      (" \tX-Gzip\t , ,, Identity,deflate,", [.gzip, .deflate]), (",", []), ("gzip,gzip", [.gzip, .gzip]),
      ("br,br,br,identity,br,br", [.brotli, .brotli, .brotli, .brotli, .brotli]),
    ] as [(String, [ContentCoding])])
  func lists(_ value: String, codings: [ContentCoding]) throws {
    #expect(try ContentCoding.list(value) == codings)
  }

  @Test(
    "parsing a list of content codings fails if a coding is unknown, and the error contains the coding's name",
    arguments: ["lz4", "gzip, lz4", "gzip;q=1", "gzip br", "gzip\u{0}"])
  func unknown(_ value: String) throws {
    let error = failure { () throws(CodingError) in try ContentCoding.list(value) }
    guard case .unknownCoding(let name) = error?.cause else {
      Issue.record("unexpected error: \(String(describing: error))")
      return
    }
    #expect(value.hasSuffix(name))
  }

  @Test(
    "a body with an unknown content coding is delivered without decoding, or fails if the limits refuse unknown codings",
    arguments: [
      "foo", "aws-chunked", "utf-8", "none", "binary", "lz4", "gzip, lz4", "lz4, gzip", "gzip;q=1",
      "gzip, br, x, gzip",
    ])
  func undecodable(_ value: String) throws {
    #expect(try ContentCoding.decodable(value, limits: CodingLimits()) == [])
    let error = failure { () throws(CodingError) in
      try ContentCoding.decodable(value, limits: CodingLimits(refusesUnknownCodings: true))
    }
    guard case .unknownCoding = error?.cause else {
      Issue.record("unexpected error: \(String(describing: error))")
      return
    }
  }

  @Test(
    "the client decodes a body whose Content-Encoding lists only known codings, whether or not it refuses unknown ones",
    arguments: [true, false])
  func decodable(refusesUnknown: Bool) throws {
    let limits = CodingLimits(refusesUnknownCodings: refusesUnknown)
    #expect(try ContentCoding.decodable("x-gzip, identity,, br", limits: limits) == [.gzip, .brotli])
    #expect(try ContentCoding.decodable("identity", limits: limits) == [])
  }

  @Test(
    "an unknown content coding counts toward the limit of layers, whatever its position in Content-Encoding",
    arguments: ["gzip", "foo", "br"])
  func tooManyUnknown(_ name: String) throws {
    let five = "\(name), foo, gzip, foo, gzip"
    #expect(try ContentCoding.decodable(five, limits: CodingLimits()) == [])
    for six in ["\(five), gzip", "\(five), bar", "gzip, \(five)", "bar, \(five)"] {
      let error = failure { () throws(CodingError) in try ContentCoding.decodable(six, limits: CodingLimits()) }
      #expect(error?.cause == .tooManyLayers(max: 5))
    }
  }

  @Test("the client refuses a Content-Encoding list with more codings than the limit")
  func tooMany() throws {
    let six = failure { () throws(CodingError) in try ContentCoding.list("br,br,br,br,br,br") }
    #expect(six?.cause == .tooManyLayers(max: 5))
    let two = failure { () throws(CodingError) in try ContentCoding.list("br, gzip", layersMax: 1) }
    #expect(two?.cause == .tooManyLayers(max: 1))
  }

  @Test("a decoding error's description shortens and escapes the name of an unknown coding")
  func hostileName() throws {
    let value = "a\r\n\u{1b}[31m\u{9b}32m\u{2028}" + String(repeating: "x", count: 10_000)
    let error = failure { () throws(CodingError) in try ContentCoding.list(value) }
    let text = try #require(error?.description)
    #expect(text.utf8.count < 300)
    #expect(text.unicodeScalars.allSatisfy { " " <= $0 && $0 <= "~" || $0 == "§" })
  }

  @Test("a decoding error's description states the coding, the cause, the position and the remedy")
  func description() throws {
    let damaged = try ContentEncoder.encode(Array("hello".utf8), as: .gzip).dropLast() + [1]
    let error = failure { () throws(CodingError) in try decode(Array(damaged), [.gzip]) }
    #expect(
      error?.description == """
        gzip: The decoded bytes don't match the checksum or length in the coded data (incorrect length check) after 25 \
        coded bytes. The body was damaged in transit or by the origin; send the request again.
        """)
  }

  @Test(
    "every decoding error's description ends with a remedy",
    arguments: [
      .unknownCoding("lz4"), .tooManyLayers(max: 5), .tooManyBrotliLayers(max: 1), .tooManyZstdLayers(max: 1),
      .corrupt("text"), .checksum("text"), .truncated, .trailingBytes,
      .decodedBytesMax(1), .expansionRatioMax(1), .outOfMemory, .internalFailure("text"),
    ] as [CodingError.Cause])
  func remedies(_ cause: CodingError.Cause) throws {
    var error = try #require(failure { () throws(CodingError) in try ContentCoding.list("lz4") })
    error.cause = cause
    let sentences = error.description.split(separator: ". ")
    #expect(sentences.count == 2)
    #expect(error.description.hasSuffix("."))
  }
}
