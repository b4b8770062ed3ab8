// CodingError: the errors of coded bodies, each with its cause, place and remedy.

/// An error in decoding or encoding a body, with the content coding and the position of the failure in the coded bytes.
public struct CodingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The cause of a coding error.
  public enum Cause: Sendable, Equatable {
    /// The Content-Encoding field names an unsupported coding, and `CodingLimits.refusesUnknownCodings` is true. The associated
    /// value is the coding's name, truncated to 64 characters.
    case unknownCoding(String)
    /// The body has more content codings than `CodingLimits.layersMax`.
    case tooManyLayers(max: Int)
    /// The body has more brotli codings than `CodingLimits.brotliLayersMax`.
    case tooManyBrotliLayers(max: Int)
    /// The body has more zstd codings than `CodingLimits.zstdLayersMax`.
    case tooManyZstdLayers(max: Int)
    /// The coded data is invalid. The associated value is the compression library's message.
    case corrupt(String)
    /// The decoded bytes don't match the checksum or length in the coded data, such as gzip's CRC-32. The associated value is the
    /// compression library's message.
    case checksum(String)
    /// The body ended before the end of the coded data.
    case truncated
    /// The body has further bytes after the end of the coded data.
    case trailingBytes
    /// The body decodes to more than `CodingLimits.decodedBytesMax` bytes. The associated value is this limit.
    case decodedBytesMax(UInt64)
    /// The body decodes to more bytes per received byte than `CodingLimits.expansionRatioMax`. The associated value is this limit.
    case expansionRatioMax(UInt64)
    /// The compression library couldn't allocate memory.
    case outOfMemory
    /// The compression library reported an error that, according to its documentation, no input can cause. The associated value
    /// describes the error.
    case internalFailure(String)
  }

  /// The cause of the coding error.
  public var cause: Cause
  /// The content coding whose decoder or encoder failed. Nil if the Content-Encoding field is at fault, or if the body has no
  /// codings.
  public var coding: ContentCoding?
  /// The position of the failure in the coded data: the number of coded bytes that the failed decoder had read, or that the failed
  /// encoder had written. Nil if there is no such position, for example because the Content-Encoding field is at fault.
  ///
  /// The compression library may have consumed a few bytes after the invalid ones.
  public var codedOffset: UInt64?

  init(_ cause: Cause, coding: ContentCoding? = nil, codedOffset: UInt64? = nil) {
    self.cause = cause
    self.coding = coding
    self.codedOffset = codedOffset
  }

  /// The maximum number of characters of a content coding's name that an error contains: 64. The longest registered name has 16
  /// (IANA, 2024).
  static let nameCharactersMax = 64

  /// A line of text with the cause of the error, the coding, the position and a remedy.
  public var description: String {
    let place = codedOffset.map { " after \($0) coded bytes" } ?? ""
    let subject = coding.map { "\($0.name): " } ?? ""
    return "\(subject)\(what)\(place). \(remedy)"
  }

  /// Returns the name of a content coding, which comes from the peer, in quotation marks. Replaces characters that could control a
  /// terminal or break a line of a log, and all characters outside ASCII, which names of codings don't contain.
  private static func quoted(_ name: String) -> String {
    var ascii = ""
    ascii.unicodeScalars.append(contentsOf: name.unicodeScalars.lazy.map { $0.isASCII ? $0 : "?" })
    return ascii.debugDescription
  }

  private var what: String {
    switch cause {
    case .unknownCoding(let name): "The content coding \(Self.quoted(name)) isn't supported (RFC 9110 §8.4)"
    case .tooManyLayers(let max): "The body has more than \(max) content codings"
    case .tooManyBrotliLayers(let max): "The body has more layers of brotli than the limit of \(max)"
    case .tooManyZstdLayers(let max): "The body has more layers of zstd than the limit of \(max)"
    case .corrupt(let text): "The coded data is invalid (\(text))"
    case .checksum(let text): "The decoded bytes don't match the checksum or length in the coded data (\(text))"
    case .truncated: "The body ended within the coded stream"
    case .trailingBytes: "Bytes follow the end of the coded stream"
    case .decodedBytesMax(let max): "The body decodes to more than \(max) bytes"
    case .expansionRatioMax(let max): "The body expands to more than \(max) times its received size"
    case .outOfMemory: "The compression library couldn't allocate memory"
    case .internalFailure(let text): "The compression library failed (\(text))"
    }
  }

  private var remedy: String {
    switch cause {
    case .unknownCoding: "Set CodingLimits.refusesUnknownCodings to false to receive such bodies undecoded."
    case .tooManyLayers: "Raise CodingLimits.layersMax if the origin is trusted."
    case .tooManyBrotliLayers: "Raise CodingLimits.brotliLayersMax if the origin is trusted."
    case .tooManyZstdLayers: "Raise CodingLimits.zstdLayersMax if the origin is trusted."
    case .corrupt, .trailingBytes: "Fix the origin, or request the body with Accept-Encoding: identity."
    case .checksum: "The body was damaged in transit or by the origin; send the request again."
    case .truncated: "The transfer was cut short, or the origin's encoder didn't finish; send the request again."
    case .decodedBytesMax: "Raise CodingLimits.decodedBytesMax if the origin is trusted."
    case .expansionRatioMax: "Raise CodingLimits.expansionRatioMax if the origin is trusted."
    case .outOfMemory: "Decode or encode fewer bodies at the same time."
    case .internalFailure: "Check which zlib, brotli and zstd libraries are installed."
    }
  }
}
