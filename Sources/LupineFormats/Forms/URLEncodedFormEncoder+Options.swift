// URLEncodedFormEncoder+Options: the options of `URLEncodedFormEncoder`, and the conversion of values to text by each option.

public import Foundation

extension URLEncodedFormEncoder {
  /// The format of the keys under which the elements of an array are written.
  public enum ArrayEncoding {
    /// The key is `key[]` for every element.
    case brackets
    /// The key is `key` for every element.
    case noBrackets
    /// The keys are `key[0]`, `key[1]` and so on.
    case indexInBrackets
    /// The result of the closure, which receives the array's key and the element's index, counted from 0.
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

  /// The text that is written for a `Bool` value.
  public enum BoolEncoding {
    /// Writes `true` as `1` and `false` as `0`.
    case numeric
    /// Writes `true` as `true` and `false` as `false`.
    case literal

    func text(_ value: Bool) -> String {
      switch self {
      case .numeric: value ? "1" : "0"
      case .literal: value ? "true" : "false"
      }
    }
  }

  /// The text that is written for a `Data` value.
  public enum DataEncoding {
    /// An array of byte values: `Data` encodes itself.
    case deferredToData
    /// Base64 text (RFC 4648 §4).
    case base64
    /// The closure's result for the data.
    case custom((Data) throws -> String)

    /// Returns the text for `data`, or nil if `data` encodes itself.
    func text(_ data: Data) throws -> String? {
      switch self {
      case .deferredToData: nil
      case .base64: data.base64EncodedString()
      case .custom(let form): try form(data)
      }
    }
  }

  /// The text that is written for a `Date` value.
  public enum DateEncoding {
    /// The number of seconds since the start of 2001, UTC: `Date` encodes itself.
    case deferredToDate
    /// Seconds since the start of 1970, UTC, with a fraction.
    case secondsSince1970
    /// Milliseconds since the start of 1970, UTC, with a fraction.
    case millisecondsSince1970
    /// The date and time in UTC in whole seconds (RFC 3339), such as `2001-01-01T00:02:03Z`.
    case iso8601
    /// The formatter's result for the date.
    case formatted(DateFormatter)
    /// The closure's result for the date.
    case custom((Date) throws -> String)

    /// Returns the text for `date`, or nil if `date` encodes itself.
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

  /// The conversion of a pair's complete key, before the key is percent-encoded. The complete key includes the parents' keys and
  /// the brackets.
  public enum KeyEncoding {
    /// The key is unchanged.
    case useDefaultKeys
    /// `oneTwoThree` becomes `one_two_three`.
    case convertToSnakeCase
    /// `oneTwoThree` becomes `one-two-three`.
    case convertToKebabCase
    /// `oneTwoThree` becomes `OneTwoThree`.
    case capitalized
    /// `oneTwoThree` becomes `ONETWOTHREE`.
    case uppercased
    /// `oneTwoThree` becomes `onetwothree`.
    case lowercased
    /// The closure's result for the key.
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

  /// The format of a nested value's key, which is appended to the key of its parent.
  public struct KeyPathEncoding: Sendable {
    /// The nested value's key in brackets, as in `parent[child]`.
    public static let brackets = KeyPathEncoding { "[\($0)]" }
    /// A dot and the nested value's key, as in `parent.child`.
    public static let dots = KeyPathEncoding { ".\($0)" }

    let suffix: @Sendable (String) -> String

    /// Creates an encoding from a closure that receives a child's key and returns the text to append to its parent's key.
    @preconcurrency
    public init(encoding: @escaping @Sendable (_ subkey: String) -> String) {
      suffix = encoding
    }
  }

  /// The rule by which nil values are encoded.
  public struct NilEncoding: Sendable {
    /// Omits a nil value together with its key.
    public static let dropKey = NilEncoding { nil }
    /// Encodes nil as a key with an empty value.
    public static let dropValue = NilEncoding { "" }
    /// Encodes nil as `null`.
    public static let null = NilEncoding { "null" }

    let text: @Sendable () -> String?

    /// Creates an encoding from a closure that returns the text to send for a nil value. If the closure returns nil, the key is
    /// omitted.
    @preconcurrency
    public init(encoding: @escaping @Sendable () -> String?) {
      text = encoding
    }
  }

  /// The rule by which spaces are encoded.
  public enum SpaceEncoding {
    /// Encodes a space as `%20`.
    case percentEscaped
    /// Encodes a space as `+`, as HTML forms do.
    case plusReplaced
  }
}

/// Returns the words of a camelCase key in lowercase.
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
