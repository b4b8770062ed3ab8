// HistogramCode: HdrHistogram's compressed V2 encoding, which its tools in all languages read.

#if Bench
  internal import Histogram
  internal import LupineCoding
  internal import LupineWire

  /// Encodes and decodes histograms as text: Base64 of a zlib stream of the V2 encoding.
  ///
  ///     compressed = cookie length(4) zlib-stream
  ///     payload    = cookie length(4) normalizing-offset(4) digits(4) lowest(8) highest(8) ratio(8) counts
  ///     counts     = *( ZigZag LEB128 of a count, or of minus the length of a run of at least two empty buckets )
  enum HistogramCode {
    /// V2's cookies, with a word size of one byte.
    private static let cookie: UInt32 = 0x1C84_9313
    private static let compressedCookie: UInt32 = 0x1C84_9314
    private static let headerBytes = 40
    /// The largest decoded payload: 1 MiB. One of `LatencyHistogram` has at most 23,000 counts of 9 bytes.
    private static let payloadBytesMax = 1 << 20

    static func encode(_ histogram: LatencyHistogram) -> String {
      let counts = Self.counts(of: histogram)
      let digits = UInt32(clamping: histogram.counts.numberOfSignificantValueDigits.rawValue)
      let head = [cookie, UInt32(counts.count), 0, digits].flatMap(\.bigEndianBytes)
      let scale = [LatencyHistogram.unitNanoseconds, LatencyHistogram.nanosecondsMax, (1.0).bitPattern]
      let deflated = deflate(head + scale.flatMap(\.bigEndianBytes) + counts)
      return Base64.encode(compressedCookie.bigEndianBytes + UInt32(deflated.count).bigEndianBytes + deflated)
    }

    /// Decodes a histogram with the layout of `LatencyHistogram`. Returns nil if the text has another layout or is damaged.
    static func decode(_ text: String) -> LatencyHistogram? {
      guard let bytes = Base64.decode(text), number(bytes, at: 0, UInt32.self) == compressedCookie,
        let payload = inflate(Array(bytes.dropFirst(8))), payload.count >= headerBytes,
        number(payload, at: 0, UInt32.self) == cookie, number(payload, at: 12, UInt32.self) == 3,
        number(payload, at: 16, UInt64.self) == LatencyHistogram.unitNanoseconds,
        number(payload, at: 24, UInt64.self) == LatencyHistogram.nanosecondsMax
      else { return nil }
      var histogram = LatencyHistogram()
      var values = histogram.counts.allValues()
      var rest = payload[headerBytes...]
      while !rest.isEmpty {
        guard let count = zigZag(&rest) else { return nil }
        if count > 0 {
          guard let value = values.next()?.value else { return nil }
          histogram.record(nanoseconds: value, count: UInt64(count))
        } else {
          // A count of 0 is one empty bucket.
          for _ in 0..<max(1, count.magnitude) { guard values.next() != nil else { return nil } }
        }
      }
      return histogram
    }

    // MARK: Counts

    private static func counts(of histogram: LatencyHistogram) -> [UInt8] {
      var (output, emptyCount, rest) = ([UInt8](), 0, histogram.count)
      for bucket in histogram.counts.allValues() {
        // The buckets after the last value aren't written.
        guard rest > 0 else { break }
        guard bucket.count > 0 else {
          emptyCount += 1
          continue
        }
        if emptyCount > 0 { append(zigZag: emptyCount == 1 ? 0 : -Int64(emptyCount), to: &output) }
        emptyCount = 0
        append(zigZag: Int64(bucket.count), to: &output)
        rest -= bucket.count
      }
      return output
    }

    // Seven bits in each byte, the lowest first; the ninth byte has eight bits.
    private static func append(zigZag number: Int64, to output: inout [UInt8]) {
      var rest = UInt64(bitPattern: (number << 1) ^ (number >> 63))
      for _ in 0..<8 {
        guard rest >= 0x80 else { return output.append(UInt8(rest)) }
        output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      output.append(UInt8(truncatingIfNeeded: rest))
    }

    private static func zigZag(_ bytes: inout ArraySlice<UInt8>) -> Int64? {
      var (value, shift) = (UInt64(0), UInt64(0))
      while let byte = bytes.popFirst() {
        let isLast = shift == 56 || byte & 0x80 == 0
        value |= UInt64(shift == 56 ? byte : byte & 0x7F) << shift
        if isLast { return Int64(bitPattern: value >> 1) ^ -Int64(value & 1) }
        shift += 7
      }
      return nil
    }

    // MARK: Bytes

    private static func number<Number: FixedWidthInteger>(_ bytes: [UInt8], at offset: Int, _: Number.Type) -> Number? {
      let size = MemoryLayout<Number>.size
      guard bytes.count >= offset + size else { return nil }
      return bytes[offset..<offset + size].reduce(0) { $0 << 8 | Number($1) }
    }

    private static func deflate(_ bytes: [UInt8]) -> [UInt8] {
      do {
        return try ContentEncoder.encode(bytes, as: .deflate)
      } catch {
        preconditionFailure("\(error)")  // zlib fails only without memory
      }
    }

    private static func inflate(_ bytes: [UInt8]) -> [UInt8]? {
      try? ContentDecoder.decode(bytes, [.deflate], limits: CodingLimits(decodedBytesMax: UInt64(payloadBytesMax)))
    }
  }
#endif
