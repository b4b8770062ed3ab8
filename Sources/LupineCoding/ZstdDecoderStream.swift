// ZstdDecoderStream: decodes Zstandard (RFC 8878) with libzstd, in windows of at most 8 MiB (RFC 9659).

#if Zstd
  import CLupineZstd

  /// A decoder for one Zstandard coding of a body, which consists of any number of frames and skippable frames (RFC 8878 §3.1).
  final class ZstdDecoderStream: StreamDecoder {
    private let decoder: OpaquePointer
    private(set) var isAtEnd = false
    private var hasEndedFrame = false
    /// The number of bytes of the current frame that the decoder must still pass to the Zstandard library one at a time (see
    /// `headerBytesMax`).
    private var headerBytesLeft = ZstdDecoderStream.headerBytesMax

    init() throws(CodingError) {
      guard let decoder = ZSTD_createDCtx() else { throw CodingError(.outOfMemory, coding: .zstd) }
      self.decoder = decoder
      ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, CodingLimits.zstdWindowLogMax)
    }

    deinit {
      ZSTD_freeDCtx(decoder)
    }

    func decode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(StreamFailure) -> DecodingStep {
      if isAtEnd {
        guard let first = input.first else { return DecodingStep() }
        guard Self.beginsFrame(first) else { throw StreamFailure(cause: .trailingBytes) }
      }
      // SAFETY: the library reads and writes at most the given sizes, which are those of the buffers. It copies what it
      // reads instead of keeping the pointers.
      var source = ZSTD_inBuffer(
        src: input.baseAddress, size: headerBytesLeft > 0 ? min(1, input.count) : input.count, pos: 0)
      var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
      let result = ZSTD_decompressStream(decoder, &target, &source)
      guard ZSTD_isError(result) == 0 else { throw StreamFailure(cause: cause(of: result)) }
      // 0 means that a frame has ended and that all of its output is in `target`.
      isAtEnd = result == 0
      hasEndedFrame = hasEndedFrame || isAtEnd
      headerBytesLeft = isAtEnd ? Self.headerBytesMax : max(0, headerBytesLeft - source.pos)
      return DecodingStep(
        consumed: source.pos, produced: UnsafeRawBufferPointer(rebasing: output.prefix(target.pos)),
        mayHoldOutput: !isAtEnd && target.pos == target.size)
    }

    private func cause(of result: Int) -> CodingError.Cause {
      switch ZSTD_getErrorCode(result) {
      case ZSTD_error_memory_allocation:
        return .outOfMemory
      case ZSTD_error_frameParameter_windowTooLarge:
        return .corrupt("a frame requires a window of more than 8 MiB, which HTTP doesn't permit")
      case ZSTD_error_dictionary_wrong:
        return .corrupt("it requires a dictionary, which HTTP doesn't support")
      case ZSTD_error_prefix_unknown where hasEndedFrame:
        return .trailingBytes
      case let code:
        // SAFETY: the text is a constant of the library.
        let text = ZSTD_getErrorName(result).map { String(cString: $0) } ?? "no details"
        return code == ZSTD_error_checksum_wrong ? .checksum(text) : .corrupt(text)
      }
    }

    /// Returns whether `byte` can be the first byte of a Zstandard frame's magic number. In little-endian order, this number is
    /// 0xFD2FB528, or 0x184D2A50 to 0x184D2A5F for a skippable frame (RFC 8878 §3.1.1 and §3.1.2).
    private static func beginsFrame(_ byte: UInt8) -> Bool { byte == 0x28 || byte & 0xF0 == 0x50 }

    /// The maximum length in bytes of a Zstandard frame's magic number and header together: 18 (RFC 8878 §3.1.1.1).
    ///
    /// The decoder passes the first bytes of a frame, up to this number, to the library one at a time. If the library got a
    /// complete frame in one call, it would decode the frame without checking the size of its window. It would also accept the
    /// formats before Zstandard 0.8, whose windows it doesn't check.
    private static let headerBytesMax = 18
  }
#endif
