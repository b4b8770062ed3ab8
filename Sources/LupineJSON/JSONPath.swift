// JSONPath: the path of keys to a value. It becomes an array only for a caller of `codingPath`.

/// The location of a value: that of an element of an array, or the one to which `path` leads.
struct JSONLocation {
  /// The path to the value, or to the array. Nil for the document's value.
  var path: JSONPath?
  /// The index in the array, or `noElement`.
  var element = noElement

  static let noElement = -1

  var keys: [any CodingKey] {
    var keys: [any CodingKey] = []
    var location = self
    while true {
      if location.element != Self.noElement { keys.append(JSONKey(index: location.element)) }
      guard let path = location.path else { return keys.reversed() }
      if let key = path.key { keys.append(key) }
      location = path.parent
    }
  }
}

/// A key, the location of its container, and the decoder that decodes its value.
///
/// Containers refer only to their path, and find the decoder there, so that copying a container is cheap.
final class JSONPath {
  let decoder: JSONValueDecoder
  fileprivate let parent: JSONLocation
  fileprivate let key: (any CodingKey)?

  init(_ decoder: JSONValueDecoder, _ parent: JSONLocation, _ key: some CodingKey) {
    self.decoder = decoder
    self.parent = parent
    self.key = key
  }

  /// Creates a path with the same keys as a location.
  init(_ decoder: JSONValueDecoder, to location: JSONLocation) {
    self.decoder = decoder
    parent = location
    key = nil
  }
}

/// A key that isn't one of a type's own keys. Its texts are those of Foundation's JSONDecoder.
struct JSONKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }

  /// Creates the key of a dictionary's entry. As in the standard library, it has an `intValue` if the text is a number.
  init(entry: String) {
    stringValue = entry
    intValue = Int(entry)
  }

  init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  static let `super` = JSONKey(stringValue: "super")
}
