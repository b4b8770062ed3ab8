// CodingError: the errors of coded bodies, each with its cause, place and remedy.

/// An error in decoding or encoding a body, with the content coding and the position in the coded bytes.
public struct CodingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The causes of errors.
  public enum Cause: Sendable, Equatable {
    /// Content-Encoding names an unsupported coding, and `CodingLimits.refusesUnknownCodings` is set. The name is
    /// truncated to 64 characters.
    case unknownCoding(String)
    /// The body has more codings than `CodingLimits.layersMax`.
    case tooManyLayers(max: Int)
    /// The body has more brotli codings than `CodingLimits.brotliLayersMax`.
    case tooManyBrotliLayers(max: Int)
    /// The coded data is invalid. The text is the library's message.
    case corrupt(String)
    /// The decoded bytes don't match a checksum or length in a trailer. The text is the library's message.
    case checksum(String)
    /// The body ended within a coded stream.
    case truncated
    /// Bytes follow the end of the coded stream.
    case trailingBytes
    /// The body decodes to more bytes than `CodingLimits.decodedBytesMax`, the associated value.
    case decodedBytesMax(UInt64)
    /// The body decodes to more bytes per received byte than `CodingLimits.expansionRatioMax`, the associated value.
    case expansionRatioMax(UInt64)
    /// The library couldn't allocate memory.
    case outOfMemory
    /// The library failed in a way that its documentation rules out for any input.
    case internalFailure(String)
  }

  /// The cause of the error.
  public var cause: Cause
  /// The coding of the layer that failed, or nil if the field is at fault or the body has no codings.
  public var coding: ContentCoding?
  /// The number of bytes that the failed layer had consumed, in that layer's coded bytes, or nil if the field is at
  /// fault.
  ///
  /// The library may have read a few bytes beyond the invalid ones.
  public var codedOffset: UInt64?

  init(_ cause: Cause, coding: ContentCoding? = nil, codedOffset: UInt64? = nil) {
    self.cause = cause
    self.coding = coding
    self.codedOffset = codedOffset
  }

  /// The maximum number of characters of a coding's name in an error: 64. The longest registered name has 16 (IANA,
  /// 2024).
  static let nameCharactersMax = 64

  /// The cause, the place and the remedy, on one line.
  public var description: String {
    let place = codedOffset.map { " after \($0) coded bytes" } ?? ""
    let subject = coding.map { "\($0.name): " } ?? ""
    return "\(subject)\(what)\(place). \(remedy)"
  }

  /// Returns a name from the peer without characters that could control a terminal or break a line of a log. Names of
  /// codings are ASCII, so all other characters are replaced.
  private static func quoted(_ name: String) -> String {
    var ascii = ""
    ascii.unicodeScalars.append(contentsOf: name.unicodeScalars.lazy.map { $0.isASCII ? $0 : "?" })
    return ascii.debugDescription
  }

  private var what: String {
    switch cause {
    case .unknownCoding(let name): "The content coding \(Self.quoted(name)) isn't supported (RFC 9110 §8.4)"
    case .tooManyLayers(let max): "The body has more than \(max) content codings"
    case .tooManyBrotliLayers(let max): "The body exceeds the limit of \(max) for brotli codings"
    case .corrupt(let text): "The coded data is invalid (\(text))"
    case .checksum(let text): "The decoded bytes don't match the checksum or length in the coded data (\(text))"
    case .truncated: "The body ended within the coded stream"
    case .trailingBytes: "Bytes follow the end of the coded stream"
    case .decodedBytesMax(let max): "The body decodes to more than \(max) bytes"
    case .expansionRatioMax(let max): "The body decodes to more than \(max) bytes per received byte"
    case .outOfMemory: "No memory is available for the coding library"
    case .internalFailure(let text): "The coding library failed (\(text))"
    }
  }

  private var remedy: String {
    switch cause {
    case .unknownCoding: "Set CodingLimits.refusesUnknownCodings to false to receive such bodies undecoded."
    case .tooManyLayers: "Raise CodingLimits.layersMax if the origin is trusted."
    case .tooManyBrotliLayers: "Raise CodingLimits.brotliLayersMax if the origin is trusted."
    case .corrupt, .trailingBytes: "Fix the origin, or request the body with Accept-Encoding: identity."
    case .checksum: "The body was damaged in transit or by the origin; send the request again."
    case .truncated: "The transfer or the origin's encoder stopped early; send the request again."
    case .decodedBytesMax: "Raise CodingLimits.decodedBytesMax if the origin is trusted."
    case .expansionRatioMax: "Raise CodingLimits.expansionRatioMax if the origin is trusted."
    case .outOfMemory: "Decode or encode fewer bodies at the same time."
    case .internalFailure: "Check which zlib and brotli libraries are installed."
    }
  }
}
