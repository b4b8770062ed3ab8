// JSONWriting: encodes a value as the bytes of a document.

/// How keys of a type become those of a document.
package enum JSONKeyWriting: Sendable {
  case none
  /// From `camelCase` to `snake_case`, as Foundation's JSONEncoder does.
  case snakeCase
  /// The closure gets the path of a key, and returns the key that takes the place of the last one.
  case custom(@Sendable ([any CodingKey]) -> any CodingKey)
}

/// Encodes types that need special treatment, such as a date as a string.
package protocol JSONSpecialWriting: Sendable {
  /// The four types that `encode` encodes instead of their method `encode(to:)`. The type of each nested value is compared with
  /// them.
  var types: (ObjectIdentifier, ObjectIdentifier, ObjectIdentifier, ObjectIdentifier) { get }

  /// Encodes a value of one of `types`.
  func encode<T: Encodable>(_ value: T, to slot: JSONSlot) throws
}

package struct JSONEncodingOptions: Sendable {
  package var keys = JSONKeyWriting.none
  package var nonFinite: JSONNonFiniteTexts?
  package var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  package var special: (any JSONSpecialWriting)?
  package var isPretty = false
  package var sortsKeys = false
  package var escapesSlashes = true

  package init() {}
}

package enum JSONWriting {
  // SAFETY: the document's memory is freed after the closure, which returns a copy.

  /// Encodes a value, and calls the closure with the document in UTF-8. Returns nil if the type writes nothing, keeps an encoder or
  /// a container, or has caught the error of something that only Foundation's encoder does, such as two values for one key.
  ///
  /// - Throws: The errors of the type's `encode(to:)`, and `JSONError.unsupported`.
  package static func encode<T: Encodable, Result>(
    _ value: T, _ options: JSONEncodingOptions, _ use: (UnsafeBufferPointer<UInt8>) -> Result
  ) throws -> Result? {
    var memory = JSONOutputMemory(options)
    let output = memory.output
    // The output doesn't count as a reference to the memory.
    defer { withExtendedLifetime(memory) { output.forgetSpares() } }
    do {
      let encoder = JSONValueEncoder(memory, owner: nil, at: .same)
      encoder.serial = output.push(.value)
      try output.single(encoder.serial)
      try encoder.encodeHere(value)
      guard output.finishRoot() else { return nil }
    }
    output.forgetSpares()
    // An encoder that is kept could need Foundation's later.
    guard isKnownUniquelyReferenced(&memory) else { return nil }
    return output.withBytes(use)
  }
}
