// What can go wrong with a coded body: the cause, where, and what to do.

/// Why a body can't be decoded or encoded, in which coding, and after how many coded bytes.
public struct CodingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong.
  public enum Cause: Sendable, Equatable {
    /// Content-Encoding names a coding that Lupine does not decode, and `CodingLimits.refusesUnknownCodings` is set; the
    /// name is cut to 64 characters.
    case unknownCoding(String)
    /// The body has more codings than `CodingLimits.layersMax`.
    case tooManyLayers(max: Int)
    /// More of the body's codings are brotli than `CodingLimits.brotliLayersMax`.
    case tooManyBrotliLayers(max: Int)
    /// The coded bytes break the format; the text is the library's.
    case corrupt(String)
    /// A checksum or the length in a trailer differs from that of the decoded bytes; the text is the library's.
    case checksum(String)
    /// The body ended inside a stream.
    case truncated
    /// Bytes follow the end of the stream.
    case trailingBytes
    /// More decoded bytes than `CodingLimits.decodedBytesMax`, given here.
    case decodedBytesMax(UInt64)
    /// More decoded bytes for each coded one than `CodingLimits.expansionRatioMax`, given here.
    case expansionRatioMax(UInt64)
    /// The library got no memory.
    case outOfMemory
    /// The library refused a call in a way that it documents for no input.
    case internalFailure(String)
  }

  /// What went wrong.
  public var cause: Cause
  /// The coding of the layer that failed; `nil` if the field was at fault, or a body without codings.
  public var coding: ContentCoding?
  /// How many bytes the layer that failed had taken, in bytes of that layer; `nil` if the field was at fault.
  ///
  /// A library may look at a few bytes more than the ones at fault.
  public var codedOffset: UInt64?

  init(_ cause: Cause, coding: ContentCoding? = nil, codedOffset: UInt64? = nil) {
    self.cause = cause
    self.coding = coding
    self.codedOffset = codedOffset
  }

  /// Characters of a coding's name that an error keeps; the registry's longest name has 16 (IANA, 2024).
  static let nameCharactersMax = 64

  /// The cause, the place and the remedy, in one line.
  public var description: String {
    let place = codedOffset.map { " after \($0) coded bytes" } ?? ""
    let subject = coding.map { "\($0.name): " } ?? ""
    return "\(subject)\(what)\(place). \(remedy)"
  }

  /// A name from the peer without what could steer a terminal or break a line of a log. Names of codings are ASCII.
  private static func quoted(_ name: String) -> String {
    var ascii = ""
    ascii.unicodeScalars.append(contentsOf: name.unicodeScalars.lazy.map { $0.isASCII ? $0 : "?" })
    return ascii.debugDescription
  }

  private var what: String {
    switch cause {
    case .unknownCoding(let name): "The content coding \(Self.quoted(name)) is unknown (RFC 9110 §8.4)"
    case .tooManyLayers(let max): "The body has more than \(max) content codings"
    case .tooManyBrotliLayers(let max): "The body is coded with brotli more than \(max) times"
    case .corrupt(let text): "The coded data is invalid (\(text))"
    case .checksum(let text): "The decoded bytes do not match the checksum or length sent with them (\(text))"
    case .truncated: "The body ended before its coded stream did"
    case .trailingBytes: "Bytes follow the end of the coded stream"
    case .decodedBytesMax(let max): "The body decodes to more than \(max) bytes"
    case .expansionRatioMax(let max): "The body decodes to more than \(max) bytes for each byte received"
    case .outOfMemory: "There is no memory left for the coder"
    case .internalFailure(let text): "The library failed (\(text))"
    }
  }

  private var remedy: String {
    switch cause {
    case .unknownCoding: "Clear CodingLimits.refusesUnknownCodings to take such bodies as they are received."
    case .tooManyLayers: "Raise CodingLimits.layersMax if the origin is trusted."
    case .tooManyBrotliLayers: "Raise CodingLimits.brotliLayersMax if the origin is trusted."
    case .corrupt, .trailingBytes: "Fix the origin, or ask for the body with Accept-Encoding: identity."
    case .checksum: "The body was damaged on its way, or the origin is at fault; send the request again."
    case .truncated: "The transfer or the origin's encoder was cut short; send the request again."
    case .decodedBytesMax: "Raise CodingLimits.decodedBytesMax if the origin is trusted."
    case .expansionRatioMax: "Raise CodingLimits.expansionRatioMax if the origin is trusted."
    case .outOfMemory: "Decode or encode fewer bodies at once."
    case .internalFailure: "Check which zlib and brotli libraries are installed."
    }
  }
}
