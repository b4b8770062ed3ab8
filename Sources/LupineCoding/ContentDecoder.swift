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

  /// Creates a decoder for `codings` in the order in which they were applied; with none it copies.
  ///
  /// Throws `.tooManyLayers`, and `.outOfMemory`.
  public init(_ codings: [ContentCoding], limits: CodingLimits = .init()) throws(CodingError) {
    guard codings.count <= limits.layersMax else { throw CodingError(.tooManyLayers(max: limits.layersMax)) }
    var layers: [DecodingLayer] = []
    for (index, coding) in codings.enumerated().reversed() {
      layers.append(try DecodingLayer(coding, feedsAnother: index > 0))
    }
    self.layers = layers.isEmpty ? [DecodingLayer()] : layers
    self.limits = limits
  }

  /// Decodes as much of `input` as fits into `output`, and appends it there; on an error nothing is appended.
  ///
  /// `output` must have room. If room is left afterwards, the decoder needs more input or is done; if none is left,
  /// more may come out, so call again, with no input if need be. `isDone` says that the body may end here: more input
  /// is then an error, but for a further gzip member. Throws `.corrupt`, `.checksum`, `.trailingBytes`, the limits'
  /// causes, `.outOfMemory`.
  public mutating func decode(
    _ input: RawSpan, into output: inout OutputRawSpan
  ) throws(CodingError) -> Progress {
    // SAFETY: both pointers live only inside the closures; the bytes counted as initialised are those `pump` has
    // filled.
    try output.withUnsafeMutableBytes { (buffer, count) throws(CodingError) -> Progress in
      let progress = try input.withUnsafeBytes { (source) throws(CodingError) -> Progress in
        try self.pump(source, into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
      }
      count += progress.produced
      return progress
    }
  }

  /// Decodes as much of `input` as fits into `scratch` from `offset` to its end, as `decode(_:into:)` does otherwise.
  ///
  /// On an error what the bytes from `offset` on hold is not defined.
  public mutating func decode(
    _ input: RawSpan, into scratch: inout [UInt8], at offset: Int = 0
  ) throws(CodingError) -> Progress {
    var span = scratch.mutableSpan
    // SAFETY: both pointers live only inside the closures, and the array's bytes are initialised.
    return try span.withUnsafeMutableBytes { (buffer) throws(CodingError) -> Progress in
      try input.withUnsafeBytes { (source) throws(CodingError) -> Progress in
        try self.pump(source, into: UnsafeMutableRawBufferPointer(rebasing: buffer[offset...]))
      }
    }
  }

  /// Says that the body has ended; to be called after a `decode` that left room in its output.
  ///
  /// A body of 0 bytes is an empty result, whatever its codings. Throws `.truncated` if a stream is incomplete.
  public mutating func finish() throws(CodingError) {
    if let failure { throw failure }
    if wireBytes == 0 { return }
    for layer in layers {
      precondition(layer.isDrained, "finish() before decode(_:into:) has put out everything")
      guard layer.isAtEnd else { throw fail(layer.error(.truncated)) }
    }
  }

  private mutating func pump(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(CodingError) -> Progress {
    precondition(!output.isEmpty, "decode(_:into:) needs room in its output")
    if let failure { throw failure }
    var progress = Progress(consumed: 0, produced: 0, isDone: false)
    var hasMoved = true
    while hasMoved && progress.produced < output.count {
      hasMoved = false
      // From the last to the first, so that a layer's buffer is empty when its turn to fill it comes.
      for index in layers.indices.reversed() {
        let layer = layers[index]
        let source =
          index == 0 ? UnsafeRawBufferPointer(rebasing: input[progress.consumed...]) : layers[index - 1].unread
        let target = layer.room ?? UnsafeMutableRawBufferPointer(rebasing: output[progress.produced...])
        guard !target.isEmpty, !source.isEmpty || layer.mayHoldOutput else { continue }

        let step: CodingStep
        do throws(CodingError) { step = try layer.decode(source, into: target) } catch { throw fail(error) }
        if index == 0 {
          progress.consumed += step.consumed
          wireBytes += UInt64(step.consumed)
        } else {
          layers[index - 1].markRead(step.consumed)
        }
        if index == layers.count - 1 { progress.produced += step.produced }
        if let cause = excess(of: layer) { throw fail(layer.error(cause)) }
        hasMoved = hasMoved || step.consumed > 0 || step.produced > 0
      }
    }
    progress.isDone = layers.allSatisfy { $0.isAtEnd && $0.unread.isEmpty }
    return progress
  }

  /// The limit that a layer has passed, if any. Every layer counts, as a bomb may burst in the first and be swallowed
  /// by the second.
  private func excess(of layer: DecodingLayer) -> CodingError.Cause? {
    if let max = layer.room == nil ? limits.decodedBytesMax : limits.intermediateBytesMax, layer.decodedBytes > max {
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
