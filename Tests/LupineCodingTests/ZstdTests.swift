// ZstdTests: frames that HTTP doesn't permit, decompression bombs, and the encoder's window.

import LupineCoding
import Testing

@Suite("Zstandard")
struct ZstdTests {
  #if Zstd
    /// Returns the error from decoding a body. Decodes it whole, byte by byte, and in two pieces split anywhere, and checks that
    /// the error is the same each time.
    private func error(_ coded: [UInt8]) throws -> CodingError.Cause? {
      let whole = failure { () throws(CodingError) in try decode(coded, [.zstd]) }
      for cuts in [Array(0..<coded.count)] + coded.indices.map({ [$0] }) {
        for outputBytes in [1, 4096] {
          let error = failure { () throws(CodingError) in
            try decode(coded, [.zstd], cuts: cuts, outputBytes: outputBytes)
          }
          #expect(error?.cause == whole?.cause, "cut at \(cuts)")
        }
      }
      return whole?.cause
    }

    @Test(
      "the content decoder refuses a zstd frame with a window over 8 MiB, whether the frame arrives whole or in parts",
      arguments: [
        // Windows of 9 MiB and of 128 MiB, with 256 bytes of content. Then a single segment with a content length of 16 MiB.
        "28b52ffd4069000003080061", "28b52ffd4088000003080061", "28b52ffda00000000103000061",
        // A small frame, followed by a frame with a window of 9 MiB.
        "28b52ffd000029000068656c6c6f28b52ffd4069000003080061",
      ])
    func windows(hex: String) throws {
      let refused = CodingError.Cause.corrupt(
        "a frame requires a window of more than 8 MiB, which HTTP doesn't permit")
      #expect(try error(bytes(hex: hex)) == refused)
    }

    @Test(
      "the content decoder refuses a frame in a format older than zstd 0.8, because the frame's window isn't limited")
    func oldFormat() throws {
      // libzstd decodes this frame of zstd 0.7 to "hello" if it arrives in one piece.
      guard case .corrupt = try error(bytes(hex: "27b52ffd000040000568656c6c6fc00000")) else {
        Issue.record("the frame isn't refused as corrupt")
        return
      }
    }

    @Test(
      "the content decoder refuses a zstd frame that requires a dictionary",
      arguments: ["0105", "020500", "0305000000"])
    func dictionaries(descriptorAndID: String) throws {
      // The frame's Frame_Header_Descriptor, Window_Descriptor and Dictionary_ID (RFC 8878 §3.1.1.1).
      let header = "28b52ffd\(descriptorAndID.prefix(2))00\(descriptorAndID.dropFirst(2))"
      let refused = CodingError.Cause.corrupt("it requires a dictionary, which HTTP doesn't support")
      #expect(try error(bytes(hex: header + "29000068656c6c6f")) == refused)
    }

    @Test(
      "the content decoder reports bytes that aren't a valid zstd frame as corrupt",
      arguments: [
        // No magic number; a reserved bit; the reserved block type; a block longer than the window.
        "ffffffff", "11000000", "28b52ffd080029000068656c6c6f", "28b52ffd0000070000", "28b52ffd0000014000",
      ])
    func corrupt(hex: String) throws {
      let coded = bytes(hex: hex) + Array(repeating: 0xff, count: 64)
      guard case .corrupt(let text) = try error(coded) else {
        Issue.record("the frame isn't refused as corrupt")
        return
      }
      #expect(!text.isEmpty)
    }

    @Test("a truncated zstd frame after a complete zstd frame is an error")
    func truncatedSecondFrame() throws {
      let frame = try ContentEncoder.encode([1, 2, 3], as: .zstd)
      for count in 1..<frame.count {
        #expect(try error(frame + frame.prefix(count)) == .truncated)
      }
      #expect(try decode(frame + frame, [.zstd]) == [1, 2, 3, 1, 2, 3])
    }

    @Test(
      "the content decoder refuses a zstd bomb of 1 GiB at the default expansion ratio, and at the limit of decoded bytes"
    )
    func bomb() throws {
      // 8192 blocks of 128 KiB that repeat one byte: 4 bytes each (RFC 8878 §3.1.1.2).
      let block: [UInt8] = [0x02, 0x00, 0x10, 0x00]
      let bomb = bytes(hex: "28b52ffd0038") + Array(repeatElement(block, count: 8191).joined()) + [0x03, 0x00, 0x10, 0]
      #expect(try decodeUntilRefused(bomb, [.zstd], CodingLimits(expansionRatioMax: nil)).decodedBytes == 1 << 30)
      let byRatio = try decodeUntilRefused(bomb, [.zstd], CodingLimits())
      #expect(byRatio.error?.cause == .expansionRatioMax(1100))
      #expect(byRatio.decodedBytes <= 1 << 20)
      let limits = CodingLimits(decodedBytesMax: 5_000_000, expansionRatioMax: nil)
      let byBytes = try decodeUntilRefused(bomb, [.zstd], limits)
      #expect(byBytes.error?.cause == .decodedBytesMax(5_000_000))
      #expect(byBytes.decodedBytes <= 5_000_000)
      let inner = try decodeUntilRefused(ContentEncoder.encode(bomb, as: .gzip), [.zstd, .gzip], CodingLimits())
      #expect(inner.error?.cause == .expansionRatioMax(1100))
      #expect(inner.error?.coding == .zstd)
    }

    @Test("by default, the content decoder refuses a second zstd layer, so that a body needs only one window of 8 MiB")
    func layers() throws {
      var coded = Array("hello".utf8)
      for _ in 0..<3 { coded = try ContentEncoder.encode(coded, as: .zstd) }
      for codings: [ContentCoding] in [[.zstd, .gzip, .zstd], [.zstd, .zstd, .zstd]] {
        let error = failure { () throws(CodingError) in try decode(coded, codings) }
        #expect(error?.cause == .tooManyZstdLayers(max: 1))
      }
      let raised = CodingLimits(zstdLayersMax: 3)
      #expect(try decode(coded, [.zstd, .zstd, .zstd], limits: raised) == Array("hello".utf8))
    }

    @Test(
      "the zstd encoder's window is at most 8 MiB at each compression level",
      arguments: [1, ContentEncoder.levelDefault, .max])
    func ownWindow(level: Int) throws {
      // The body is longer than the largest window, in runs of different bytes.
      let body = (0..<20 << 10).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0 &* $0 >> 5), count: 1024) }
      let coded = try ContentEncoder.encode(body, as: .zstd, level: level)
      #expect(try ContentDecoder.decode(coded, [.zstd]) == body)
    }

    // This runs in a separate process, because other tests allocate memory at the same time.
    @Test("zstd decoders that are discarded in the middle of a stream free their memory", .timeLimit(.minutes(10)))
    func dropped() async {
      await #expect(processExitsWith: .success) {
        let coded = try ContentEncoder.encode(ContentDecoderTests.noise(bytes: 60_000), as: .zstd)
        let before = try ContentDecoderTests.residentBytes()
        var scratch = [UInt8](repeating: 0, count: 40_000)
        for _ in 0..<2000 {
          // 2000 leaked decoders would take more than 300 MB.
          var decoder = try ContentDecoder([.zstd])
          _ = try decoder.decode(coded.span.bytes.extracting(..<50_000), scratch: &scratch) { _ in }
        }
        let growth = try ContentDecoderTests.residentBytes() - before
        #expect(growth < 100 << 20, "\(growth) bytes")
      }
    }
  #endif
}
