// ContentDecoder: decodes the content codings of a body incrementally (RFC 9110 §8.4), in bounded memory.

/// Removes the content codings from a body of any length, which the caller passes in chunks of any size.
///
/// The decoder's memory is bounded: about 60 KiB for each gzip or deflate coding, up to 16 MiB for Brotli, and up to 8 MiB for
/// Zstandard. With the last two, it depends on the window that the coded data requests. The memory is freed with the decoder. After
/// an error, every later call throws the same error.
public struct ContentDecoder: ~Copyable {
  /// The numbers of bytes that a call of `decode` consumed and produced.
  public typealias Progress = CodingProgress

  /// The decoders of the body's codings in the order in which they run: the first reads the received bytes, and the last fills the
  /// caller's output.
  private let layers: [DecodingLayer]
  private let limits: CodingLimits
  private var wireBytes: UInt64 = 0
  private var failure: CodingError?
  private var last: DecodingLayer { layers[layers.count - 1] }

  /// Creates a decoder for a body with the content codings `codings`, which are in the order in which they were applied. If there
  /// are none, the decoder passes the bytes through.
  ///
  /// - Throws: `CodingError` with the cause `.tooManyLayers`, `.tooManyBrotliLayers`, `.tooManyZstdLayers` or `.outOfMemory`.
  public init(_ codings: [ContentCoding], limits: CodingLimits = .init()) throws(CodingError) {
    guard codings.count <= limits.layersMax else { throw CodingError(.tooManyLayers(max: limits.layersMax)) }
    guard codings.count(where: { $0 == .brotli }) <= limits.brotliLayersMax else {
      throw CodingError(.tooManyBrotliLayers(max: limits.brotliLayersMax))
    }
    #if Zstd
      guard codings.count(where: { $0 == .zstd }) <= limits.zstdLayersMax else {
        throw CodingError(.tooManyZstdLayers(max: limits.zstdLayersMax))
      }
    #endif
    var layers: [DecodingLayer] = []
    for (index, coding) in codings.enumerated().reversed() {
      layers.append(try DecodingLayer(coding, feedsAnother: index > 0))
    }
    self.layers = layers.isEmpty ? [DecodingLayer()] : layers
    self.limits = limits
  }

  /// Decodes `input` from its beginning until bytes have been produced, and passes these bytes to `receive` in one call.
  ///
  /// If no bytes are produced, `receive` isn't called. All of `input` has then been consumed, and the decoder needs more input or
  /// is done.
  ///
  /// - Parameters:
  ///   - input: The coded bytes. After a call whose result has `isDone` set, more input is an error, unless it starts another
  ///     gzip member or Zstandard frame, or pads a gzip body with zero bytes.
  ///   - byteCountMax: The maximum number of bytes to produce, at least 1.
  ///   - scratch: Memory for the output, at least 1 byte. A call produces at most as many bytes as this array has.
  ///   - receive: A closure that receives the decoded bytes. They are in `scratch` or in a compression library's memory, and are
  ///     valid only during the call.
  /// - Throws: `CodingError` with the cause `.corrupt`, `.checksum`, `.trailingBytes`, `.outOfMemory` or an exceeded
  ///   limit. Bytes produced by the failed call aren't passed to `receive`.
  public mutating func decode(
    _ input: RawSpan, upTo byteCountMax: Int = .max, scratch: inout [UInt8], receive: (borrowing Span<UInt8>) -> Void
  ) throws(CodingError) -> Progress {
    precondition(
      byteCountMax > 0 && !scratch.isEmpty, "decode(_:upTo:scratch:receive:) needs room for the decoded bytes")
    if let failure { throw failure }
    var span = scratch.mutableSpan
    // SAFETY: the pointers are only used inside the closures, and the array's bytes are initialized.
    return try span.withUnsafeMutableBytes { (buffer) throws(CodingError) -> Progress in
      try input.withUnsafeBytes { (source) throws(CodingError) -> Progress in
        let output = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(byteCountMax))
        let consumed = try self.pump(source, into: output)
        // SAFETY: the output of a layer is valid until the layer's next call.
        let produced = self.last.unread.bindMemory(to: UInt8.self)
        if !produced.isEmpty { receive(produced.span) }
        self.last.markRead(produced.count)
        return Progress(
          consumed: consumed, produced: produced.count,
          isDone: self.layers.allSatisfy { $0.isAtEnd && $0.unread.isEmpty })
      }
    }
  }

  /// Checks that the body is complete. Call this method at the end of the body, after a call of `decode` that produced no bytes.
  ///
  /// If no bytes were received, the decoded body is empty, whatever the codings.
  ///
  /// - Throws: `CodingError` with the cause `.truncated` if the coded data is incomplete.
  public mutating func finish() throws(CodingError) {
    if let failure { throw failure }
    if wireBytes == 0 { return }
    for layer in layers {
      precondition(
        layer.isDrained, "finish() was called before decode(_:upTo:scratch:receive:) had delivered all bytes")
      guard layer.isAtEnd else { throw fail(layer.error(.truncated)) }
    }
  }

  /// Decodes a complete body, and returns the decoded bytes. `codings` are the body's content codings, in the order in which they
  /// were applied. Throws the errors of the instance method `decode` and of `finish`.
  public static func decode(
    _ bytes: [UInt8], _ codings: [ContentCoding], limits: CodingLimits = .init()
  ) throws(CodingError) -> [UInt8] {
    var decoder = try ContentDecoder(codings, limits: limits)
    var result: [UInt8] = []
    var scratch = [UInt8](repeating: 0, count: CodingLimits.scratchBytes)
    var used = 0
    var progress: Progress
    repeat {
      progress = try decoder.decode(bytes.span.bytes.extracting(used...), scratch: &scratch) { piece in
        // SAFETY: the pointer is only used inside the closure.
        piece.withUnsafeBufferPointer { result += $0 }
      }
      used += progress.consumed
    } while progress.produced > 0
    try decoder.finish()
    return result
  }

  /// Runs the decoders of all codings until the last one has produced bytes, or no decoder can make progress. Returns the number of
  /// consumed input bytes.
  private mutating func pump(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(CodingError) -> Int {
    var consumed = 0
    var hasMoved = true
    while hasMoved {
      hasMoved = false
      // The layers run from last to first, so that the output of a layer is read before that layer runs again.
      for index in layers.indices.reversed() where layers[index].unread.isEmpty {
        let layer = layers[index]
        let source = index == 0 ? UnsafeRawBufferPointer(rebasing: input[consumed...]) : layers[index - 1].unread
        guard !source.isEmpty || layer.mayHoldOutput else { continue }

        let taken: Int
        do throws(CodingError) { taken = try layer.decode(source, into: output) } catch { throw fail(error) }
        if index == 0 {
          consumed += taken
          wireBytes += UInt64(taken)
        } else {
          layers[index - 1].markRead(taken)
        }
        if let cause = excess(of: layer) { throw fail(layer.error(cause)) }
        if layer.isLast, !layer.unread.isEmpty { return consumed }
        hasMoved = hasMoved || taken > 0 || !layer.unread.isEmpty
      }
    }
    return consumed
  }

  /// Returns the limit that the decoder `layer` has exceeded, as the cause of an error, or nil. The limits apply to the decoder of
  /// each coding, because a decompression bomb may expand in the first decoder and shrink again in the second.
  private func excess(of layer: DecodingLayer) -> CodingError.Cause? {
    if let max = layer.isLast ? limits.decodedBytesMax : limits.intermediateBytesMax, layer.decodedBytes > max {
      return .decodedBytesMax(limits.decodedBytesMax ?? max)
    }
    if let ratio = limits.expansionRatioMax, layer.decodedBytes > limits.expandedBytesMax(wireBytes: wireBytes) {
      return .expansionRatioMax(ratio)
    }
    return nil
  }

  private mutating func fail(_ error: CodingError) -> CodingError {
    failure = error
    return error
  }
}
