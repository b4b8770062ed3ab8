// LupineJSONEncoder: the public encoder.

/// Encodes values as JSON (RFC 8259) several times faster than Foundation's `JSONEncoder`, without Foundation.
///
/// ```swift
/// let bytes = try LupineJSONEncoder().encode(user)
/// ```
///
/// A document is one that Foundation's encoder could have written with the same settings: keys are in the order of encoding, unless
/// they are sorted. There is no special treatment of Foundation's types, such as `Date`, unless the encoder has been created with
/// Foundation's, by an initializer in the module Lupine.
public struct LupineJSONEncoder: Sendable {
  /// The format of documents.
  public struct OutputFormatting: OptionSet, Sendable {
    /// The bits of the options, which are Foundation's.
    public let rawValue: UInt

    /// Creates a format from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Each element has a line, indented by two spaces for each level.
    public static let prettyPrinted = OutputFormatting(rawValue: 1 << 0)
    /// Keys are sorted by their bytes in UTF-8.
    public static let sortedKeys = OutputFormatting(rawValue: 1 << 1)
    /// Slashes are written as `/`, and not as `\/`.
    public static let withoutEscapingSlashes = OutputFormatting(rawValue: 1 << 3)
  }

  /// How keys of a type become those of a document. Keys of dictionaries stay as they are.
  public enum KeyEncodingStrategy: Sendable {
    /// Keys are the same. This is the default.
    case useDefaultKeys
    /// From `camelCase` to `snake_case`. Keys must be ASCII.
    case convertToSnakeCase
    /// The closure gets the path of a key, and returns the key that takes the place of the last one.
    case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
  }

  /// How infinite numbers and NaN are encoded.
  public enum NonConformingFloatEncodingStrategy: Sendable {
    /// They are an error. This is the default.
    case `throw`
    /// As these strings.
    case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  package var options = JSONEncodingOptions()

  /// Creates an encoder with the default strategies, which writes compact documents.
  public init() {}

  package init(options: JSONEncodingOptions) { self.options = options }

  /// The format of documents. Compact by default.
  public var outputFormatting: OutputFormatting {
    get {
      var format: OutputFormatting = []
      if options.isPretty { format.insert(.prettyPrinted) }
      if options.sortsKeys { format.insert(.sortedKeys) }
      if !options.escapesSlashes { format.insert(.withoutEscapingSlashes) }
      return format
    }
    set {
      options.isPretty = newValue.contains(.prettyPrinted)
      options.sortsKeys = newValue.contains(.sortedKeys)
      options.escapesSlashes = !newValue.contains(.withoutEscapingSlashes)
    }
  }

  /// How keys of a type become those of a document.
  public var keyEncodingStrategy: KeyEncodingStrategy {
    get {
      switch options.keys {
      case .none: .useDefaultKeys
      case .snakeCase: .convertToSnakeCase
      case .custom(let convert): .custom(convert)
      }
    }
    set {
      switch newValue {
      case .useDefaultKeys: options.keys = .none
      case .convertToSnakeCase: options.keys = .snakeCase
      case .custom(let convert): options.keys = .custom(convert)
      }
    }
  }

  /// How infinite numbers and NaN are encoded.
  public var nonConformingFloatEncodingStrategy: NonConformingFloatEncodingStrategy {
    get {
      guard let texts = options.nonFinite else { return .throw }
      return .convertToString(
        positiveInfinity: texts.positiveInfinity, negativeInfinity: texts.negativeInfinity, nan: texts.nan)
    }
    set {
      switch newValue {
      case .throw: options.nonFinite = nil
      case .convertToString(let positive, let negative, let nan):
        options.nonFinite = JSONNonFiniteTexts(positiveInfinity: positive, negativeInfinity: negative, nan: nan)
      }
    }
  }

  /// Values for the types' methods `encode(to:)`.
  public var userInfo: [CodingUserInfoKey: any Sendable] {
    get { options.userInfo }
    set { options.userInfo = newValue }
  }

  /// Encodes a value as a document in UTF-8.
  ///
  /// - Throws: `EncodingError.invalidValue` for a value that can't be written, or an error of the type's method. A type may write
  ///   to its containers only in the order of the document, once for each key.
  public func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
    do {
      if let bytes = try JSONWriting.encode(value, options, { Array($0) }) { return bytes }
    } catch JSONError.unsupported {}
    throw EncodingError.invalidValue(
      value,
      .init(
        codingPath: [],
        debugDescription: """
          The value writes nothing, an infinite number or NaN, two values for a key, to containers in another order than that of \
          the document, or containers nested more than \(JSONOutput.depthMax) levels deep, or it keeps an encoder.
          """))
  }
}
