// SampleTypes: types as programs have them, with the usual form of their documents.

internal import Foundation

/// A type with its documents.
struct Sample: Sendable {
  let name: String
  let shape: DocumentSource.Shape
  /// Decodes the type by both decoders.
  let compare: @Sendable (Comparison) -> Outcome

  init<T: Decodable & Equatable & SendableMetatype>(_ type: T.Type, _ shape: DocumentSource.Shape) {
    name = "\(type)"
    self.shape = shape
    compare = { $0.outcome(of: T.self) }
  }

  static let all: [Sample] = [
    Sample(Plain.self, Plain.shape), Sample([Plain].self, .list(Plain.shape)), Sample(Snake.self, Snake.shape),
    Sample(Wide.self, Wide.shape), Sample(Tree.self, Tree.shape), Sample(Shape.self, Shape.shape),
    Sample([Shape].self, .list(Shape.shape)), Sample(Derived.self, Derived.shape),
    Sample(Separate.self, Separate.shape),
    Sample(Loose.self, .any), Sample([Loose].self, .list(.any)), Sample([String: Loose].self, .dictionary(.any)),
    Sample([String: Int].self, .dictionary(.whole)), Sample([Int: String].self, .dictionary(.string)),
    Sample([String: [String: Double?]].self, .dictionary(.dictionary(.optional(.number)))),
    Sample([Side: Int].self, .object([("left", .whole), ("right", .whole)])),
    Sample([String: Plain].self, .dictionary(Plain.shape)),
    Sample([Name: Int].self, .dictionary(.whole)), Sample(Set<Int>.self, .list(.oneOf([.whole, .whole, .number]))),
    Sample([Int].self, .list(.oneOf([.whole, .whole, .number]))), Sample([Double].self, .list(.number)),
    Sample([Float].self, .list(.number)),
    Sample([String].self, .list(.string)), Sample([Bool?].self, .list(.optional(.truth))),
    Sample([UInt8].self, .list(.oneOf([.whole, .whole, .number]))),
    Sample([[Int]?].self, .list(.optional(.list(.number)))),
    Sample([Date].self, .list(.oneOf([.date, .number, .string]))), Sample([Decimal].self, .list(.number)),
    Sample([URL].self, .list(.string)), Sample([Data].self, .list(.oneOf([.string, .list(.number)]))),
    Sample([Date?].self, .list(.optional(.oneOf([.date, .number])))), Sample(Special.self, Special.shape),
    Sample(Range<Int>.self, .list(.whole)), Sample(Optional<Int>.self, .optional(.number)), Sample(Int.self, .number),
    Sample(Double.self, .number), Sample(String.self, .string), Sample(Bool.self, .truth), Sample(UUID.self, .uuid),
    Sample([CGFloat].self, .list(.number)), Sample([Int128].self, .list(.oneOf([.whole, .whole, .number]))),
    Sample([UInt128].self, .list(.oneOf([.whole, .whole, .number]))),
    Sample([Int8].self, .list(.oneOf([.whole, .whole, .number]))),
    Sample([UInt64].self, .list(.oneOf([.whole, .whole, .number]))),
    Sample([Int64].self, .list(.oneOf([.whole, .whole, .number]))),
    Sample([Side].self, .list(.oneOf([.side, .side, .string]))), Sample(Lossy.self, .list(.any)),
    Sample(DateComponents.self, .any),
    Sample(Locale.self, .any), Sample([ClosedRange<Double>].self, .list(.list(.number))),
    Sample(Columns.self, Columns.shape),
  ]
}

struct Plain: Codable, Equatable {
  var id: Int
  var name: String
  var a: Double?
  var b: Bool?
  var tag: [String]?

  static let shape = DocumentSource.Shape.object([
    ("id", .whole), ("name", .string), ("a", .optional(.number)), ("b", .optional(.truth)),
    ("tag", .optional(.list(.string))),
  ])
}

struct Snake: Codable, Equatable {
  var userName: String
  var createdAt: Date
  var line1: Int
  var _privateKey_: Bool?
  var aB: Int?
  var UPPERCase: Int?
  var id: UInt16

  static let shape = DocumentSource.Shape.object([
    ("user_name", .string), ("created_at", .oneOf([.date, .number])), ("line_1", .whole),
    ("_private_key_", .optional(.truth)), ("a__b", .optional(.whole)), ("UPPER_case", .optional(.number)),
    ("id", .whole),
  ])
}

/// Enough keys for the decoder to make an index if they aren't in order.
struct Wide: Codable, Equatable {
  var a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12: Int?
  var b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12: String?

  static let shape = DocumentSource.Shape.object(
    (1...12).map { ("a\($0)", .optional(.whole)) } + (1...12).map { ("b\($0)", .optional(.string)) })
}

indirect enum Tree: Codable, Equatable {
  case leaf(Int)
  case node(left: Tree?, right: Tree?)

  static let shape = DocumentSource.Shape.oneOf([
    .object([("leaf", .object([("_0", .whole)]))]),
    .object([("node", .object([("left", .recursive), ("right", .recursive)]))]),
  ])
}

enum Shape: Codable, Equatable {
  case circle(radius: Double)
  case label(String, Int)
  case empty

  static let shape = DocumentSource.Shape.oneOf([
    .object([("circle", .object([("radius", .number)]))]),
    .object([("label", .object([("_0", .string), ("_1", .whole)]))]), .object([("empty", .object([("a", .any)]))]),
  ])
}

enum Side: String, Codable, CodingKeyRepresentable, Equatable {
  case left, right
}

struct Name: Codable, Hashable, CodingKeyRepresentable {
  var text: String
  var codingKey: any CodingKey { AnyKey(stringValue: text) }

  init?(codingKey: some CodingKey) {
    guard !codingKey.stringValue.isEmpty else { return nil }
    text = codingKey.stringValue
  }
}

class Original: Decodable, Equatable {
  let id: Int
  let name: String?

  static func == (left: Original, right: Original) -> Bool { left.isEqual(to: right) }
  func isEqual(to other: Original) -> Bool { id == other.id && name == other.name }
}

/// Shares the object of its superclass.
final class Derived: Original {
  let value: Double

  private enum Keys: String, CodingKey { case value }

  required init(from decoder: any Decoder) throws {
    value = try decoder.container(keyedBy: Keys.self).decode(Double.self, forKey: .value)
    try super.init(from: decoder)
  }

  override func isEqual(to other: Original) -> Bool { super.isEqual(to: other) && value == (other as? Derived)?.value }

  static let shape = DocumentSource.Shape.object([("id", .whole), ("name", .optional(.string)), ("value", .number)])
}

/// Has an object for itself and one for its superclass.
final class Separate: Original {
  let value: [Int]

  private enum Keys: String, CodingKey { case value }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    value = try container.decode([Int].self, forKey: .value)
    try super.init(from: container.superDecoder())
  }

  override func isEqual(to other: Original) -> Bool { super.isEqual(to: other) && value == (other as? Separate)?.value }

  static let shape = DocumentSource.Shape.object([
    ("value", .list(.whole)), ("super", .object([("id", .whole), ("name", .string)])),
  ])
}

/// Any JSON value, found by trying types in turn.
enum Loose: Codable, Equatable {
  case null
  case truth(Bool)
  case whole(Int)
  case number(Double)
  case text(String)
  case list([Loose])
  case object([String: Loose])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .truth(value)
    } else if let value = try? container.decode(Int.self) {
      self = .whole(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode([Loose].self) {
      self = .list(value)
    } else {
      self = .object(try container.decode([String: Loose].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .truth(let value): try container.encode(value)
    case .whole(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .text(let value): try container.encode(value)
    case .list(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

/// Skips elements that aren't numbers, and keeps the errors.
struct Lossy: Decodable, Equatable {
  var numbers: [Int] = []
  var errors: [String] = []

  private struct Anything: Decodable {}

  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd {
      do {
        numbers.append(try container.decode(Int.self))
      } catch {
        errors.append(Script.description(error))
        _ = try container.decode(Anything.self)
      }
    }
  }
}

struct Special: Codable, Equatable {
  var date: Date
  var data: Data?
  var url: URL?
  var price: Decimal?

  static let shape = DocumentSource.Shape.object([
    ("date", .oneOf([.date, .number, .string])), ("data", .optional(.string)), ("url", .optional(.string)),
    ("price", .optional(.number)),
  ])
}

/// Reads nested containers by hand.
struct Columns: Decodable, Equatable {
  var names: [String] = []
  var cells: [[Double?]] = []
  var total: Int?

  private enum Keys: String, CodingKey { case name, value, children, id }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    var list = try container.nestedUnkeyedContainer(forKey: .children)
    while !list.isAtEnd {
      if try list.decodeNil() { continue }
      let column = try list.nestedContainer(keyedBy: Keys.self)
      names.append(try column.decode(String.self, forKey: .name))
      var values = try column.nestedUnkeyedContainer(forKey: .value)
      var cells: [Double?] = []
      while !values.isAtEnd { cells.append(try values.decodeIfPresent(Double.self)) }
      self.cells.append(cells)
    }
    total = try container.decodeIfPresent(Int.self, forKey: .id)
  }

  static let shape = DocumentSource.Shape.object([
    ("children", .list(.optional(.object([("name", .string), ("value", .list(.optional(.number)))])))),
    ("id", .optional(.number)),
  ])
}
