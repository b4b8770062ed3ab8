// FoundationJSON: decodes with the settings of Foundation's JSONDecoder, in less time.

package import Foundation
internal import LupineJSON

package enum FoundationJSON {
  /// Decodes a value with the settings of `decoder`. If LupineJSON fails for any reason, `decoder` decodes the document again, and
  /// its value or error is the result.
  package static func decode<T: Decodable>(_ type: T.Type, from data: Data, with decoder: JSONDecoder) throws -> T {
    if let value = fastValue(type, from: data, with: decoder) { return value }
    return try decoder.decode(type, from: data)
  }

  /// Decodes a value without Foundation's decoder. Returns nil if that isn't possible, which doesn't mean that the document is
  /// wrong: a subclass may do anything, JSON5 and other encodings than UTF-8 are left to Foundation, and so are all errors.
  package static func fastValue<T: Decodable>(_ type: T.Type, from data: Data, with decoder: JSONDecoder) -> T? {
    guard Swift.type(of: decoder) == JSONDecoder.self, !decoder.allowsJSON5 else { return nil }
    var options = JSONDecodingOptions()
    options.userInfo = decoder.userInfo
    // The property is stored in `userInfo`.
    guard options.userInfo.isEmpty || !decoder.assumesTopLevelDictionary else { return nil }
    switch decoder.keyDecodingStrategy {
    case .useDefaultKeys: break
    case .convertFromSnakeCase: options.keys = .fromSnakeCase { camelCase($0) }
    case .custom(let convert): options.keys = .custom(convert)
    @unknown default: return nil
    }
    switch decoder.nonConformingFloatDecodingStrategy {
    case .throw: break
    case .convertFromString(let positive, let negative, let nan):
      options.nonFinite = JSONNonFiniteTexts(positiveInfinity: positive, negativeInfinity: negative, nan: nan)
    @unknown default: return nil
    }
    options.special = FoundationTypes(dates: decoder.dateDecodingStrategy, data: decoder.dataDecodingStrategy)
    return try? JSONDecoding.decode(type, from: data.span, options)
  }

  /// Converts a key as `JSONDecoder.KeyDecodingStrategy.convertFromSnakeCase` does.
  static func camelCase(_ key: String) -> String {
    guard let first = key.firstIndex(where: { $0 != "_" }), let last = key.lastIndex(where: { $0 != "_" }) else {
      return key
    }
    let words = key[first...last].split(separator: "_")
    guard words.count > 1 else { return key }
    let converted = words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
    return key[..<first] + converted + key[key.index(after: last)...]
  }
}
