// `URLEncodedFormEncoder`: encodes `Encodable` values as `application/x-www-form-urlencoded`.

public import Foundation
import Synchronization

/// Encodes values as percent-encoded `key=value` pairs, for a query or a form body.
///
/// A nested value has a key path (`user[name]`); the keys of an array's elements depend on `ArrayEncoding`. With
/// `alphabetizeKeyValuePairs`, the pairs are sorted on every level, so that the output is stable although dictionaries
/// are unordered.
public final class URLEncodedFormEncoder {
  /// The reason that a value could not be encoded.
  public enum Error: LocalizedError {
    /// The root is an array or a single value, so it has no keys; the text describes it.
    case invalidRootObject(String)

    /// The failure and a remedy, in English.
    public var errorDescription: String? {
      switch self {
      case .invalidRootObject(let description): description
      }
    }
  }

  /// Whether pairs are sorted on every level, rather than written in the order of encoding.
  public let alphabetizeKeyValuePairs: Bool
  /// The keys of an array's elements.
  public let arrayEncoding: ArrayEncoding
  /// The spelling of `Bool` values.
  public let boolEncoding: BoolEncoding
  /// The format of `Data` values.
  public let dataEncoding: DataEncoding
  /// The format of `Date` values.
  public let dateEncoding: DateEncoding
  /// How a pair's complete key, including its path, is converted.
  public let keyEncoding: KeyEncoding
  /// How the key of a nested value is appended to its parent's.
  public let keyPathEncoding: KeyPathEncoding
  /// The representation of `nil`.
  public let nilEncoding: NilEncoding
  /// The representation of a space.
  public let spaceEncoding: SpaceEncoding

  /// The characters that aren't percent-encoded. Only ASCII characters count; all others are always escaped. A space is
  /// written as ``spaceEncoding`` says.
  public var allowedCharacters: CharacterSet {
    get { escaping.withLock { $0.allowed } }
    set {
      let replacement = Escaping(newValue)
      escaping.withLock { $0 = replacement }
    }
  }

  // Locked, because a parameter encoder shares one form encoder among all requests.
  private let escaping: Mutex<Escaping>

  /// Creates an encoder.
  public init(
    alphabetizeKeyValuePairs: Bool = true,
    arrayEncoding: ArrayEncoding = .brackets,
    boolEncoding: BoolEncoding = .numeric,
    dataEncoding: DataEncoding = .base64,
    dateEncoding: DateEncoding = .deferredToDate,
    keyEncoding: KeyEncoding = .useDefaultKeys,
    keyPathEncoding: KeyPathEncoding = .brackets,
    nilEncoding: NilEncoding = .dropKey,
    spaceEncoding: SpaceEncoding = .percentEscaped,
    allowedCharacters: CharacterSet = .afURLQueryAllowed
  ) {
    self.alphabetizeKeyValuePairs = alphabetizeKeyValuePairs
    self.arrayEncoding = arrayEncoding
    self.boolEncoding = boolEncoding
    self.dataEncoding = dataEncoding
    self.dateEncoding = dateEncoding
    self.keyEncoding = keyEncoding
    self.keyPathEncoding = keyPathEncoding
    self.nilEncoding = nilEncoding
    self.spaceEncoding = spaceEncoding
    escaping = Mutex(Escaping(allowedCharacters))
  }

  /// Encodes `value` as text. Its root must be keyed: a struct, a class or a dictionary.
  ///
  /// - Throws: `Error.invalidRootObject` for an array or a single value, or the error of the value's `encode(to:)` or
  ///   of a custom closure.
  public func encode(_ value: any Encodable) throws -> String {
    let root = URLEncodedFormComponent()
    try URLEncodedFormValueEncoder(component: root, form: self, codingPath: []).encode(value)

    switch root.content {
    case .empty:
      return ""
    case .pairs(let pairs):
      let table = escaping.withLock { $0.table }
      return URLEncodedFormSerializer(form: self, table: table).serialize(pairs)
    case .text:
      throw Error.invalidRootObject("The root is a single value. Wrap it in a struct or a dictionary to give it a key.")
    case .list(let elements):
      throw Error.invalidRootObject(
        "The root is an array of \(elements.count). Wrap it in a struct or a dictionary to give it a key.")
    }
  }

  /// Encodes `value` as ASCII bytes. Its root must be keyed.
  ///
  /// - Throws: The errors of `encode(_:) -> String`.
  public func encode(_ value: any Encodable) throws -> Data {
    let text: String = try encode(value)
    return Data(text.utf8)
  }
}

/// The allowed characters, and the byte table created from them once.
private struct Escaping {
  let allowed: CharacterSet
  let table: PercentEscapeTable

  init(_ allowed: CharacterSet) {
    self.allowed = allowed
    table = allowed == .afURLQueryAllowed ? .formDefault : PercentEscapeTable(allowed)
  }
}
