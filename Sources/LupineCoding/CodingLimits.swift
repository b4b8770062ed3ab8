// CodingLimits: the limits of LupineCoding, each with its unit and the source of its value.

/// The limits for decoding a body.
public struct CodingLimits: Sendable, Equatable {
  /// The maximum number of codings of a body. 5 by default, as in curl; RFC 9110 sets no limit.
  public var layersMax: Int

  /// The maximum number of brotli codings among a body's codings. 1 by default: each may use a window of 16 MiB (RFC 7932
  /// §9.1), against 32 KiB for gzip and deflate, and a second pass of brotli makes a body no smaller.
  public var brotliLayersMax: Int

  /// The maximum number of decoded bytes. Nil, the default, sets no limit, for callers that count the bytes.
  ///
  /// Layers before the last may produce slightly more; see `intermediateBytesMax`.
  public var decodedBytesMax: UInt64?

  /// The maximum number of bytes that any layer may produce per byte received. 1100 by default; nil disables the limit.
  ///
  /// Deflate can't exceed 1032:1 (zlib's technical notes), so only Brotli and stacked codings can reach the limit.
  public var expansionRatioMax: UInt64?

  /// The number of decoded bytes up to which `expansionRatioMax` isn't applied. 1 MiB
  /// by default, because small bodies are harmless.
  public var expansionFloorBytes: UInt64

  /// Whether a body with an unknown coding is an error. False by default: the body is delivered as received, with all of
  /// its codings, as browsers and curl do. Servers send `aws-chunked`, `utf-8` or `none` without coding anything.
  public var refusesUnknownCodings: Bool

  /// Creates limits. The properties describe the parameters.
  public init(
    layersMax: Int = 5, decodedBytesMax: UInt64? = nil, expansionRatioMax: UInt64? = 1100,
    expansionFloorBytes: UInt64 = 1 << 20, brotliLayersMax: Int = 1, refusesUnknownCodings: Bool = false
  ) {
    self.layersMax = layersMax
    self.decodedBytesMax = decodedBytesMax
    self.expansionRatioMax = expansionRatioMax
    self.expansionFloorBytes = expansionFloorBytes
    self.brotliLayersMax = brotliLayersMax
    self.refusesUnknownCodings = refusesUnknownCodings
  }

  /// The size of the buffer between two layers in bytes: the payload of one TLS record (RFC 8446
  /// §5.1), which is also the size of a typical read.
  static let layerBufferBytes = 16 << 10

  /// The number of bytes that the convenience methods code at a time: one large read.
  static let scratchBytes = 64 << 10

  /// The maximum number of bytes passed to a library in one call, because zlib's counters have 32 bits (zlib.h, uInt).
  static let stepBytesMax = 1 << 30

  /// The maximum number of coded bytes per call of Brotli's decoder. It is small, so that the decoded bytes are still
  /// in the processor's caches when they are read: 64 KiB of coded text decode to a third of a megabyte.
  static let brotliStepBytesMax = 16 << 10

  /// The maximum number of bytes that a layer before the last may produce, or nil for no limit. It exceeds
  /// `decodedBytesMax`, because incompressible data becomes longer when it is coded, by 5 bytes in 64 KiB with zlib
  /// (its technical notes). The allowance of 1 in 256 and `expansionFloorBytes` is generous.
  var intermediateBytesMax: UInt64? {
    guard let decodedBytesMax else { return nil }
    return decodedBytesMax.addingSaturated(decodedBytesMax >> 8).addingSaturated(expansionFloorBytes)
  }

  /// Returns the maximum number of bytes that any layer may have produced after `wireBytes` received bytes were
  /// consumed.
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
