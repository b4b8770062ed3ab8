// Vector: coded bodies from Python 3.11's zlib and gzip modules, from libbrotlienc 1.0.9 and from zstd, and functions to
// decode them.
import LupineCoding
import Testing

/// An encoded body and the text to which it decodes.
struct Vector: Sendable, CustomTestStringConvertible {
  var name: String
  var codings: [ContentCoding]
  var hex: String
  var decoded: String
  /// The lengths of those prefixes of the encoded body, shorter than the body, that are themselves complete bodies.
  var completeAt: Set<Int> = []
  /// The number of bytes at the end of the encoded body that contain a checksum: CRC-32 and length for gzip, Adler-32 for zlib.
  var checksumBytes = 0

  var coded: [UInt8] { bytes(hex: hex) }
  var testDescription: String { name }

  static let text = String(
    repeating: "Content codings are primarily used to allow a representation to be compressed. ", count: 3)

  static let all = zlibAndBrotli + zstd

  private static let zlibAndBrotli: [Vector] = [
    Vector(
      name: "gzip", codings: [.gzip],
      hex: """
        1f8b0800000000000003cd8cd10dc0200805577913740927a19534240a06304db7af6ed1df7bf7ae98266be2b22a7a07c819\
        c3a5934b7b31832bd240add90382f3708ee5538ae95e4e5ed7bee9520f945fe73e82205ca6ed000000
        """, decoded: text, checksumBytes: 8),
    Vector(
      name: "gzip of an empty body", codings: [.gzip], hex: "1f8b080000000000000303000000000000000000", decoded: "",
      checksumBytes: 8),
    Vector(
      name: "gzip with three members, one of them empty", codings: [.gzip],
      hex: """
        1f8b0800000000000003cbcf4b5500004961ac23040000001f8b0800000000000003030000000000000000001f8b08000000\
        000000032b29cf0700668aca1103000000
        """, decoded: "one two", completeAt: [24, 44], checksumBytes: 8),
    Vector(
      name: "gzip with extra field, name, comment and header CRC", codings: [.gzip],
      hex: "1f8b081e0000000000030400616200006e616d652e747874006e6f746500825e4bcb4ccd4929060088e3e57e06000000",
      decoded: "fields", checksumBytes: 8),
    Vector(
      name: "deflate", codings: [.deflate],
      hex: """
        789ccd8cd10dc0200805577913740927a19534240a06304db7af6ed1df7bf7ae98266be2b22a7a07c819c3a5934b7b31832b\
        d240add90382f3708ee5538ae95e4e5ed7bee9520f945fe73e294a5836
        """, decoded: text, checksumBytes: 4),
    Vector(
      name: "deflate, stored", codings: [.deflate], hex: "7801010600f9ff73746f726564093c0292", decoded: "stored",
      checksumBytes: 4),
    Vector(
      name: "deflate of an empty body", codings: [.deflate], hex: "789c030000000001", decoded: "", checksumBytes: 4),
    Vector(
      name: "deflate, fixed codes", codings: [.deflate], hex: "78014b4cc40e0071c40919",
      decoded: String(repeating: "a", count: 24), checksumBytes: 4),
    Vector(
      name: "raw deflate", codings: [.deflate],
      hex: """
        cd8cd10dc0200805577913740927a19534240a06304db7af6ed1df7bf7ae98266be2b22a7a07c819c3a5934b7b31832bd240\
        add90382f3708ee5538ae95e4e5ed7bee9520f945fe73e
        """, decoded: text),
    Vector(name: "raw deflate, stored", codings: [.deflate], hex: "010600f9ff73746f726564", decoded: "stored"),
    Vector(name: "raw deflate of an empty body", codings: [.deflate], hex: "0300", decoded: ""),
    Vector(name: "raw deflate, fixed codes", codings: [.deflate], hex: "4b0400", decoded: "a"),
    Vector(
      name: "br", codings: [.brotli],
      hex:
        """
        1bec00e08c94a9e35b878db5c94990b739c73870b8b66591c5c74571f090a546b9cc90a40d40c635418c1ea6138b70583654\
        0fec8f7901
        """,
      decoded: text),
    Vector(name: "br, stored", codings: [.brotli], hex: "0b028068656c6c6f03", decoded: "hello"),
    Vector(name: "br of an empty body", codings: [.brotli], hex: "06", decoded: ""),
    Vector(
      name: "br in gzip", codings: [.brotli, .gzip],
      hex: """
        1f8b0800000000000003013700c8ff1bec00e08c94a9e35b878db5c94990b739c73870b8b66591c5c74571f090a546b9cc90\
        a40d40c635418c1ea6138b705836540fec8f7901d207b45c37000000
        """, decoded: text, checksumBytes: 8),
    Vector(
      name: "gzip in br", codings: [.gzip, .brotli],
      hex: """
        0b2d801f8b0800000000000003cd8cd10dc0200805577913740927a19534240a06304db7af6ed1df7bf7ae98266be2b22a7a\
        07c819c3a5934b7b31832bd240add90382f3708ee5538ae95e4e5ed7bee9520f945fe73e82205ca6ed00000003
        """, decoded: text),
    Vector(
      name: "deflate in gzip in br", codings: [.deflate, .gzip, .brotli],
      hex: "8b13801f8b0800000000000003ab98a37d52c3cb37f484e71a1f5d2d3606b92b2c2701e4869f2a1400000003",
      decoded: "three layers"),
    Vector(name: "no coding", codings: [], hex: "68656c6c6f", decoded: "hello", completeAt: [1, 2, 3, 4]),
  ]
}

/// Returns the bytes that a string of hex digits represents.
func bytes(hex: String) -> [UInt8] {
  let digits = hex.compactMap(\.hexDigitValue).map(UInt8.init)
  return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// Decodes `coded` in pieces that end at the offsets in `cuts`, with an output buffer of `outputBytes`. Checks that each call of
/// the decoder returns correct counts, and that the body is complete.
func decode(
  _ coded: [UInt8], _ codings: [ContentCoding], limits: CodingLimits = .init(), cuts: [Int] = [],
  outputBytes: Int = 4096
) throws(CodingError) -> [UInt8] {
  var decoder = try ContentDecoder(codings, limits: limits)
  var result: [UInt8] = []
  var scratch = [UInt8](repeating: 0, count: outputBytes)
  var start = 0
  for end in cuts + [coded.count] {
    var hasMore = true
    while hasMore {
      let before = result.count
      let progress = try decoder.decode(coded.span.bytes.extracting(start..<end), scratch: &scratch) { piece in
        result += piece
      }
      start += progress.consumed
      hasMore = progress.produced > 0
      if result.count - before != progress.produced || progress.produced > outputBytes {
        Issue.record("the decoder reported \(progress.produced) bytes and delivered \(result.count - before)")
      }
    }
    if start != end { Issue.record("the decoder stopped at \(start) of \(end) input bytes without output") }
  }
  try decoder.finish()
  return result
}

/// Decodes `coded` until the decoder throws. Returns the number of bytes decoded before that, and the error.
func decodeUntilRefused(
  _ coded: [UInt8], _ codings: [ContentCoding], _ limits: CodingLimits
) throws -> (decodedBytes: Int, error: CodingError?) {
  var decoder = try ContentDecoder(codings, limits: limits)
  var scratch = [UInt8](repeating: 0, count: 64 << 10)
  var offset = 0
  var decodedBytes = 0
  while true {
    do throws(CodingError) {
      let progress = try decoder.decode(coded.span.bytes.extracting(offset...), scratch: &scratch) { _ in }
      offset += progress.consumed
      decodedBytes += progress.produced
      if progress.produced == 0 { return (decodedBytes, nil) }
    } catch {
      return (decodedBytes, error)
    }
  }
}

extension [UInt8] {
  static func += (bytes: inout [UInt8], piece: borrowing Span<UInt8>) {
    for index in piece.indices { bytes.append(piece[index]) }
  }
}

/// Returns the error that `body` throws, and records an issue if it doesn't throw.
func failure<Result>(_ body: () throws(CodingError) -> Result) -> CodingError? {
  do throws(CodingError) {
    let result = try body()
    Issue.record("no error, but \(result)")
    return nil
  } catch {
    return error
  }
}
