// EncodableTree: an arbitrary Encodable value, created from the bytes of an input.

import Foundation

/// An arbitrary `Encodable` value: a tree that encodes itself with every kind of container.
indirect enum EncodableTree: Encodable, Sendable {
  case null
  case text(String)
  case whole(Int)
  case fraction(Double)
  case truth(Bool)
  case date(Date)
  case data(Data)
  case list([EncodableTree])
  /// A list of elements that is encoded in a nested container of its parent.
  case nestedList([EncodableTree])
  case pairs([Pair])

  struct Pair: Sendable {
    let key: String
    let value: EncodableTree
  }

  /// The tree without repeated keys. Of several values with the same key, only the last one remains, at the position of the first.
  var withUniqueKeys: EncodableTree {
    switch self {
    case .null, .text, .whole, .fraction, .truth, .date, .data: self
    case .list(let elements): .list(elements.map(\.withUniqueKeys))
    case .nestedList(let elements): .nestedList(elements.map(\.withUniqueKeys))
    case .pairs(let pairs): .pairs(Self.unique(pairs))
    }
  }

  static func unique(_ pairs: [Pair]) -> [Pair] {
    var kept: [Pair] = []
    for pair in pairs {
      let pair = Pair(key: pair.key, value: pair.value.withUniqueKeys)
      if let index = kept.firstIndex(where: { $0.key == pair.key }) { kept[index] = pair } else { kept.append(pair) }
    }
    return kept
  }

  struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Creates a tree from the bytes of a fuzzer's input. `kinds` is the number of kinds of single values that the tree may contain:
  /// 5 for those that JSON has, or 7 for those that forms have.
  init(_ input: inout Input, kinds: Int = 7, depth: Int = 0) {
    let containers = depth < 5 ? 4 : 0
    switch (input.number(below: kinds + containers), kinds) {
    case (0, _): self = .null
    case (1, _): self = .text(input.text())
    case (2, _): self = .whole(Int(truncatingIfNeeded: input.word()))
    case (3, _): self = .fraction(input.flag() ? Double(bitPattern: input.word()) : Double(input.byte()) / 4)
    case (4, _): self = .truth(input.flag())
    case (5, 7): self = .date(Date(timeIntervalSinceReferenceDate: Double(Int32(truncatingIfNeeded: input.word())) / 8))
    case (6, 7): self = .data(Data(input.bytes()))
    case (kinds, _): self = .list(Self.list(&input, kinds, depth))
    case (kinds + 1, _): self = .nestedList(Self.list(&input, kinds, depth))
    default: self = .pairs(Self.pairs(&input, kinds: kinds, depth: depth))
    }
  }

  static func pairs(_ input: inout Input, kinds: Int = 7, depth: Int = 0) -> [Pair] {
    (0..<input.number(below: 5)).map { _ in
      Pair(key: input.text(), value: EncodableTree(&input, kinds: kinds, depth: depth + 1))
    }
  }

  private static func list(_ input: inout Input, _ kinds: Int, _ depth: Int) -> [EncodableTree] {
    (0..<input.number(below: 5)).map { _ in EncodableTree(&input, kinds: kinds, depth: depth + 1) }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .list(let elements), .nestedList(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try Self.encode(element, into: &container) }
    case .pairs(let pairs):
      var container = encoder.container(keyedBy: Key.self)
      for pair in pairs { try Self.encode(pair, into: &container) }
    default:
      var container = encoder.singleValueContainer()
      switch self {
      case .text(let text): try container.encode(text)
      case .whole(let number): try container.encode(number)
      case .fraction(let number): try container.encode(number)
      case .truth(let truth): try container.encode(truth)
      case .date(let date): try container.encode(date)
      case .data(let data): try container.encode(data)
      default: try container.encodeNil()
      }
    }
  }

  private static func encode(_ element: EncodableTree, into container: inout any UnkeyedEncodingContainer) throws {
    switch element {
    case .null: try container.encodeNil()
    case .nestedList(let elements):
      var nested = container.nestedUnkeyedContainer()
      for element in elements { try encode(element, into: &nested) }
    default: try container.encode(element)
    }
  }

  private static func encode(_ pair: Pair, into container: inout KeyedEncodingContainer<Key>) throws {
    let key = Key(stringValue: pair.key)
    switch pair.value {
    case .null: try container.encodeNil(forKey: key)
    case .nestedList(let elements):
      var nested = container.nestedUnkeyedContainer(forKey: key)
      for element in elements { try encode(element, into: &nested) }
    default: try container.encode(pair.value, forKey: key)
    }
  }
}
