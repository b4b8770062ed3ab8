// The decoders and encoders of content codings, compared with single calls of zlib, libbrotli and libzstd.

import CLupineBrotli
import CLupineZlib
import CLupineZstd
@testable import LupineCoding

extension FuzzTarget {
  /// The content codings that an input selects by their index. Their order must not change, because the committed inputs would then
  /// select other codings.
  private static let codings: [ContentCoding] = [.gzip, .deflate, .brotli, .zstd]

  /// Fuzzes the decoder of content codings. The input is a byte of choices, followed by encoded bytes.
  static let decoder = FuzzTarget(
    name: "decoder", summary: "coded bytes in pieces are decoded as by the library in one call, within the limits"
  ) { bytes in
    var input = Input(bytes)
    let choices = input.byte()
    let coding = codings[Int(choices & 3)]
    let wire = Array(input.rest)
    let expected = OneShot.decode(wire, coding)
    var limits = CodingLimits()
    limits.decodedBytesMax = choices & 4 != 0 ? 100 : 4 << 20
    var cutter = Cutter(bytes)
    for pieces in cutter.waysToCut(wire) {
      let room = cutter.number(1...3) == 1 ? cutter.number(1...7) : 4096
      let outcome = Decoding(pieces, [coding], limits, room: room)
      // Only the common part is compared: before an error, a decoder with a smaller output buffer may have returned more bytes.
      let common = min(expected.bytes.count, outcome.bytes.count)
      hold(
        expected.bytes.prefix(common) == outcome.bytes.prefix(common), "\(coding): another output than the library's")
      hold(outcome.bytes.count <= limits.decodedBytesMax ?? .max, "\(outcome.bytes.count) bytes")
      if outcome.isLimited { continue }
      hold(
        outcome.isComplete == (expected.isComplete || wire.isEmpty),
        "\(coding): complete is \(outcome.isComplete), \(String(describing: outcome.error)): \(shown(wire))")
      if outcome.isComplete { hold(outcome.bytes == expected.bytes, "\(coding): another length than the library's") }
    }
    stack(wire, choices, &cutter)
  }

  /// Decodes the bytes with one decoder per coding, and with one decoder for both codings, and compares the results.
  private static func stack(_ wire: [UInt8], _ choices: UInt8, _ cutter: inout Cutter) {
    let two = [codings[Int(choices >> 3 & 3)], codings[Int(choices >> 5 & 3)]]
    var limits = CodingLimits(brotliLayersMax: 2, zstdLayersMax: 2)
    limits.decodedBytesMax = 1 << 20
    let outer = Decoding([wire], [two[1]], limits, room: 4096)
    let both = Decoding(cutter.pieces(wire), two, limits, room: cutter.number(1...4096))
    guard !outer.isLimited, !both.isLimited else { return }
    let inner = Decoding([outer.bytes], [two[0]], limits, room: 4096)
    guard !inner.isLimited else { return }
    let common = min(inner.bytes.count, both.bytes.count)
    hold(inner.bytes.prefix(common) == both.bytes.prefix(common), "\(two): another output than of each alone")
    // An empty body is complete with any codings. But if the outer coding decodes a nonempty body to 0 bytes, the inner coding is
    // incomplete.
    let isComplete = outer.isComplete && inner.isComplete && (!outer.bytes.isEmpty || wire.isEmpty)
    hold(both.isComplete == isComplete, "\(two): complete is \(both.isComplete): \(shown(wire))")
  }

  /// Fuzzes the encoder of content codings. The input contains choices, followed by bytes to encode.
  static let encoder = FuzzTarget(
    name: "encoder",
    summary: "the library decodes bytes encoded in pieces; damaged bytes never decode as valid"
  ) { bytes in
    var input = Input(bytes)
    let coding = input.pick(codings)
    let level = input.number(below: 14) - 1
    let (place, damage) = (input.number(below: 65_536), input.byte())
    let body = Array(input.rest)
    var cutter = Cutter(bytes)
    let coded = encode(body, coding, level, &cutter)
    let decoded = OneShot.decode(coded, coding)
    hold(decoded.isComplete && decoded.bytes == body, "\(coding) at \(level) decodes to something else")
    let own = Decoding(cutter.pieces(coded), [coding], CodingLimits(), room: cutter.number(1...600))
    hold(own.isComplete && own.bytes == body, "\(coding): \(String(describing: own.error))")
    guard damage != 0, !coded.isEmpty, coding == .gzip else { return }
    // gzip has a checksum and a length. Its header's time, compression flags and system don't affect the decoded bytes.
    var damaged = coded
    let index = place % damaged.count
    guard !(4...9).contains(index) else { return }
    damaged[index] ^= damage
    let result = Decoding([damaged], [coding], CodingLimits(), room: 4096)
    hold(!result.isComplete || result.bytes == body || index == 3, "byte \(index) of a gzip stream was damaged unseen")
  }

  private static func encode(
    _ body: [UInt8], _ coding: ContentCoding, _ level: Int, _ cutter: inout Cutter
  ) -> [UInt8] {
    guard var encoder = try? ContentEncoder(coding, level: level) else { fatalError("no encoder") }
    var coded: [UInt8] = []
    var scratch = [UInt8](repeating: 0, count: cutter.number(1...300))
    for piece in cutter.pieces(body, sizeMax: 400) {
      var offset = 0
      while offset < piece.count {
        guard let step = try? encoder.encode(piece.span.bytes.extracting(offset...), into: &scratch) else {
          fatalError("\(coding) failed")
        }
        offset += step.consumed
        coded += scratch[..<step.produced]
      }
    }
    while true {
      guard let step = try? encoder.finish(into: &scratch) else { fatalError("\(coding) failed") }
      coded += scratch[..<step.produced]
      if step.isDone { return coded }
    }
  }
}

/// The result of Lupine's `ContentDecoder` for the given pieces of a body.
private struct Decoding {
  var bytes: [UInt8] = []
  var isComplete = false
  var error: CodingError?

  var isLimited: Bool {
    switch error?.cause {
    case .decodedBytesMax, .expansionRatioMax: true
    default: false
    }
  }

  init(_ pieces: [[UInt8]], _ codings: [ContentCoding], _ limits: CodingLimits, room: Int) {
    guard var decoder = try? ContentDecoder(codings, limits: limits) else { fatalError("no decoder") }
    var scratch = [UInt8](repeating: 0, count: room)
    do throws(CodingError) {
      for piece in pieces {
        try GuardedBytes.with(piece) { (span) throws(CodingError) in
          var offset = 0
          while true {
            let step = try decoder.decode(span.bytes.extracting(offset...), scratch: &scratch) { piece in
              hold(piece.count <= room, "more bytes were decoded than the buffer can hold")
              for index in piece.indices { bytes.append(piece[index]) }
            }
            offset += step.consumed
            if step.produced == 0 {
              hold(offset == piece.count, "the decoder stopped without output before the end of its input")
              return
            }
          }
        }
      }
      try decoder.finish()
      isComplete = true
    } catch {
      self.error = error
    }
  }
}

/// The result of decoding a complete body with zlib, libbrotli or libzstd directly.
private struct OneShot {
  private(set) var bytes: [UInt8] = []
  private(set) var isComplete = false

  /// The maximum number of bytes to decode: 8 MiB. No test of a limit needs more.
  private static let bytesMax = 8 << 20

  static func decode(_ wire: [UInt8], _ coding: ContentCoding) -> OneShot {
    switch coding {
    case .brotli: brotli(wire)
    case .zstd: zstd(wire)
    case .gzip: inflate(wire, windowBits: 31, mayRepeat: true)
    case .deflate:
      // The first two bytes show whether the body has a zlib header or is raw deflate data.
      wire.count >= 2 && wire[0] & 0x8F == 0x08 && (Int(wire[0]) << 8 | Int(wire[1])) % 31 == 0
        ? inflate(wire, windowBits: 15, mayRepeat: false) : inflate(wire, windowBits: -15, mayRepeat: false)
    }
  }

  private static func inflate(_ wire: [UInt8], windowBits: CInt, mayRepeat: Bool) -> OneShot {
    var result = OneShot()
    var rest = wire[...]
    // Zero bytes after the last gzip member are padding.
    func isOver() -> Bool { mayRepeat ? rest.allSatisfy { $0 == 0 } : rest.isEmpty }
    repeat {
      var stream = z_stream()
      guard lupine_inflateInit2(&stream, windowBits) == Z_OK else { fatalError("inflateInit2 failed") }
      defer { inflateEnd(&stream) }
      var output = [UInt8](repeating: 0, count: 64 << 10)
      var status = Z_OK
      let member = Array(rest)
      member.withUnsafeBufferPointer { source in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(source.count)
        while status == Z_OK, result.bytes.count < bytesMax {
          output.withUnsafeMutableBufferPointer { target in
            stream.next_out = target.baseAddress
            stream.avail_out = UInt32(target.count)
            status = CLupineZlib.inflate(&stream, Z_NO_FLUSH)
          }
          result.bytes += output[..<(output.count - Int(stream.avail_out))]
        }
      }
      guard status == Z_STREAM_END else { return result }
      rest = rest.suffix(Int(stream.avail_in))
    } while mayRepeat && !isOver()
    result.isComplete = isOver()
    return result
  }

  private static func brotli(_ wire: [UInt8]) -> OneShot {
    guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else { fatalError("no decoder") }
    defer { BrotliDecoderDestroyInstance(decoder) }
    var result = OneShot()
    var output = [UInt8](repeating: 0, count: 64 << 10)
    var answer = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT
    wire.withUnsafeBufferPointer { source in
      var (left, next) = (source.count, source.baseAddress)
      while answer == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT, result.bytes.count < bytesMax {
        var room = output.count
        output.withUnsafeMutableBufferPointer { target in
          var place = target.baseAddress
          answer = BrotliDecoderDecompressStream(decoder, &left, &next, &room, &place, nil)
        }
        result.bytes += output[..<(output.count - room)]
      }
      result.isComplete = answer == BROTLI_DECODER_RESULT_SUCCESS && left == 0
    }
    return result
  }

  private static func zstd(_ wire: [UInt8]) -> OneShot {
    guard let decoder = ZSTD_createDCtx() else { fatalError("no decoder") }
    defer { ZSTD_freeDCtx(decoder) }
    ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, 23)
    var result = OneShot()
    var output = [UInt8](repeating: 0, count: 64 << 10)
    wire.withUnsafeBytes { source in
      var input = ZSTD_inBuffer(src: source.baseAddress, size: 0, pos: 0)
      var isFrameStart = true
      var count = 0
      repeat {
        // The first byte of a frame is passed alone, because the library doesn't check the window of a frame that it gets in one
        // piece.
        input.size = isFrameStart ? min(input.pos + 1, wire.count) : wire.count
        var answer = 0
        output.withUnsafeMutableBytes { target in
          var place = ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
          answer = ZSTD_decompressStream(decoder, &place, &input)
          count = place.pos
        }
        guard ZSTD_isError(answer) == 0 else { return }
        result.bytes += output[..<count]
        isFrameStart = answer == 0
      } while (input.pos < wire.count || count == output.count) && result.bytes.count < bytesMax
      result.isComplete = isFrameStart && input.pos == wire.count
    }
    return result
  }
}
