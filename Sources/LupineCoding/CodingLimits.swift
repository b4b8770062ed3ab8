// CodingLimits: the limits of LupineCoding, each with its unit and the source of its value.

/// The limits for decoding a message body with content codings.
public struct CodingLimits: Sendable, Equatable {
  /// The maximum number of content codings of a body. 5 by default, as in curl. RFC 9110 sets no limit.
  public var layersMax: Int

  /// The maximum number of brotli codings of a body. 1 by default, because each may use a window of 16 MiB (RFC 7932 §9.1), and a
  /// second one makes a body no smaller. For comparison, gzip and deflate use a window of 32 KiB.
  public var brotliLayersMax: Int

  /// The maximum number of zstd codings of a body. 1 by default, because each may use a window of 8 MiB (RFC 9659). This limit has
  /// no effect without the package trait `Zstd`.
  public var zstdLayersMax: Int

  /// The maximum number of decoded bytes of a body, or nil for no limit. Nil by default, so the caller should count the bytes.
  ///
  /// If a body has several codings, the bytes that one decoder passes to the next may exceed this limit slightly.
  public var decodedBytesMax: UInt64?

  /// The maximum number of bytes that the decoder of each coding may produce per received byte, or nil for no limit. 1100 by
  /// default.
  ///
  /// Deflate can't exceed 1032:1 (zlib's technical notes), so only Brotli, Zstandard and bodies with several codings can reach the
  /// limit.
  public var expansionRatioMax: UInt64?

  /// The number of decoded bytes up to which `expansionRatioMax` doesn't apply. 1 MiB by default, because small bodies are
  /// harmless.
  public var expansionFloorBytes: UInt64

  /// Whether decoding fails if a body has an unknown content coding. False by default: the decoder then delivers the body as
  /// received, without removing any of its codings, as browsers and curl do. Some servers send `aws-chunked`, `utf-8` or `none`
  /// although the body isn't coded.
  public var refusesUnknownCodings: Bool

  /// Creates limits for decoding bodies. Each parameter sets the property of the same name.
  public init(
    layersMax: Int = 5, decodedBytesMax: UInt64? = nil, expansionRatioMax: UInt64? = 1100,
    expansionFloorBytes: UInt64 = 1 << 20, brotliLayersMax: Int = 1, zstdLayersMax: Int = 1,
    refusesUnknownCodings: Bool = false
  ) {
    self.layersMax = layersMax
    self.decodedBytesMax = decodedBytesMax
    self.expansionRatioMax = expansionRatioMax
    self.expansionFloorBytes = expansionFloorBytes
    self.brotliLayersMax = brotliLayersMax
    self.zstdLayersMax = zstdLayersMax
    self.refusesUnknownCodings = refusesUnknownCodings
  }

  /// The size in bytes of the buffer between the decoders of two codings: the payload of one TLS record (RFC 8446 §5.1), which is
  /// also the size of a typical read.
  static let layerBufferBytes = 16 << 10

  /// The size in bytes of the output buffer of the methods that decode or encode a complete body: 64 KiB, the size of a large read.
  static let scratchBytes = 64 << 10

  /// The maximum number of bytes passed to a compression library in one call: 1 GiB. The counters of zlib (uInt in zlib.h) have
  /// 32 bits.
  static let stepBytesMax = 1 << 30

  /// The maximum number of coded bytes that are passed to Brotli's decoder in one call: 16 KiB. The limit is small, so that the
  /// decoded bytes are still in the processor's caches when the caller reads them. 64 KiB of coded text would decode to a third of
  /// a megabyte.
  static let brotliStepBytesMax = 16 << 10

  /// The binary logarithm of the maximum size in bytes of a Zstandard frame's window: 23, for 8 MiB (RFC 9659 §3).
  static let zstdWindowLogMax: Int32 = 23

  /// The maximum number of bytes that a decoder may pass to the decoder of the next coding, or nil for no limit. These bytes are
  /// still coded, and coding makes incompressible data longer, so this limit exceeds `decodedBytesMax` by one 256th plus
  /// `expansionFloorBytes`. That is ample: zlib adds only 5 bytes per 64 KiB (zlib's technical notes).
  var intermediateBytesMax: UInt64? {
    guard let decodedBytesMax else { return nil }
    return decodedBytesMax.addingSaturated(decodedBytesMax >> 8).addingSaturated(expansionFloorBytes)
  }

  /// Returns the maximum number of bytes that the decoder of each coding may produce in total from the first `wireBytes` received
  /// bytes.
  func expandedBytesMax(wireBytes: UInt64) -> UInt64 {
    guard let expansionRatioMax else { return .max }
    let product = wireBytes.multipliedReportingOverflow(by: expansionRatioMax)
    return product.overflow ? .max : max(product.partialValue, expansionFloorBytes)
  }
}

extension UInt64 {
  fileprivate func addingSaturated(_ other: UInt64) -> UInt64 {
    let sum = self.addingReportingOverflow(other)
    return sum.overflow ? .max : sum.partialValue
  }
}
