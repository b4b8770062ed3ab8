// ChunkedTests: the bytes that ChunkedEncoder writes, and their decoding by ChunkedDecoder (RFC 9112 §7.1).

import LupineTestSupport
import Testing

@testable import LupineWire

@Suite("Chunked coding")
struct ChunkedTests {
  @Test(
    "the encoder of chunked bodies writes a chunk with its size in hexadecimal",
    arguments: [(1, "1"), (9, "9"), (10, "a"), (15, "f"), (16, "10"), (255, "ff"), (4096, "1000"), (70_000, "11170")])
  func exactBytes(count: Int, size: String) {
    let data = [UInt8](repeating: 0x78, count: count)
    var output = Array("kept".utf8)
    ChunkedEncoder.append(data.span, to: &output)
    #expect(output == Array("kept\(size)\r\n".utf8) + data + Array("\r\n".utf8))
  }

  @Test("the encoder of chunked bodies doesn't write an empty chunk, because it would end the body")
  func emptyChunk() {
    var output: [UInt8] = []
    ChunkedEncoder.append([UInt8]().span, to: &output)
    #expect(output == [])
  }

  @Test("a chunked body ends with the last chunk and an empty trailer section")
  func end() {
    var output: [UInt8] = []
    ChunkedEncoder.appendEnd(to: &output)
    #expect(output == Array("0\r\n\r\n".utf8))
  }

  @Test(
    "encoded chunks that arrive in parts of any size decode to the same content", arguments: [1, 2, 3, 7, 64, 5000])
  func roundTrip(pieceSize: Int) throws {
    var random = SplitMix64(seed: UInt64(pieceSize))
    var (content, wire): ([UInt8], [UInt8]) = ([], [])
    for size in [1, 0, 2, 15, 16, 17, 255, 256, 1000, 0] {
      let data = (0..<size).map { _ in UInt8.random(in: .min ... .max, using: &random) }
      content += data
      ChunkedEncoder.append(data.span, to: &wire)
    }
    ChunkedEncoder.appendEnd(to: &wire)
    let length = wire.count
    wire += Array("behind".utf8)

    var decoder = ChunkedDecoder(limits: Limits())
    var decoded: [UInt8] = []
    var consumed = 0
    var isAtEnd = false
    for start in stride(from: 0, to: wire.count, by: pieceSize) where !isAtEnd {
      let piece = Array(wire[start..<min(start + pieceSize, wire.count)])
      var cursor = 0
      reading: while true {
        switch try decoder.next(piece.span, at: &cursor) {
        case .needMoreBytes: break reading
        case .data(let range): decoded += piece[range]
        case .end(let trailers):
          #expect(trailers.isEmpty)
          isAtEnd = true
          break reading
        }
      }
      consumed += cursor
    }
    #expect(isAtEnd)
    #expect(decoded == content)
    #expect(consumed == length, "the decoder consumed bytes after the body")
  }
}
