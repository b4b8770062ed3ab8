// Encodes an Encodable value as `application/x-www-form-urlencoded`: key=value pairs joined by ampersands.

public import Foundation
import Synchronization

/// Encodes values as percent-escaped `key=value` pairs, for a query or a form body.
///
/// Nested values get a key path (`user[name]`), elements of an array a key that `ArrayEncoding` forms. With
/// `alphabetizeKeyValuePairs` the pairs are sorted on every level, which keeps the output stable although a
/// dictionary's order is not.
public final class URLEncodedFormEncoder {
  /// Why a value could not be encoded.
  public enum Error: LocalizedError {
    /// The root is an array or a single value, so there is no key to encode it under. The text says what it was.
    case invalidRootObject(String)

    /// What happened and what to do about it.
    public var errorDescription: String? {
      switch self {
      case .invalidRootObject(let description): description
      }
    }
  }

  /// Whether pairs are sorted on every level, instead of standing in the order in which they were encoded.
  public let alphabetizeKeyValuePairs: Bool
  /// How the elements of an array are keyed.
  public let arrayEncoding: ArrayEncoding
  /// How `Bool` values are written.
  public let boolEncoding: BoolEncoding
  /// How `Data` values are written.
  public let dataEncoding: DataEncoding
  /// How `Date` values are written.
  public let dateEncoding: DateEncoding
  /// How the complete key of a pair, its path included, is rewritten.
  public let keyEncoding: KeyEncoding
  /// How the key of a nested value is joined to its parent's.
  public let keyPathEncoding: KeyPathEncoding
  /// How `nil` is written.
  public let nilEncoding: NilEncoding
  /// How a space is written.
  public let spaceEncoding: SpaceEncoding

  /// The characters that are not percent-escaped. Only ASCII members count: everything else is always escaped, and a
  /// space is written as `spaceEncoding` says.
  public var allowedCharacters: CharacterSet {
    get { escaping.withLock { $0.allowed } }
    set {
      let replacement = Escaping(newValue)
      escaping.withLock { $0 = replacement }
    }
  }

  // One encoder is shared by every request that a parameter encoder serves, so its only variable has a lock.
  private let escaping: Mutex<Escaping>

  /// Makes an encoder.
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

  /// Encodes `value`, whose root has to be keyed: a struct, a class or a dictionary.
  ///
  /// - Throws: `Error.invalidRootObject` for an array or a single value, and whatever the value's `encode(to:)` or a
  ///   custom encoding closure throws.
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
      throw Error.invalidRootObject("The root is a single value; wrap it in a struct or a dictionary to give it a key.")
    case .list(let elements):
      throw Error.invalidRootObject(
        "The root is an array of \(elements.count); wrap it in a struct or a dictionary to give it a key.")
    }
  }

  /// Encodes `value`, whose root has to be keyed, as ASCII bytes.
  ///
  /// - Throws: what `encode(_:) -> String` throws.
  public func encode(_ value: any Encodable) throws -> Data {
    let text: String = try encode(value)
    return Data(text.utf8)
  }
}

/// The characters that stay, and the byte table made of them once.
private struct Escaping {
  let allowed: CharacterSet
  let table: PercentEscapeTable

  init(_ allowed: CharacterSet) {
    self.allowed = allowed
    table = allowed == .afURLQueryAllowed ? .formDefault : PercentEscapeTable(allowed)
  }
}
