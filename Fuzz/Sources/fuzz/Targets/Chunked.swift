// The chunked transfer coding: chunks are encoded and decoded, and a reference decoder must agree on arbitrary bytes.

@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the chunked transfer coding. The input is a byte of choices, followed by bytes to decode or by chunks to encode.
  static let chunked = FuzzTarget(
    name: "chunked", summary: "chunks in any split decode to the encoded bytes; a reference decoder agrees on any bytes"
  ) { bytes in
    var input = Input(bytes)
    let choices = input.byte()
    if choices & 1 == 0 {
      agree(Array(input.rest), bytes)
    } else {
      encode(&input, bytes)
    }
  }

  private static func encode(_ input: inout Input, _ bytes: [UInt8]) {
    let isPlain = input.flag()
    let hasTrailer = !isPlain && input.flag()
    var (wire, body): ([UInt8], [UInt8]) = ([], [])
    while !input.isAtEnd {
      let data = input.bytes()
      body += data
      if isPlain {
        ChunkedEncoder.append(data.span, to: &wire)
      } else if !data.isEmpty {
        // Variants that other senders use: leading zeros, uppercase digits, padding and extensions.
        let size = String(data.count, radix: 16, uppercase: input.flag())
        wire += Array(String(repeating: "0", count: input.number(0...(16 - size.utf8.count))).utf8) + size.utf8
        wire += input.pick(["", " ", "\t ", ";a", ";a=b", " ; q=\"x;\t\"", ";é"]).utf8
        wire += "\r\n".utf8
        wire += data + "\r\n".utf8
      }
    }
    if hasTrailer { wire += "000\r\nSum: 1\r\n\r\n".utf8 } else { ChunkedEncoder.appendEnd(to: &wire) }
    let behind = Array("HTTP/1.1".utf8)
    var cutter = Cutter(bytes)
    for pieces in cutter.waysToCut(wire + behind) {
      let outcome = Decoding(pieces, limits: Limits())
      hold(outcome.body == body && outcome.error == nil, "decoded to \(shown(outcome.body)): \(shown(wire))")
      hold(outcome.trailers?.count == (hasTrailer ? 1 : 0), "trailers: \(String(describing: outcome.trailers))")
      hold(outcome.consumed == wire.count, "\(outcome.consumed) bytes were taken of \(wire.count)")
    }
  }

  private static func agree(_ wire: [UInt8], _ bytes: [UInt8]) {
    var limits = Limits()
    (limits.chunkLineBytesMax, limits.chunkExtensionBytesMax, limits.trailerBytesMax) = (24, 30, 60)
    let expected = ReferenceChunks(wire, limits)
    var cutter = Cutter(bytes)
    for pieces in cutter.waysToCut(wire) {
      let outcome = Decoding(pieces, limits: limits)
      hold(outcome.body == expected.body, "\(shown(outcome.body)), not \(shown(expected.body)): \(shown(wire))")
      hold((outcome.trailers != nil) == expected.isComplete, "\(outcome), not \(expected): \(shown(wire))")
      hold((outcome.error != nil) == expected.isRefused, "\(outcome), not \(expected): \(shown(wire))")
    }
  }

  /// The result of `ChunkedDecoder` for the given pieces of a body.
  private struct Decoding {
    var body: [UInt8] = []
    var trailers: Fields?
    var consumed = 0
    var error: WireError?

    init(_ pieces: [[UInt8]], limits: Limits) {
      var decoder = ChunkedDecoder(limits: limits)
      for piece in pieces where error == nil && trailers == nil {
        GuardedBytes.with(piece) { span in
          var cursor = 0
          do throws(WireError) {
            reading: while true {
              switch try decoder.next(span, at: &cursor) {
              case .needMoreBytes:
                hold(cursor == piece.count, "more bytes are needed, but some are left")
                break reading
              case .data(let range): body += piece[range]
              case .end(let fields):
                trailers = fields
                break reading
              }
            }
          } catch {
            self.error = error
          }
          consumed += cursor
        }
      }
    }
  }
}

/// A second decoder of chunked bodies (RFC 9112 §7.1), for comparison. It reads all bytes at once, from left to right.
private struct ReferenceChunks {
  private(set) var body: [UInt8] = []
  private(set) var isComplete = false
  private(set) var isRefused = false

  init(_ wire: [UInt8], _ limits: Limits) {
    var rest = wire[...]
    var extensionBytes = 0
    while true {
      // A line can be invalid before its end has been received.
      let line = rest.prefix { $0 != 0x0D }
      let size = line.prefix { Byte.hexValue($0) != nil }
      let padding = line.dropFirst(size.count)
      let afterBlanks = padding.drop { $0 == 0x20 || $0 == 0x09 }
      let isWrong =
        size.count > 16 || line.count > limits.chunkLineBytesMax
        || extensionBytes + padding.count > limits.chunkExtensionBytesMax
        || (size.isEmpty && (!line.isEmpty || !rest.isEmpty)) || !(afterBlanks.first.map { $0 == 0x3B } ?? true)
        || !padding.allSatisfy(Byte.isFieldContent)
      if isWrong {
        isRefused = true
        return
      }
      rest = rest.dropFirst(line.count)
      extensionBytes += padding.count
      guard skip("\r\n", &rest) else { return }
      let count = size.reduce(UInt64(0)) { $0 << 4 | UInt64(Byte.hexValue($1) ?? 0) }
      if count == 0 {
        readTrailers(Array(rest), limits)
        return
      }
      let data = rest.prefix(Int(clamping: count))
      body += data
      rest = rest.dropFirst(data.count)
      guard data.count == Int(clamping: count), skip("\r\n", &rest) else { return }
    }
  }

  /// Skips the expected text at the start of `rest`. Returns false if the text is missing or incomplete.
  private mutating func skip(_ expected: String, _ rest: inout ArraySlice<UInt8>) -> Bool {
    for byte in expected.utf8 {
      guard let next = rest.popFirst() else { return false }
      guard next == byte else {
        isRefused = true
        return false
      }
    }
    return true
  }

  // Parses the trailers with the parser under test, because the target `response` checks that.
  private mutating func readTrailers(_ rest: [UInt8], _ limits: Limits) {
    var parser = SectionParser(.trailers, limits: limits)
    var cursor = 0
    guard !rest.isEmpty else { return }
    switch try? parser.next(rest.span, at: &cursor) {
    case .section: isComplete = true
    case .needMoreBytes: break
    case nil: isRefused = true
    }
  }
}
