// ContentDecoderTests: decoding in pieces of any size into output of any size, and errors for damaged bodies.
import Glibc
import LupineCoding
import LupineTestSupport
import Testing

@Suite("Decoding of content codings")
struct ContentDecoderTests {
  @Test("the content decoder decodes a body that arrives in one piece", arguments: Vector.all)
  func whole(_ vector: Vector) throws {
    #expect(try decode(vector.coded, vector.codings) == Array(vector.decoded.utf8))
  }

  @Test("the content decoder decodes a body that arrives byte by byte", arguments: Vector.all, [1, 7, 4096])
  func byteByByte(_ vector: Vector, outputBytes: Int) throws {
    let coded = vector.coded
    let decoded = try decode(coded, vector.codings, cuts: Array(0..<coded.count), outputBytes: outputBytes)
    #expect(decoded == Array(vector.decoded.utf8))
  }

  @Test(
    "the content decoder decodes a body that arrives in two pieces, split at any position", arguments: Vector.all,
    [1, 7, 4096])
  func everySplit(_ vector: Vector, outputBytes: Int) throws {
    let coded = vector.coded
    for cut in 0...coded.count {
      let decoded = try decode(coded, vector.codings, cuts: [cut], outputBytes: outputBytes)
      #expect(decoded == Array(vector.decoded.utf8), "cut at \(cut)")
    }
  }

  @Test("the content decoder decodes a body whatever the size of the output buffer", arguments: Vector.all)
  func everyOutputSize(_ vector: Vector) throws {
    for outputBytes in 1...(vector.decoded.utf8.count + 2) {
      let decoded = try decode(vector.coded, vector.codings, outputBytes: outputBytes)
      #expect(decoded == Array(vector.decoded.utf8), "output of \(outputBytes)")
    }
  }

  @Test(
    "decoding a body that was encoded with any supported content coding returns the original",
    arguments: ContentCoding.allCases)
  func roundTrip(_ coding: ContentCoding) throws {
    // Incompressible data overflows the buffers of each stage several times.
    for body in [Self.noise(bytes: 200_000), Array(repeating: 0x20, count: 200_000), [], [0]] {
      let once = try ContentEncoder.encode(body, as: coding)
      #expect(try decode(once, [coding]) == body)
      #expect(try decode(once, [coding], outputBytes: 1 << 20) == body)
      let thrice = try ContentEncoder.encode(ContentEncoder.encode(once, as: .gzip), as: .brotli)
      let decoded = try decode(
        thrice, [coding, .gzip, .brotli], limits: CodingLimits(brotliLayersMax: 2),
        cuts: Array(stride(from: 0, to: thrice.count, by: 1000)), outputBytes: 777)
      #expect(decoded == body)
    }
  }

  @Test(
    "a received body of 0 bytes decodes to an empty body, whatever its content codings",
    arguments: ContentCoding.allCases.map { [$0] } + [[], [.gzip, .brotli]])
  func emptyBody(_ codings: [ContentCoding]) throws {
    #expect(try decode([], codings).isEmpty)
  }

  @Test(
    "the content decoder reports an encoded body that ends after any of its bytes as truncated",
    arguments: Vector.all.filter { !$0.codings.isEmpty })
  func truncated(_ vector: Vector) throws {
    let coded = vector.coded
    for count in 1..<coded.count {
      let prefix = Array(coded[..<count])
      if vector.completeAt.contains(count) {
        #expect(try !decode(prefix, vector.codings).isEmpty)
      } else {
        let error = failure { () throws(CodingError) in try decode(prefix, vector.codings) }
        #expect(error?.cause == .truncated, "cut to \(count)")
        #expect(error?.coding == vector.codings.last)
        #expect(error?.codedOffset == UInt64(count))
      }
    }
  }

  @Test(
    "a flipped bit in the checksum of an encoded body causes a decoding error",
    arguments: Vector.all.filter { $0.checksumBytes > 0 })
  func flippedChecksum(_ vector: Vector) throws {
    let coded = vector.coded
    for index in coded.indices.suffix(vector.checksumBytes) {
      for bit in 0..<8 {
        var damaged = coded
        damaged[index] ^= 1 << bit
        let error = failure { () throws(CodingError) in try decode(damaged, vector.codings) }
        guard case .checksum = error?.cause else {
          Issue.record("bit \(bit) of byte \(index): \(String(describing: error))")
          continue
        }
      }
    }
  }

  @Test("a flipped bit in a gzip header's CRC causes a decoding error")
  func flippedHeaderChecksum() throws {
    let vector = try #require(Vector.all.first { $0.name.contains("header CRC") })
    for index in 30...31 {
      var damaged = vector.coded
      damaged[index] ^= 1
      let error = failure { () throws(CodingError) in try decode(damaged, vector.codings) }
      #expect(error?.cause == .checksum("header crc mismatch"))
    }
  }

  @Test(
    "bytes after the end of an encoded body cause a decoding error",
    arguments: Vector.all.filter { !$0.codings.isEmpty })
  func trailingBytes(_ vector: Vector) throws {
    let coded = vector.coded
    let isGzip = vector.codings.last == .gzip
    // After gzip, zero bytes are padding, but no other bytes may follow them.
    let afterZero: [[UInt8]] = isGzip ? [[0, 0x0a], [0, 0, 0x1f, 0x8b]] : [[0]]
    for tail: [UInt8] in afterZero + [[0x0a], [0x1f, 0x00], Array("garbage".utf8)] {
      // One byte of another member's magic number could begin a member, but the next byte rules that out.
      for cuts in [[], [coded.count], Array(0..<(coded.count + tail.count))] {
        let error = failure { () throws(CodingError) in try decode(coded + tail, vector.codings, cuts: cuts) }
        #expect(error?.cause == .trailingBytes, "\(tail)")
        #expect(error?.coding == vector.codings.last)
      }
    }
  }

  @Test(
    "the content decoder ignores zero bytes after the last gzip member",
    arguments: Vector.all.filter { $0.codings.last == .gzip })
  func padding(_ vector: Vector) throws {
    let coded = vector.coded
    for tail in [1, 2, 512].map({ [UInt8](repeating: 0, count: $0) }) {
      for cuts in [[], [coded.count], Array(0..<(coded.count + tail.count))] {
        #expect(try decode(coded + tail, vector.codings, cuts: cuts) == Array(vector.decoded.utf8), "\(tail.count)")
      }
    }
  }

  @Test("bytes after the end of an inner coding layer cause an error that states the layer's coding")
  func trailingBytesInside() throws {
    let inner = try ContentEncoder.encode(Array("hello".utf8), as: .deflate)
    let coded = try ContentEncoder.encode(inner + [0], as: .gzip)
    let error = failure { () throws(CodingError) in try decode(coded, [.deflate, .gzip]) }
    #expect(error?.cause == .trailingBytes)
    #expect(error?.coding == .deflate)
    #expect(error?.codedOffset == UInt64(inner.count))
  }

  @Test("a truncated inner coding layer causes an error that states the layer's coding")
  func truncatedInside() throws {
    let inner = try ContentEncoder.encode(Array("hello".utf8), as: .brotli)
    let coded = try ContentEncoder.encode(inner.dropLast(), as: .gzip)
    let error = failure { () throws(CodingError) in try decode(coded, [.brotli, .gzip]) }
    #expect(error?.cause == .truncated)
    #expect(error?.coding == .brotli)
  }

  @Test("a truncated gzip member after a complete gzip member causes an error")
  func truncatedSecondMember() throws {
    let member = try ContentEncoder.encode([1, 2, 3], as: .gzip)
    let error = failure { () throws(CodingError) in try decode(member + [0x1f], [.gzip]) }
    #expect(error?.cause == .truncated)
  }

  @Test(
    "the content decoder reports bytes that don't form a valid compressed stream as corrupt",
    arguments: [
      (ContentCoding.gzip, "00000000"), (.gzip, "1f8c0800"), (.gzip, "1f8b0900000000000003"),
      // Block type 3, without and with a zlib header; a distance before the start; a preset dictionary.
      (.deflate, "07"), (.deflate, "789c07"), (.deflate, "789c4b0411"), (.deflate, "78bb062c0215cb001100062c0215"),
      (.brotli, "ffffffff"), (.brotli, "11"),
    ])
  func corrupt(_ coding: ContentCoding, hex: String) throws {
    let coded = bytes(hex: hex) + Array(repeating: 0xff, count: 64)
    for cuts in [[], Array(0..<coded.count)] {
      let error = failure { () throws(CodingError) in try decode(coded, [coding], cuts: cuts) }
      guard case .corrupt = error?.cause else {
        Issue.record("unexpected error: \(String(describing: error))")
        continue
      }
      #expect(error?.coding == coding)
    }
  }

  @Test("after a decoding error, each further call of the content decoder throws the same error")
  func errorStays() throws {
    var decoder = try ContentDecoder([.gzip])
    var scratch = [UInt8](repeating: 0, count: 16)
    let garbage: [UInt8] = [1, 2, 3, 4]
    let good = try ContentEncoder.encode([5], as: .gzip)
    var errors: [CodingError] = []
    for input in [garbage, good, []] {
      do throws(CodingError) {
        _ = try decoder.decode(input.span.bytes, scratch: &scratch) { _ in }
      } catch {
        errors.append(error)
      }
    }
    do throws(CodingError) { try decoder.finish() } catch { errors.append(error) }
    #expect(errors.count == 4)
    #expect(errors.allSatisfy { $0 == errors.first })
  }

  @Test("the content decoder's isDone is true only after a byte at which the body may end")
  func done() throws {
    let member = try ContentEncoder.encode([1, 2, 3], as: .gzip)
    var decoder = try ContentDecoder([.gzip])
    var scratch = [UInt8](repeating: 0, count: 16)
    var done: [Bool] = []
    for byte in member + member {
      let one = [byte]
      done.append(try decoder.decode(one.span.bytes, scratch: &scratch) { _ in }.isDone)
    }
    #expect(done.indices.filter { done[$0] } == [member.count - 1, 2 * member.count - 1])
  }

  @Test(
    "each call of the content decoder returns at most the requested number of decoded bytes",
    arguments: ContentCoding.allCases.map { [$0] } + [[], [.gzip, .brotli]])
  func upTo(_ codings: [ContentCoding]) throws {
    var coded: [UInt8] = [7, 8, 9]
    for coding in codings { coded = try ContentEncoder.encode(coded, as: coding) }
    var decoder = try ContentDecoder(codings)
    var scratch = [UInt8](repeating: 0, count: 16)
    var pieces: [[UInt8]] = []
    var used = 0
    for _ in 0..<4 {
      let progress = try decoder.decode(coded.span.bytes.extracting(used...), upTo: 2, scratch: &scratch) { piece in
        pieces.append([])
        pieces[pieces.count - 1] += piece
      }
      used += progress.consumed
    }
    #expect(pieces.allSatisfy { $0.count <= 2 } && pieces.flatMap(\.self) == [7, 8, 9])
    #expect(used == coded.count)
  }

  @Test(
    "the content decoder decodes a body longer than brotli's window completely",
    arguments: [[.brotli], [.brotli, .gzip]] as [[ContentCoding]])
  func beyondTheWindow(_ codings: [ContentCoding]) throws {
    // The body is five times the encoder's window of 4 MiB, in runs of different bytes.
    let body = (0..<20 << 10).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0 &* $0 >> 5), count: 1024) }
    var coded = body
    for coding in codings { coded = try ContentEncoder.encode(coded, as: coding) }
    #expect(try ContentDecoder.decode(coded, codings) == body)
  }

  @Test("if a call of the content decoder fails, the bytes that the call decoded before the failure aren't delivered")
  func nothingWithAnError() throws {
    let coded = try ContentEncoder.encode([7, 8, 9], as: .gzip)
    var decoder = try ContentDecoder([.gzip])
    var scratch = [UInt8](repeating: 0, count: 16)
    var damaged = coded
    damaged[coded.count - 5] ^= 1
    var count = 0
    #expect(throws: CodingError.self) {
      _ = try decoder.decode(damaged.span.bytes, scratch: &scratch) { count += $0.count }
    }
    #expect(count == 0)
  }

  // This runs in a separate process, because other tests allocate memory at the same time.
  @Test("a content decoder that is discarded in the middle of a stream frees its memory", .timeLimit(.minutes(10)))
  func dropped() async {
    await #expect(processExitsWith: .success) {
      let coded = try ContentEncoder.encode(ContentEncoder.encode(Self.noise(bytes: 60_000), as: .gzip), as: .brotli)
      let before = try Self.residentBytes()
      // The output is larger than zlib's window, so that each decoder uses all its memory.
      var scratch = [UInt8](repeating: 0, count: 40_000)
      for _ in 0..<8000 {
        // 8000 leaked decoders would take 320 MB in zlib, 128 MB in buffers between the layers, and more in brotli.
        var decoder = try ContentDecoder([.gzip, .brotli])
        _ = try decoder.decode(coded.span.bytes, scratch: &scratch) { _ in }
      }
      let growth = try Self.residentBytes() - before
      #expect(growth < 100 << 20, "\(growth) bytes")
    }
  }

  /// Returns incompressible pseudorandom bytes, which are the same in each call.
  static func noise(bytes count: Int) -> [UInt8] {
    var random = SplitMix64(seed: 1)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() >> 56) }
  }

  /// Returns the memory of this process that is resident, in bytes: the second number of /proc/self/statm (proc(5)).
  static func residentBytes() throws -> Int {
    let file = try #require(fopen("/proc/self/statm", "r"))
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 200)
    _ = try #require(fgets(&line, Int32(line.count), file))
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return try #require(Int(text.split(separator: " ")[1])) * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
