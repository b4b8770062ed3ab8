// LupineJSONDecoder: the public decoder.

/// Decodes values from JSON (RFC 8259) several times faster than Foundation's `JSONDecoder`, without Foundation.
///
/// ```swift
/// let users = try LupineJSONDecoder().decode([User].self, from: bytes)
/// ```
///
/// A value is the one that Foundation's decoder returns, and `codingPath`s are the same. There is no special treatment of
/// Foundation's types, such as `Date`, unless the decoder has been created with Foundation's, by an initializer in the module
/// Lupine. Documents are in UTF-8, nested up to 512 levels deep, and shorter than 256 MiB. Of equal keys, the first one counts.
public struct LupineJSONDecoder: Sendable {
  /// How keys of a document become those of a type. Keys of dictionaries stay as they are.
  public enum KeyDecodingStrategy: Sendable {
    /// Keys are the same. This is the default.
    case useDefaultKeys
    /// From `snake_case` to `camelCase`, with underscores at the beginning and end as they are.
    case convertFromSnakeCase
    /// The closure gets the path of a key, and returns the key that takes the place of the last one.
    case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
  }

  /// How infinite numbers and NaN are decoded.
  public enum NonConformingFloatDecodingStrategy: Sendable {
    /// Strings are refused with `DecodingError.typeMismatch`. This is the default.
    case `throw`
    /// These strings are decoded as infinite numbers and NaN.
    case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  package var options = JSONDecodingOptions()

  /// Creates a decoder with the default strategies.
  public init() {}

  package init(options: JSONDecodingOptions) { self.options = options }

  /// How keys of a document become those of a type.
  public var keyDecodingStrategy: KeyDecodingStrategy {
    get {
      switch options.keys {
      case .none: .useDefaultKeys
      case .fromSnakeCase: .convertFromSnakeCase
      case .custom(let convert): .custom(convert)
      }
    }
    set {
      switch newValue {
      case .useDefaultKeys: options.keys = .none
      case .convertFromSnakeCase:
        options.keys = .fromSnakeCase { SnakeCase.convert($0, capitalized: SnakeCase.capitalized) }
      case .custom(let convert): options.keys = .custom(convert)
      }
    }
  }

  /// How infinite numbers and NaN are decoded.
  public var nonConformingFloatDecodingStrategy: NonConformingFloatDecodingStrategy {
    get {
      guard let texts = options.nonFinite else { return .throw }
      return .convertFromString(
        positiveInfinity: texts.positiveInfinity, negativeInfinity: texts.negativeInfinity, nan: texts.nan)
    }
    set {
      switch newValue {
      case .throw: options.nonFinite = nil
      case .convertFromString(let positive, let negative, let nan):
        options.nonFinite = JSONNonFiniteTexts(positiveInfinity: positive, negativeInfinity: negative, nan: nan)
      }
    }
  }

  /// Values for the types' initializers.
  public var userInfo: [CodingUserInfoKey: any Sendable] {
    get { options.userInfo }
    set { options.userInfo = newValue }
  }

  /// Decodes a value from a document in UTF-8, with or without a byte order mark.
  ///
  /// - Throws: `DecodingError`, or an error of the type's initializer. The error for a malformed document doesn't tell the place.
  public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
    try decode(type, from: bytes.span)
  }

  /// Decodes a value from a document in UTF-8, with or without a byte order mark.
  ///
  /// - Throws: `DecodingError`, or an error of the type's initializer. The error for a malformed document doesn't tell the place.
  public func decode<T: Decodable>(_ type: T.Type, from bytes: borrowing Span<UInt8>) throws -> T {
    do {
      if let value = try JSONDecoding.decode(type, from: bytes, options, mayKeepDecoders: true) { return value }
    } catch JSONError.numberIsNotRepresentableInSwift(let number) {
      throw corrupted("The number \(number.prefix(40)) can't be represented by the type.")
    } catch JSONError.unsupported {}
    throw corrupted(
      """
      The document isn't valid JSON in UTF-8 (RFC 8259), is nested more than \(JSONScanner.depthMax) levels deep, has \
      \(JSONScanner.documentBytesMax >> 20) MiB or more, or has a number that isn't exact, such as 0e5.
      """)
  }

  private func corrupted(_ text: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: text))
  }
}
