// URLEncodedFormEncoder+Options: the options of `URLEncodedFormEncoder`, and the conversion of values to text by each option.

public import Foundation

extension URLEncodedFormEncoder {
  /// The format of the key under which each element of an array is written, such as `key[]=1`.
  public enum ArrayEncoding {
    /// Writes each element of an array under the key with empty brackets: `key[]=1&key[]=2`.
    case brackets
    /// Writes each element of an array under the plain key, without brackets: `key=1&key=2`.
    case noBrackets
    /// Writes each element of an array under the key with the element's index: `key[0]=1&key[1]=2`.
    case indexInBrackets
    /// Writes each element of an array under the key that the closure returns. The closure receives the array's key and the
    /// element's index, counted from 0.
    case custom((_ key: String, _ index: Int) -> String)

    func key(_ key: String, at index: Int) -> String {
      switch self {
      case .brackets: "\(key)[]"
      case .noBrackets: key
      case .indexInBrackets: "\(key)[\(index)]"
      case .custom(let form): form(key, index)
      }
    }
  }

  /// The format of `Bool` values: `1` and `0`, or `true` and `false`.
  public enum BoolEncoding {
    /// Writes `true` as `1`, and `false` as `0`.
    case numeric
    /// Writes `true` and `false` as these words.
    case literal

    func text(_ value: Bool) -> String {
      switch self {
      case .numeric: value ? "1" : "0"
      case .literal: value ? "true" : "false"
      }
    }
  }

  /// The format of `Data` values, such as Base64 text.
  public enum DataEncoding {
    /// Writes `Data` as it encodes itself: as an array of byte values.
    case deferredToData
    /// Writes `Data` as Base64 text (RFC 4648 §4).
    case base64
    /// Writes `Data` as the text that the closure returns.
    case custom((Data) throws -> String)

    /// Returns the text for `data`, or nil if `data` is written as it encodes itself.
    func text(_ data: Data) throws -> String? {
      switch self {
      case .deferredToData: nil
      case .base64: data.base64EncodedString()
      case .custom(let form): try form(data)
      }
    }
  }

  /// The format of `Date` values, such as `2001-01-01T00:02:03Z`.
  public enum DateEncoding {
    /// Writes a date as it encodes itself: as the number of seconds since the start of 2001, UTC.
    case deferredToDate
    /// Writes a date as the number of seconds since the start of 1970, UTC, with a fraction.
    case secondsSince1970
    /// Writes a date as the number of milliseconds since the start of 1970, UTC, with a fraction.
    case millisecondsSince1970
    /// Writes a date and time in UTC, in whole seconds (RFC 3339), such as `2001-01-01T00:02:03Z`.
    case iso8601
    /// Writes a date as the text that the formatter returns.
    case formatted(DateFormatter)
    /// Writes a date as the text that the closure returns.
    case custom((Date) throws -> String)

    /// Returns the text for `date`, or nil if `date` is written as it encodes itself.
    func text(_ date: Date) throws -> String? {
      switch self {
      case .deferredToDate: nil
      case .secondsSince1970: date.timeIntervalSince1970.description
      case .millisecondsSince1970: (date.timeIntervalSince1970 * 1_000).description
      case .iso8601: date.formatted(.iso8601)
      case .formatted(let formatter): formatter.string(from: date)
      case .custom(let form): try form(date)
      }
    }
  }

  /// The conversion of the keys of `key=value` pairs, before percent-encoding. A nested value's key is converted as a whole,
  /// including the parents' keys and the brackets.
  public enum KeyEncoding {
    /// Leaves each key unchanged.
    case useDefaultKeys
    /// Converts each key to snake case: `oneTwoThree` becomes `one_two_three`.
    case convertToSnakeCase
    /// Converts each key to kebab case: `oneTwoThree` becomes `one-two-three`.
    case convertToKebabCase
    /// Capitalizes the first letter of each key: `oneTwoThree` becomes `OneTwoThree`.
    case capitalized
    /// Converts each key to uppercase: `oneTwoThree` becomes `ONETWOTHREE`.
    case uppercased
    /// Converts each key to lowercase: `oneTwoThree` becomes `onetwothree`.
    case lowercased
    /// Converts each key to the result of the closure.
    case custom((String) -> String)

    func key(_ key: String) -> String {
      switch self {
      case .useDefaultKeys: key
      case .convertToSnakeCase: camelCaseWords(key).joined(separator: "_")
      case .convertToKebabCase: camelCaseWords(key).joined(separator: "-")
      case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
      case .uppercased: key.uppercased()
      case .lowercased: key.lowercased()
      case .custom(let form): form(key)
      }
    }
  }

  /// The format in which a nested value's key is appended to its parent's key, such as `parent[child]`.
  public struct KeyPathEncoding: Sendable {
    /// Appends a nested value's key in brackets, as in `parent[child]`.
    public static let brackets = KeyPathEncoding { "[\($0)]" }
    /// Appends a dot and a nested value's key, as in `parent.child`.
    public static let dots = KeyPathEncoding { ".\($0)" }

    let suffix: @Sendable (String) -> String

    /// Creates a format from a closure. The closure receives a nested value's key, and returns the text to append to its parent's
    /// key.
    @preconcurrency
    public init(encoding: @escaping @Sendable (_ subkey: String) -> String) {
      suffix = encoding
    }
  }

  /// The format of nil values, such as `key=null`.
  public struct NilEncoding: Sendable {
    /// Omits a nil value together with its key.
    public static let dropKey = NilEncoding { nil }
    /// Writes a nil value as its key with an empty value: `key=`.
    public static let dropValue = NilEncoding { "" }
    /// Writes a nil value as `null`: `key=null`.
    public static let null = NilEncoding { "null" }

    let text: @Sendable () -> String?

    /// Creates a format from a closure that returns the text for a nil value. If the closure returns nil, the key is omitted too.
    @preconcurrency
    public init(encoding: @escaping @Sendable () -> String?) {
      text = encoding
    }
  }

  /// The format of spaces in keys and values: `%20` or `+`.
  public enum SpaceEncoding {
    /// Writes a space as `%20`.
    case percentEscaped
    /// Writes a space as `+`, as HTML forms do.
    case plusReplaced
  }
}

/// Splits a camelCase key into words, and returns the words in lowercase.
///
/// A capital letter starts a word. In a run of capitals, the last one before a lowercase letter also starts a word, so that
/// `myURLPath` becomes my, url, path. JSONEncoder's snake case splits keys in the same way, so servers expect it.
private func camelCaseWords(_ key: String) -> [String] {
  let characters = Array(key)
  var words: [String] = []
  var wordStart = 0
  var next = 1

  func endWord(at end: Int) {
    words.append(String(characters[wordStart..<end]).lowercased())
    wordStart = end
  }

  while next < characters.count, let capital = characters[next...].firstIndex(where: \.isUppercase) {
    endWord(at: capital)
    guard let lowercase = characters[capital...].firstIndex(where: \.isLowercase) else { break }
    if lowercase > capital + 1 { endWord(at: lowercase - 1) }
    next = lowercase + 1
  }
  if wordStart < characters.count { endWord(at: characters.count) }
  return words
}
