// JSONPath: the path of keys to a value. It becomes an array only for a caller of `codingPath`.

/// A key or an index in an array, with the path of its container, and the decoder that is at its value.
///
/// Containers refer only to their path, and find the decoder there, so that copying a container is cheap.
final class JSONPath {
  let decoder: JSONValueDecoder
  let reader: JSONReader
  private let parent: JSONPath?
  private let key: (any CodingKey)?
  // For an element of an array. `JSONList` reuses the path of an element to which nothing else refers.
  @exclusivity(unchecked) fileprivate(set) var index = noIndex

  private static let noIndex = -1

  init(_ decoder: JSONValueDecoder, _ parent: JSONPath?, _ key: some CodingKey) {
    self.decoder = decoder
    reader = decoder.reader
    self.parent = parent
    self.key = key
  }

  /// Creates the path of an array's element.
  init(_ decoder: JSONValueDecoder, _ parent: JSONPath?, index: Int) {
    self.decoder = decoder
    reader = decoder.reader
    self.parent = parent
    key = nil
    self.index = index
  }

  /// Creates a path with the same keys as another.
  init(_ decoder: JSONValueDecoder, sameAs path: JSONPath?) {
    self.decoder = decoder
    reader = decoder.reader
    parent = path
    key = nil
  }

  func move(to index: Int) { self.index = index }

  fileprivate static func keys(to path: JSONPath?) -> [any CodingKey] {
    var keys: [any CodingKey] = []
    var next = path
    while let path = next {
      if let key = path.key {
        keys.append(key)
      } else if path.index != noIndex {
        keys.append(JSONKey(index: path.index))
      }
      next = path.parent
    }
    return keys.reversed()
  }
}

extension Optional where Wrapped == JSONPath {
  var keys: [any CodingKey] { JSONPath.keys(to: self) }
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

  /// Creates a key of a dictionary, which the standard library also reads as a number.
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
