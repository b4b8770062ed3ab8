// LupineJSON's public types with Foundation's settings, types and Data.

public import Foundation
@_exported public import LupineJSON

extension LupineJSONDecoder {
  /// Creates a decoder with the strategies and the `userInfo` of a `JSONDecoder`, which also decodes `Date`, `Data`, `URL` and
  /// `Decimal` as that one does. JSON5 and documents without braces aren't supported.
  ///
  /// Requests use LupineJSON for each plain `JSONDecoder` anyway, and Foundation's decoder if LupineJSON fails. This decoder never
  /// uses Foundation's, so that a document which can't be decoded isn't decoded twice.
  public init(_ decoder: JSONDecoder) {
    self.init(options: FoundationJSON.options(of: decoder) ?? JSONDecodingOptions())
  }

  /// Decodes a value from a document in UTF-8, with or without a byte order mark.
  ///
  /// - Throws: `DecodingError`, or an error of the type's initializer.
  public func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { try decode(type, from: data.span) }
}

extension LupineJSONEncoder {
  /// Creates an encoder with the settings of a `JSONEncoder`, which also encodes `Date`, `Data`, `URL` and `Decimal` as that one
  /// does.
  ///
  /// Requests use LupineJSON for each plain `JSONEncoder` anyway, and Foundation's encoder if LupineJSON fails. This encoder never
  /// uses Foundation's.
  public init(_ encoder: JSONEncoder) {
    self.init(options: FoundationJSON.options(of: encoder) ?? JSONEncodingOptions())
  }
}
