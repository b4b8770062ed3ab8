// JSONKeyedDictionary: dictionaries that become objects, written without a keyed container.

protocol JSONKeyedDictionary {
  /// Writes the dictionary as the value at the place. Returns false if the dictionary's `encode(to:)` has to write it.
  func write(to encoder: JSONValueEncoder, at place: JSONPlace) throws -> Bool
}

extension Dictionary: JSONKeyedDictionary where Key: CodingKeyRepresentable, Value: Encodable {
  func write(to encoder: JSONValueEncoder, at place: JSONPlace) throws -> Bool {
    let output = encoder.output
    guard let dictionary = self as? [String: Value] else {
      // Foundation's versions convert keys of other types differently.
      if output.convertsKeys { throw output.unusable() }
      return false
    }
    if output.convertsKeys {
      // Foundation writes the dictionary itself, without converting its keys. The `codingPath` of its values lacks its own key.
      try encoder.writeObject { try dictionary.writeEntries(to: encoder) { JSONKey(stringValue: $0) } }
    } else if case .same = place {
      // Nothing can be added to this object. Only Foundation's encoder can add keys that the type writes later with this encoder.
      try encoder.writeObject { try dictionary.writeEntries(to: encoder) { JSONKey(entry: $0) } }
    } else {
      try encoder.write(at: place) { encoder in
        encoder.output.open(.object)
        try dictionary.writeEntries(to: encoder) { JSONKey(entry: $0) }
      }
    }
    return true
  }
}

/// Foundation looks for a dictionary in an optional value too, before it notes the place in the path.
extension Optional: JSONKeyedDictionary where Wrapped: JSONKeyedDictionary {
  func write(to encoder: JSONValueEncoder, at place: JSONPlace) throws -> Bool {
    try self?.write(to: encoder, at: place) ?? false
  }
}

extension Dictionary where Key == String, Value: Encodable {
  // Writes into the innermost value, which is an object.
  fileprivate func writeEntries(to encoder: JSONValueEncoder, _ key: (String) -> JSONKey) throws {
    let output = encoder.output
    let scalar = JSONScalar(Value.self)
    for (name, value) in self {
      name.withJSONBytes { _ = output.write($0, isDistinct: true) }
      // SAFETY: the values have the scalar's type.
      switch scalar {
      case .int?: output.buffer.integer(unsafeBitCast(value, to: Int.self))
      case .string?: output.buffer.string(unsafeBitCast(value, to: String.self))
      case .double?: try output.write(unsafeBitCast(value, to: Double.self))
      case .bool?: output.buffer.bool(unsafeBitCast(value, to: Bool.self))
      case nil where output.convertsKeys:
        // Foundation creates an encoder for the value of each key, also if the value is a dictionary.
        try encoder.write(at: .key(key(name))) { try $0.encode(value) }
      case nil: try encoder.write(value, at: .key(key(name)))
      }
    }
  }
}
