// Every limit of LupineCoding, with its unit and source.

/// What a coded body may ask of the decoder.
public struct CodingLimits: Sendable, Equatable {
  /// How many codings a body may have, one upon the other; 5 as in curl, the RFC sets none.
  public var layersMax: Int

  /// How many of these may be brotli; 1 by default, since each may take a window of 16 MiB (RFC 7932 §9.1), against 32 KiB
  /// for gzip and deflate, and a second pass of brotli makes nothing smaller.
  public var brotliLayersMax: Int

  /// How many bytes may come out in all; `nil`, the default, is no limit, for a caller that counts what it takes.
  ///
  /// The layers before the last may put out a little more, see `intermediateBytesMax`.
  public var decodedBytesMax: UInt64?

  /// How many bytes any layer may put out for each byte that came over the wire; 1100 by default, `nil` is no limit.
  ///
  /// Deflate can't pass 1032:1 (zlib's technical notes), so only brotli and stacked codings meet it.
  public var expansionRatioMax: UInt64?

  /// From how many bytes on `expansionRatioMax` counts; 1 MiB by default, as what is smaller does no harm.
  public var expansionFloorBytes: UInt64

  /// Whether a body with an unknown coding is an error; false by default: it is delivered as received, with all its
  /// codings, as browsers and curl do. Servers name `aws-chunked`, `utf-8` or `none` without coding anything.
  public var refusesUnknownCodings: Bool

  /// Creates limits; each parameter is described at its property.
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

  /// Bytes between one layer and the next, at a time; one TLS record's payload (RFC 8446 §5.1), as is a typical read.
  static let layerBufferBytes = 16 << 10

  /// Bytes that a convenience call codes at a time; one large read.
  static let scratchBytes = 64 << 10

  /// Bytes that one call of a library takes or fills; zlib's counters are 32 bits wide (zlib.h, uInt).
  static let stepBytesMax = 1 << 30

  /// Bytes that brotli's decoder takes at a time, so that what they become is still in the processor's caches when it is
  /// read: of 64 KiB of coded text it is a third of a megabyte.
  static let brotliStepBytesMax = 16 << 10

  /// Bytes that a layer before the last may put out in all: coded data that can't be compressed is longer than what it
  /// holds, by 5 bytes in 64 KiB if the encoder is zlib (its technical notes), so 1 in 256 and the floor is generous.
  var intermediateBytesMax: UInt64? {
    guard let decodedBytesMax else { return nil }
    return decodedBytesMax.addingSaturated(decodedBytesMax >> 8).addingSaturated(expansionFloorBytes)
  }

  /// Bytes that any layer may have put out when `wireBytes` have been consumed.
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
