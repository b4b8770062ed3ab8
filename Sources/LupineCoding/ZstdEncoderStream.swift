// ZstdEncoderStream: encodes Zstandard (RFC 8878) with libzstd.

#if Zstd
  import CLupineZstd

  final class ZstdEncoderStream: StreamEncoder {
    private let encoder: OpaquePointer
    private(set) var isAtEnd = false

    init(level: Int) throws(CodingError) {
      guard let encoder = ZSTD_createCCtx() else { throw CodingError(.outOfMemory, coding: .zstd) }
      self.encoder = encoder
      ZSTD_CCtx_setParameter(encoder, ZSTD_c_compressionLevel, CInt(min(max(level, 1), Self.levelMax)))
    }

    deinit {
      ZSTD_freeCCtx(encoder)
    }

    func encode(
      _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isFinishing: Bool
    ) throws(StreamFailure) -> EncodingStep {
      // Another call of the library would write another frame.
      guard !isAtEnd else { return EncodingStep() }
      // SAFETY: the library reads and writes at most the given sizes, which are those of the buffers. It copies what it
      // reads instead of keeping the pointers.
      var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
      var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
      let result = ZSTD_compressStream2(encoder, &target, &source, isFinishing ? ZSTD_e_end : ZSTD_e_continue)
      // The library fails only if memory runs out or the library is misused. The requirements of `StreamEncoder` exclude misuse.
      guard ZSTD_isError(result) == 0 else { throw StreamFailure(cause: .outOfMemory) }
      isAtEnd = isFinishing && result == 0
      return EncodingStep(consumed: source.pos, produced: target.pos)
    }

    /// The highest compression level whose window is at most 8 MiB, as RFC 9659 requires. zstd's "ultra" levels, 20 to 22, use
    /// larger windows.
    private static let levelMax = 19
  }
#endif
