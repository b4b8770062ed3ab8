// `URLEncodedFormEncoder`: encodes `Encodable` values as `application/x-www-form-urlencoded`.

public import Foundation
import Synchronization

/// Encodes values as percent-encoded `key=value` pairs, for the query of a URL or the body of a form.
///
/// The key of a nested value contains the keys of its parents, as in `user[name]`. ``arrayEncoding`` determines the keys of an
/// array's elements. If ``alphabetizeKeyValuePairs`` is true, the pairs are sorted on every level, so that the output doesn't
/// depend on the order of a dictionary.
public final class URLEncodedFormEncoder {
  /// The reason why a value could not be encoded as a form.
  public enum Error: LocalizedError {
    /// The root value was encoded as an array or a single value, so it has no keys. The associated value is a description of the
    /// problem.
    case invalidRootObject(String)

    /// A description of the failure and a remedy, in English.
    public var errorDescription: String? {
      switch self {
      case .invalidRootObject(let description): description
      }
    }
  }

  /// Whether the `key=value` pairs are sorted alphabetically on every level. True by default. If false, they are written in the
  /// order in which they were encoded.
  public let alphabetizeKeyValuePairs: Bool
  /// The format of the key under which each element of an array is written. `key[]=1` by default.
  public let arrayEncoding: ArrayEncoding
  /// The format of `Bool` values: `1` and `0` (the default), or `true` and `false`.
  public let boolEncoding: BoolEncoding
  /// The format of `Data` values. Base64 text by default.
  public let dataEncoding: DataEncoding
  /// The format of `Date` values. By default, the number of seconds since the start of 2001, UTC.
  public let dateEncoding: DateEncoding
  /// The conversion of the keys of `key=value` pairs, such as to snake case. None by default. A nested value's key is converted as
  /// a whole, including the parents' keys.
  public let keyEncoding: KeyEncoding
  /// The format in which a nested value's key is appended to its parent's key. `parent[child]` by default.
  public let keyPathEncoding: KeyPathEncoding
  /// The format of nil values, such as `key=null`. By default, a nil value is omitted together with its key.
  public let nilEncoding: NilEncoding
  /// The format of spaces in keys and values: `%20` (the default) or `+`.
  public let spaceEncoding: SpaceEncoding

  /// The characters that aren't percent-encoded. Characters outside ASCII are always encoded.
  /// ``spaceEncoding`` determines how a space is written.
  public var allowedCharacters: CharacterSet {
    get { escaping.withLock { $0.allowed } }
    set {
      let replacement = Escaping(newValue)
      escaping.withLock { $0 = replacement }
    }
  }

  // The lock is needed because a parameter encoder uses one form encoder for all requests.
  private let escaping: Mutex<Escaping>

  /// Creates a form encoder. Each parameter sets the property of the same name.
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

  /// Returns `value` as the text of a URL-encoded form. The value must encode itself into a keyed container, as structs, classes
  /// and dictionaries do.
  ///
  /// - Throws: `Error.invalidRootObject` for an array or a single value, or the error that the
  ///   value's `encode(to:)` or a custom closure throws.
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
      throw Error.invalidRootObject(
        "The form's root is a single value without a key. Wrap it in a struct or a dictionary.")
    case .list(let elements):
      throw Error.invalidRootObject(
        "The form's root is an array of length \(elements.count) without a key. Wrap it in a struct or a dictionary.")
    }
  }

  /// Returns `value` as a URL-encoded form in ASCII bytes. The value must encode itself into a keyed container, as structs, classes
  /// and dictionaries do.
  ///
  /// - Throws: The errors of `encode(_:) -> String`.
  public func encode(_ value: any Encodable) throws -> Data {
    let text: String = try encode(value)
    return Data(text.utf8)
  }
}

/// The characters that aren't percent-encoded, and the percent-encoding table that was created from them.
private struct Escaping {
  let allowed: CharacterSet
  let table: PercentEscapeTable

  init(_ allowed: CharacterSet) {
    self.allowed = allowed
    table = allowed == .afURLQueryAllowed ? .formDefault : PercentEscapeTable(allowed)
  }
}

extension CharacterSet {
  /// The characters that `URLEncodedFormEncoder` doesn't percent-encode by default. These are the characters of a query (RFC 3986
  /// §3.4) except for the general delimiters and sub-delimiters of §2.2, which could end a key or a value. The delimiters `?` and
  /// `/` aren't encoded either, as §3.4 suggests.
  public static let afURLQueryAllowed = CharacterSet.urlQueryAllowed
    .subtracting(CharacterSet(charactersIn: ":#[]@" + "!$&'()*+,;="))
}
