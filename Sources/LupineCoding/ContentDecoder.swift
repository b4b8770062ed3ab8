// Undoes the content codings of a body as its bytes arrive (RFC 9110 §8.4), in memory that its length has no part in.

/// Decodes a body from bytes that come in pieces of any size.
///
/// Its memory is bounded whatever comes: about 60 KiB for each layer of gzip or deflate, and for brotli a window of up
/// to 16 MiB that the stream asks for. It is freed with the decoder. After an error each call throws that error again.
public struct ContentDecoder: ~Copyable {
  /// How far a call of `decode` came.
  public typealias Progress = CodingProgress

  /// In the order in which they are undone: the first takes the bytes of the wire, the last fills the caller's output.
  private let layers: [DecodingLayer]
  private let limits: CodingLimits
  private var wireBytes: UInt64 = 0
  private var failure: CodingError?
  private var last: DecodingLayer { layers[layers.count - 1] }

  /// Creates a decoder for `codings` in the order in which they were applied; with none the bytes stay as they are.
  ///
  /// Throws `.tooManyLayers`, `.tooManyBrotliLayers`, and `.outOfMemory`.
  public init(_ codings: [ContentCoding], limits: CodingLimits = .init()) throws(CodingError) {
    guard codings.count <= limits.layersMax else { throw CodingError(.tooManyLayers(max: limits.layersMax)) }
    guard codings.count(where: { $0 == .brotli }) <= limits.brotliLayersMax else {
      throw CodingError(.tooManyBrotliLayers(max: limits.brotliLayersMax))
    }
    var layers: [DecodingLayer] = []
    for (index, coding) in codings.enumerated().reversed() {
      layers.append(try DecodingLayer(coding, feedsAnother: index > 0))
    }
    self.layers = layers.isEmpty ? [DecodingLayer()] : layers
    self.limits = limits
  }

  /// Decodes from the front of `input` until something comes out, and calls `receive` with that once.
  ///
  /// It is at most `byteCountMax` bytes and no more than `scratch` has room for, which has to be for one at least; they are
  /// valid during the call, and lie in `scratch` or where a library has them. If nothing comes out, `receive` isn't called,
  /// and all of `input` has been taken: the decoder needs more or is done. `isDone` says that the body may end here: more
  /// input is then an error, but for a further gzip member. Throws `.corrupt`, `.checksum`, `.trailingBytes`, the limits'
  /// causes, `.outOfMemory`; what came out with the error is not handed over.
  public mutating func decode(
    _ input: RawSpan, upTo byteCountMax: Int = .max, scratch: inout [UInt8], receive: (borrowing Span<UInt8>) -> Void
  ) throws(CodingError) -> Progress {
    precondition(byteCountMax > 0 && !scratch.isEmpty, "decode(_:upTo:scratch:receive:) needs room for what comes out")
    if let failure { throw failure }
    var span = scratch.mutableSpan
    // SAFETY: the pointers live only inside the closures, and the array's bytes are initialised.
    return try span.withUnsafeMutableBytes { (buffer) throws(CodingError) -> Progress in
      try input.withUnsafeBytes { (source) throws(CodingError) -> Progress in
        let output = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(byteCountMax))
        let consumed = try self.pump(source, into: output)
        // SAFETY: what a layer has put out stays there until it is called again.
        let produced = self.last.unread.bindMemory(to: UInt8.self)
        if !produced.isEmpty { receive(produced.span) }
        self.last.markRead(produced.count)
        return Progress(
          consumed: consumed, produced: produced.count,
          isDone: self.layers.allSatisfy { $0.isAtEnd && $0.unread.isEmpty })
      }
    }
  }

  /// Says that the body has ended; to be called after a `decode` from which nothing came out.
  ///
  /// A body of 0 bytes is an empty result, whatever its codings. Throws `.truncated` if a stream is incomplete.
  public mutating func finish() throws(CodingError) {
    if let failure { throw failure }
    if wireBytes == 0 { return }
    for layer in layers {
      precondition(layer.isDrained, "finish() before decode(_:upTo:scratch:receive:) has put out everything")
      guard layer.isAtEnd else { throw fail(layer.error(.truncated)) }
    }
  }

  /// What a whole body decodes to, for `codings` in the order in which they were applied; throws what `decode` and `finish`
  /// do.
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
        // SAFETY: the pointer lives only inside the closure.
        piece.withUnsafeBufferPointer { result += $0 }
      }
      used += progress.consumed
    } while progress.produced > 0
    try decoder.finish()
    return result
  }

  /// Decodes until the last layer has put something out or nothing can be done; returns how much of `input` was taken.
  private mutating func pump(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(CodingError) -> Int {
    var consumed = 0
    var hasMoved = true
    while hasMoved {
      hasMoved = false
      // From the last to the first, so that what a layer has put out was read when its turn to put out more comes.
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

  /// The limit that a layer has passed, if any. Every layer counts, as a bomb may burst in the first and be swallowed
  /// by the second.
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
