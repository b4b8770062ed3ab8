// The options of URLEncodedFormEncoder and how each turns one value into text.

public import Foundation

extension URLEncodedFormEncoder {
  /// How the elements of an array are keyed.
  public enum ArrayEncoding {
    /// `key[]`, for every element.
    case brackets
    /// `key`, for every element.
    case noBrackets
    /// `key[0]`, `key[1]` and so on.
    case indexInBrackets
    /// Whatever the closure makes of the key and the index, which counts from 0.
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

  /// How `Bool` values are written.
  public enum BoolEncoding {
    /// `1` and `0`.
    case numeric
    /// `true` and `false`.
    case literal

    func text(_ value: Bool) -> String {
      switch self {
      case .numeric: value ? "1" : "0"
      case .literal: value ? "true" : "false"
      }
    }
  }

  /// How `Data` values are written.
  public enum DataEncoding {
    /// As `Data` encodes itself: an array of byte values.
    case deferredToData
    /// As Base64 (RFC 4648 §4).
    case base64
    /// Whatever the closure makes of it.
    case custom((Data) throws -> String)

    /// The text of `data`, or `nil` if it is to encode itself.
    func text(_ data: Data) throws -> String? {
      switch self {
      case .deferredToData: nil
      case .base64: data.base64EncodedString()
      case .custom(let form): try form(data)
      }
    }
  }

  /// How `Date` values are written.
  public enum DateEncoding {
    /// As `Date` encodes itself: seconds since the start of 2001, UTC.
    case deferredToDate
    /// Seconds since the start of 1970, UTC, with a fraction.
    case secondsSince1970
    /// Milliseconds since the start of 1970, UTC, with a fraction.
    case millisecondsSince1970
    /// Internet date and time in UTC to the second (RFC 3339), as in `2001-01-01T00:02:03Z`.
    case iso8601
    /// As the formatter writes it.
    case formatted(DateFormatter)
    /// Whatever the closure makes of it.
    case custom((Date) throws -> String)

    /// The text of `date`, or `nil` if it is to encode itself.
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

  /// How the complete key of a pair, its path and brackets included, is rewritten before it is escaped.
  public enum KeyEncoding {
    /// Not at all.
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
    /// Whatever the closure makes of it.
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

  /// How the key of a nested value is joined to its parent's.
  public struct KeyPathEncoding: Sendable {
    /// `parent[child]`.
    public static let brackets = KeyPathEncoding { "[\($0)]" }
    /// `parent.child`.
    public static let dots = KeyPathEncoding { ".\($0)" }

    let suffix: @Sendable (String) -> String

    /// Makes an encoding whose closure returns what is appended to the parent's key for a child's key.
    @preconcurrency
    public init(encoding: @escaping @Sendable (_ subkey: String) -> String) {
      suffix = encoding
    }
  }

  /// How `nil` is written.
  public struct NilEncoding: Sendable {
    /// The key is left out.
    public static let dropKey = NilEncoding { nil }
    /// The key stays, with an empty value.
    public static let dropValue = NilEncoding { "" }
    /// The value is `null`.
    public static let null = NilEncoding { "null" }

    let text: @Sendable () -> String?

    /// Makes an encoding whose closure returns the value's text, or `nil` to leave the key out.
    @preconcurrency
    public init(encoding: @escaping @Sendable () -> String?) {
      text = encoding
    }
  }

  /// How a space is written.
  public enum SpaceEncoding {
    /// `%20`.
    case percentEscaped
    /// `+`, as HTML forms do.
    case plusReplaced
  }
}

/// The words of a camelCase key in lower case.
///
/// A capital starts a word. In a run of capitals the last character before the next lowercase letter does, so that
/// `myURLPath` gives my, url, path: the split that JSONEncoder's snake case makes, which servers know.
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
