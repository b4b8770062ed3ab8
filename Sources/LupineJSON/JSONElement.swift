// JSONElement: one value of a document, for types that are decoded in a way of their own.

/// A value for `JSONSpecialTypes`.
package struct JSONElement {
  let decoder: JSONValueDecoder
  let index: Int
  let location: JSONLocation

  package var codingPath: [any CodingKey] { location.keys }

  /// The path of the value whose initializer is running.
  package var enclosingPath: [any CodingKey] { decoder.codingPath }

  /// - Throws: `DecodingError.valueNotFound` for `null`.
  package func requireValue(for type: Any.Type) throws {
    let word = decoder.reader[index]
    if word.kind == .null { throw decoder.reader.wrongKind(type, word, location) }
  }

  package func string() throws -> String { try decoder.reader.string(index, location) }

  /// Calls the closure with the bytes of a string without escapes. Returns nil for another value.
  package func plainText<Result>(_ read: (borrowing Span<UInt8>) -> Result?) -> Result? {
    let word = decoder.reader[index]
    guard word.kind == .asciiText || word.kind == .unicodeText else { return nil }
    return read(decoder.reader.bytes(of: word).buffer.span)
  }

  package func double() throws -> Double { try decoder.reader.double(index, location) }

  /// The digits of a number. Nil for another value.
  package var number: String? {
    let word = decoder.reader[index]
    guard word.kind == .integer || word.kind == .decimal else { return nil }
    return decoder.reader.bytes(of: word).text
  }

  /// The error for a number that the wanted type can't represent.
  package func unrepresentable(_ number: String) -> any Error {
    JSONError.numberIsNotRepresentableInSwift(parsed: number)
  }

  /// Records that only Foundation's decoder can decode the document, and returns the error to throw.
  package func unsupported() -> any Error { decoder.document.unreliable() }

  /// Calls the closure with a decoder at this value.
  package func withDecoder<Result>(_ body: (any Decoder) throws -> Result) rethrows -> Result {
    try decoder.with(index, at: location) { try body(decoder) }
  }
}
