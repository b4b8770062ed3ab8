// JSONDocument: a checked document with its tape, and the settings with which it is decoded.

/// How keys of a document become those of a type.
package enum JSONKeyConversion: Sendable {
  case none
  /// From `snake_case` to `camelCase`, as Foundation's JSONDecoder does. The closure converts keys in which Unicode's rules decide
  /// where words begin.
  case fromSnakeCase(@Sendable (String) -> String)
  /// The closure gets the path of a key, and returns the key that takes the place of the last one.
  case custom(@Sendable ([any CodingKey]) -> any CodingKey)
}

/// The strings that stand for numbers that JSON can't represent.
package struct JSONNonFiniteTexts: Sendable {
  package var positiveInfinity, negativeInfinity, nan: String

  package init(positiveInfinity: String, negativeInfinity: String, nan: String) {
    self.positiveInfinity = positiveInfinity
    self.negativeInfinity = negativeInfinity
    self.nan = nan
  }
}

/// Decodes types that need special treatment, such as a date from a string.
package protocol JSONSpecialTypes: Sendable {
  /// The types that `decode` decodes instead of their initializers. A tuple, because the type of each nested value is compared
  /// with all four.
  var types: (ObjectIdentifier, ObjectIdentifier, ObjectIdentifier, ObjectIdentifier) { get }

  /// Decodes one of `types`.
  func decode<T: Decodable>(_ type: T.Type, from value: JSONElement) throws -> T
}

package struct JSONDecodingOptions: Sendable {
  package var keys = JSONKeyConversion.none
  package var nonFinite: JSONNonFiniteTexts?
  package var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  package var special: (any JSONSpecialTypes)?

  package init() {}
}

/// A document while it is decoded, which owns its memory. All decoders and containers share it.
///
/// One thread at a time uses it, because `Decoder` isn't Sendable.
final class JSONDocument {
  let options: JSONDecodingOptions
  private let tape: JSONTape
  // SAFETY: the state is initialized by the initializer, and freed with the document. Those who use it also refer to the document.
  private let state = UnsafeMutablePointer<JSONReader.State>.allocate(capacity: 1)
  // The document's bytes, if the document owns a copy of them.
  private var copy: UnsafeMutablePointer<UInt8>?
  lazy var userInfo: [CodingUserInfoKey: Any] = options.userInfo

  /// Whether decoding met a case in which Foundation's decoder behaves differently. The decoded value must not be used then, even
  /// if the type's initializer has caught the error.
  private(set) var isUnreliable = false

  // Used by JSONValueDecoder and JSONReader+Keys.swift, whose methods don't call other code meanwhile.
  var indexes: [JSONKeyIndex] = []
  @exclusivity(unchecked) var containers = JSONContainers<JSONObject>()
  @exclusivity(unchecked) var conversions = KeyConversions()
  @exclusivity(unchecked) var scratch = JSONScratch()
  @exclusivity(unchecked) var secondScratch = JSONScratch()

  /// Checks the bytes, without a byte order mark, and returns nil if they aren't a document that this decoder reads. The caller
  /// guarantees that they stay valid until `copyBytes` or the end of the document's life.
  init?(_ bytes: JSONBytes, _ options: JSONDecodingOptions) {
    guard let tape = JSONScanner.tape(of: bytes) else {
      state.deallocate()
      return nil
    }
    self.tape = tape
    self.options = options
    var (convertsKeys, isSnakeCase) = (true, false)
    switch options.keys {
    case .none: convertsKeys = false
    case .fromSnakeCase: isSnakeCase = true
    case .custom: break
    }
    state.initialize(
      to: JSONReader.State(
        document: self, words: tape.words, bytes: bytes, convertsKeys: convertsKeys, isSnakeCase: isSnakeCase,
        special: options.special?.types))
  }

  deinit {
    tape.free()
    state.deallocate()
    copy?.deallocate()
  }

  var reader: JSONReader { JSONReader(state) }

  /// Decodes the document's value.
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    // Kept containers refer to the document, which otherwise would never be freed.
    defer { containers.close() }
    return try JSONValueDecoder(self, at: JSONScanner.root, location: JSONLocation())
      .unwrap(JSONScanner.root, as: type, JSONLocation())
  }

  /// Makes the document independent of the memory with which it was created.
  func copyBytes() {
    guard copy == nil else { return }
    let bytes = state.pointee.bytes
    // SAFETY: the copy has the length of the original, and is freed with the document.
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
    copy.update(from: bytes.start, count: bytes.count)
    self.copy = copy
    state.pointee.bytes = JSONBytes(start: copy, count: bytes.count)
  }

  /// Records that the decoded value must not be used, and returns the error to throw.
  @inline(never)
  func unreliable() -> any Error {
    isUnreliable = true
    return JSONError.unsupported
  }
}

/// Errors that have no case of `DecodingError`. Foundation throws a private error of the same name for numbers.
enum JSONError: Error {
  case numberIsNotRepresentableInSwift(parsed: String)
  /// The document or a type needs something that only Foundation's decoder does.
  case unsupported
}
