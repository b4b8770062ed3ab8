// FoundationJSON: decodes and encodes with the settings of Foundation's JSONDecoder and JSONEncoder, in less time.

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
    guard let options = options(of: decoder) else { return nil }
    // JSONDecoder stores the property in its `userInfo`, so an empty one needs no look-up.
    guard options.userInfo.isEmpty || !decoder.assumesTopLevelDictionary else { return nil }
    return try? JSONDecoding.decode(type, from: data.span, options)
  }

  /// Returns the strategies of a decoder, or nil if there is an unknown one.
  static func options(of decoder: JSONDecoder) -> JSONDecodingOptions? {
    var options = JSONDecodingOptions()
    options.userInfo = decoder.userInfo
    switch decoder.keyDecodingStrategy {
    case .useDefaultKeys: break
    case .convertFromSnakeCase: options.keys = .fromSnakeCase { SnakeCase.convert($0, capitalized: \.capitalized) }
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
    return options
  }

  /// Encodes a value with the settings of `encoder`. If LupineJSON fails for any reason, `encoder` encodes the value again, and its
  /// document or error is the result.
  package static func encode<T: Encodable>(_ value: T, with encoder: JSONEncoder) throws -> Data {
    if let data = fastData(value, with: encoder) { return data }
    return try encoder.encode(value)
  }

  /// Encodes a value without Foundation's encoder. Returns nil if that isn't possible: a subclass may do anything, and all errors
  /// are left to Foundation.
  package static func fastData<T: Encodable>(_ value: T, with encoder: JSONEncoder) -> Data? {
    guard Swift.type(of: encoder) == JSONEncoder.self,
      encoder.outputFormatting.isSubset(of: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]),
      let options = options(of: encoder)
    else { return nil }
    return try? JSONWriting.encode(value, options) { Data(buffer: $0) }
  }

  /// Returns the settings of an encoder, without unknown options of its format, or nil if there is an unknown strategy.
  static func options(of encoder: JSONEncoder) -> JSONEncodingOptions? {
    var options = JSONEncodingOptions()
    let formatting = encoder.outputFormatting
    options.isPretty = formatting.contains(.prettyPrinted)
    options.sortsKeys = formatting.contains(.sortedKeys)
    options.escapesSlashes = !formatting.contains(.withoutEscapingSlashes)
    options.userInfo = encoder.userInfo
    switch encoder.keyEncodingStrategy {
    case .useDefaultKeys: break
    case .convertToSnakeCase: options.keys = .snakeCase
    case .custom(let convert): options.keys = .custom(convert)
    @unknown default: return nil
    }
    switch encoder.nonConformingFloatEncodingStrategy {
    case .throw: break
    case .convertToString(let positive, let negative, let nan):
      options.nonFinite = JSONNonFiniteTexts(positiveInfinity: positive, negativeInfinity: negative, nan: nan)
    @unknown default: return nil
    }
    options.special = FoundationTypesWriting(dates: encoder.dateEncodingStrategy, data: encoder.dataEncodingStrategy)
    return options
  }

  /// Writes an array or a dictionary as `JSONSerialization` does. Returns nil for values that LupineJSON doesn't know, for invalid
  /// ones, and for keys whose order only Foundation knows.
  package static func fastData(object: Any, options: JSONSerialization.WritingOptions) -> Data? {
    guard options.isSubset(of: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]) else { return nil }
    var writing = JSONEncodingOptions()
    writing.isPretty = options.contains(.prettyPrinted)
    writing.sortsKeys = options.contains(.sortedKeys)
    writing.escapesSlashes = !options.contains(.withoutEscapingSlashes)
    return JSONWriting.write(object: object, writing) { value in
      if let decimal = value as? Decimal, type(of: value) == Decimal.self, decimal.isFinite {
        return .number(decimal.description)
      }
      return type(of: value) == NSNull.self ? .null : nil
    } _: {
      Data(buffer: $0)
    }
  }
}
