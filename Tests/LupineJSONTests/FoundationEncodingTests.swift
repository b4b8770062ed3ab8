// FoundationEncodingTests: LupineJSON writes Foundation's documents, and leaves the rest to Foundation.

import Foundation
import LupineJSONDifferential
import LupineRandom
import LupineTestSupport
import Testing

@testable import LupineFormats
@testable import LupineJSON

@Suite struct FoundationEncodingTests {
  @Test("random values and settings: LupineJSON writes only documents that Foundation could have written")
  func differential() {
    var counts: [String: Int] = [:]
    for seed in 0..<UInt64(repetitions(of: 3000)) {
      let (outcome, name) = EncodingComparison.outcome(seed: seed)
      if case .wrong(let text) = outcome { Issue.record("seed \(seed), \(name): \(text)") }
      counts["\(outcome)".prefix { $0 != "(" }.description, default: 0] += 1
    }
    // The values are such that each outcome occurs, and ordinary ones don't need Foundation.
    #expect(counts["equal", default: 0] > counts["slow", default: 0] * 2)
    #expect(counts["bothFail", default: 0] > 0)
  }

  private struct Account: Codable, Equatable {
    var id: Int
    var userName: String
  }

  private let account = Account(id: 7, userName: "Ada/Lovelace")

  private static func sorted() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return encoder
  }

  @Test("a plain JSONEncoder's value is encoded by LupineJSON, with keys in the order of encoding")
  func fast() throws {
    let data = try #require(FoundationJSON.fastData(account, with: JSONEncoder()))
    #expect(String(decoding: data, as: UTF8.self) == #"{"id":7,"userName":"Ada\/Lovelace"}"#)
  }

  private final class Subclass: JSONEncoder, @unchecked Sendable {
    override func encode<T: Encodable>(_ value: T) throws -> Data { Data("subclass".utf8) }
  }

  @Test("subclasses of JSONEncoder and options without a name are left to Foundation")
  func leftToFoundation() throws {
    #expect(FoundationJSON.fastData(account, with: Subclass()) == nil)
    #expect(try FoundationJSON.encode(account, with: Subclass()) == Data("subclass".utf8))
    let encoder = JSONEncoder()
    encoder.outputFormatting = JSONEncoder.OutputFormatting(rawValue: 1 << 20)
    #expect(FoundationJSON.fastData(account, with: encoder) == nil)
  }

  /// Writes by a closure.
  private struct Written: Encodable {
    let write: @Sendable (any Encoder) throws -> Void

    init(_ write: @escaping @Sendable (any Encoder) throws -> Void) { self.write = write }

    func encode(to encoder: any Encoder) throws { try write(encoder) }
  }

  private enum Key: String, CodingKey { case a, b, c }

  /// Values that can't be written in order, or that Foundation writes by its own rules.
  private static let unusual: [Written] = [
    // Two values for a key.
    Written {
      var container = $0.container(keyedBy: Key.self)
      try container.encode(1, forKey: .a)
      try container.encode(2, forKey: .a)
    },
    // Canonically equivalent keys.
    Written {
      var container = $0.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: AnyKey(stringValue: "é"))
      try container.encode(2, forKey: AnyKey(stringValue: "e\u{301}"))
    },
    // A nested container that goes on after its parent.
    Written {
      var container = $0.container(keyedBy: Key.self)
      var nested = container.nestedContainer(keyedBy: Key.self, forKey: .a)
      try container.encode(1, forKey: .b)
      try nested.encode(2, forKey: .c)
    },
    // A container of an encoder whose value is part of another one's.
    Written {
      var container = $0.container(keyedBy: Key.self)
      let parent = container.superEncoder(forKey: .a)
      try container.encode(1, forKey: .b)
      try "late".encode(to: parent)
    },
    // A dictionary to which a type adds keys, one of which it has.
    Written {
      var single = $0.singleValueContainer()
      try single.encode(["a": 5, "b": 6])
      var container = $0.container(keyedBy: Key.self)
      try container.encode(1, forKey: .a)
    },
    // The same with many keys. The two that are added have equal bits in the filter of keys.
    Written {
      var single = $0.singleValueContainer()
      try single.encode(Dictionary(uniqueKeysWithValues: (0..<200).map { ("key\($0)", $0) }))
      var container = $0.container(keyedBy: AnyKey.self)
      for name in ["message", "error"] { try container.encode(1, forKey: AnyKey(stringValue: name)) }
    },
    // An error that a type catches.
    Written {
      var container = $0.container(keyedBy: Key.self)
      try? container.encode(Double.nan, forKey: .a)
      try container.encode(1, forKey: .b)
    },
  ]

  @Test("if LupineJSON fails, Foundation encodes the value, and its document or error is the result")
  func failures() throws {
    for value in Self.unusual {
      #expect(FoundationJSON.fastData(value, with: Self.sorted()) == nil)
      #expect(try FoundationJSON.encode(value, with: Self.sorted()) == Self.sorted().encode(value))
    }
    let error = #expect(throws: EncodingError.self) {
      try FoundationJSON.encode(["x": [1, Double.infinity]], with: JSONEncoder())
    }
    let expected = #expect(throws: EncodingError.self) { try JSONEncoder().encode(["x": [1, Double.infinity]]) }
    #expect("\(try #require(error))" == "\(try #require(expected))")
    let nothing = Written { _ in }
    #expect(FoundationJSON.fastData(nothing, with: JSONEncoder()) == nil)
    #expect(throws: EncodingError.self) { try FoundationJSON.encode(nothing, with: JSONEncoder()) }
  }

  @Test("a custom conversion of keys gets the path of a value in nested dictionaries, as with Foundation")
  func nestedDictionaries() throws {
    let encoder = Self.sorted()
    encoder.keyEncodingStrategy = .custom {
      AnyKey(stringValue: $0.map(\.stringValue).joined(separator: "."))
    }
    let value = ["a": ["b": account]]
    #expect(try FoundationJSON.fastData(value, with: encoder) == encoder.encode(value))
    let optional: [String: [String: Account]?] = ["a": ["b": account], "c": nil]
    #expect(try FoundationJSON.fastData(optional, with: encoder) == encoder.encode(optional))
  }

  @Test("infinite numbers in lists are written with Foundation's escapes, which differ from those of single ones")
  func infiniteNumbers() throws {
    let encoder = Self.sorted()
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "+/", negativeInfinity: "-/", nan: "/")
    let floats: [Float] = [1, .infinity, -.infinity, .nan]
    #expect(try FoundationJSON.encode(floats, with: encoder) == encoder.encode(floats))
    #expect(try FoundationJSON.encode(["a": Float.infinity], with: encoder) == encoder.encode(["a": Float.infinity]))
    let doubles = floats.map(Double.init)
    #expect(try FoundationJSON.encode(doubles, with: encoder) == encoder.encode(doubles))
    #expect(
      try FoundationJSON.fastData(["a": -Double.infinity], with: encoder) == encoder.encode(["a": -Double.infinity]))
  }

  private final class Box: @unchecked Sendable {
    var encoders: [any Encoder] = []
    var containers: [KeyedEncodingContainer<Key>] = []
  }

  @Test("a type that keeps its encoder or a container gets Foundation's, and what it writes later changes nothing")
  func keptEncoder() throws {
    let box = Box()
    let keepsEncoder = Written {
      box.encoders.append($0)
      try "x".encode(to: $0)
    }
    let keepsContainer = Written {
      var container = $0.container(keyedBy: Key.self)
      try container.encode(1, forKey: .a)
      box.containers.append(container)
    }
    for value in [keepsEncoder, keepsContainer] {
      #expect(FoundationJSON.fastData(value, with: JSONEncoder()) == nil)
      #expect(FoundationJSON.fastData([value], with: JSONEncoder()) == nil)
    }
    // A later value's type uses the container of an earlier one.
    let late = Written {
      try "y".encode(to: $0)
      var container = box.containers.removeLast()
      try container.encode(2, forKey: .b)
    }
    #expect(FoundationJSON.fastData([keepsContainer, late], with: JSONEncoder()) == nil)
    #expect(try FoundationJSON.encode([keepsContainer, late], with: JSONEncoder()) == Data(#"[{"a":1},"y"]"#.utf8))
    for encoder in box.encoders { _ = encoder.container(keyedBy: Key.self) }
    for var container in box.containers { try? container.encode(3, forKey: .c) }
  }

  @Test("511 nested containers are written, and 512 are left to Foundation, which refuses them")
  func depth() throws {
    final class Level: Encodable {
      let depth: Int
      init(depth: Int) { self.depth = depth }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        if depth > 1 { try container.encode(Level(depth: depth - 1)) }
      }
    }
    let deepest = FoundationJSON.fastData(Level(depth: 511), with: JSONEncoder())
    #expect(try deepest == JSONEncoder().encode(Level(depth: 511)))
    #expect(FoundationJSON.fastData(Level(depth: 512), with: JSONEncoder()) == nil)
    #expect(throws: EncodingError.self) { try JSONEncoder().encode(Level(depth: 512)) }
  }

  @Test("an object of 30,000 keys is sorted, and a second value for one of them is noticed")
  func manyKeys() throws {
    let keys = (0..<30_000).map { AnyKey(stringValue: "key \($0 * 7919 % 30_000)") }
    let object = Written {
      var container = $0.container(keyedBy: AnyKey.self)
      for (index, key) in keys.enumerated() { try container.encode(index, forKey: key) }
    }
    #expect(FoundationJSON.fastData(object, with: Self.sorted()) == (try Self.sorted().encode(object)))
    let twice = Written {
      var container = $0.container(keyedBy: AnyKey.self)
      for key in keys + [keys[12_345]] { try container.encode(1, forKey: key) }
    }
    #expect(FoundationJSON.fastData(twice, with: JSONEncoder()) == nil)
  }

  @Test("every double is written with the digits of its description")
  func doubles() throws {
    var random = SplitMix64(seed: 38)
    var numbers: [Double] = [
      0, -0.0, 1e-4, 9.9999999e-5, 1e7, 9999999.99999999, 0x1p53, 1e15, 1e16, 0x1p-1074, 123456.7,
    ]
    for _ in 0..<repetitions(of: 20_000) {
      numbers.append(Double(random.number(-10_000_000_000...10_000_000_000)) / 1e8)
      numbers.append(Double(random.number(-10_000_000_000...10_000_000_000)) / 1e3)
      numbers.append(Double(random.number(-1_000_000...1_000_000)) * 0.01)
      let number = Double(bitPattern: random.next())
      if number.isFinite { numbers.append(number) }
    }
    let data = try #require(FoundationJSON.fastData(numbers, with: JSONEncoder()))
    let texts = data.dropFirst().dropLast().split(separator: 0x2C).map { String(decoding: $0, as: UTF8.self) }
    #expect(texts.count == numbers.count)
    for (text, number) in zip(texts, numbers) {
      let description = number.description
      #expect(text == (description.hasSuffix(".0") ? String(description.dropLast(2)) : description))
    }
  }

  @Test("dates in ISO 8601 are written as by Foundation, before and after 2001 and beyond four digits of the year")
  func dates() throws {
    var seconds: [Double] = [
      -0.25, 0, 0.999, 59.5, -12_654_403_200, -12_654_403_200.5, 252_423_993_599, 252_423_993_600,
    ]
    // Every 11th day, which are all days of a month and of a week, and the days around the ends of months.
    for day in stride(from: -150_000, to: 400 * 366, by: 11) { seconds.append(Double(day) * 86400 + 3661) }
    for day in -400..<2000 { seconds.append(Double(day) * 86400 - 0.001) }
    let dates = seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    let data = try #require(FoundationJSON.fastData(dates, with: encoder))
    let texts = try JSONDecoder().decode([String].self, from: data)
    for (text, date) in zip(texts, dates) { #expect(text == date.formatted(.iso8601)) }
    #expect(texts.count == dates.count)
  }

  // MARK: Values of unknown types

  private static func value(_ random: inout SplitMix64, depth: Int = 0) -> any Sendable {
    switch random.number(0...(depth < 4 ? 15 : 10)) {
    case 0: return random.next() % 2 == 0
    case 1: return random.number(-1000...1000)
    case 2: return Double(random.number(-1000...1000)) / 8
    case 3: return random.pick(["", "a/b", "é\n\"\\", "a text of more than fifteen bytes"])
    case 4: return UInt8(random.number(0...255))
    case 5: return Int64(bitPattern: random.next())
    case 6: return UInt64(random.next())
    case 7: return Float(random.number(-1000...1000)) / 7
    case 8: return NSNull()
    case 9: return Decimal(random.number(-1000...1000)) / 7
    case 10: return random.next() % 2 == 0 ? Optional("present") : String?.none
    case 11: return [1, 2, random.number(0...9)]
    case 12: return ["x": random.number(0...9)]
    case 13: return (0..<random.number(0...4)).map { _ in value(&random, depth: depth + 1) }
    default:
      let keys = ["a", "b", "longName", "LongNames", "userID", "user", "é", "a1", "a10", "a_b", "a/b"]
      let count = random.number(0...4)
      return Dictionary(
        (0..<count).map { _ in
          (random.pick(Array(keys.prefix(random.number(2...11)))), value(&random, depth: depth + 1))
        },
        uniquingKeysWith: { first, _ in first })
    }
  }

  @Test("dictionaries and arrays of values of any type are written as by JSONSerialization, or left to it")
  func objects() throws {
    var random = SplitMix64(seed: 1)
    var fast = 0
    for _ in 0..<repetitions(of: 5000) {
      let object: any Sendable = ["key": Self.value(&random), "other": Self.value(&random)]
      var options: JSONSerialization.WritingOptions = random.next() % 4 == 0 ? [] : .sortedKeys
      if random.next() % 2 == 0 { options.insert(.prettyPrinted) }
      if random.next() % 2 == 0 { options.insert(.withoutEscapingSlashes) }
      guard let data = FoundationJSON.fastData(object: object, options: options) else { continue }
      fast += 1
      let expected = try JSONSerialization.data(withJSONObject: object, options: options)
      if options.contains(.sortedKeys) {
        #expect(data == expected)
      } else {
        let left = try JSONSerialization.jsonObject(with: data) as? NSDictionary
        let right = try JSONSerialization.jsonObject(with: expected) as? NSDictionary
        #expect(left == right && data.count == expected.count)
      }
    }
    #expect(fast * 3 > repetitions(of: 5000))
  }

  @Test("values that JSON can't represent, single values and other objects are left to JSONSerialization")
  func otherObjects() {
    let others: [Any] = [
      ["x": Double.nan], ["x": Date()], [1: 2], "text", [NSNumber(value: true)], ["x": Float.infinity],
      Optional(["x": 1]) as Any, ["a1": 1, "a10": 2], NSArray(array: [1]), [Set([1])], ["x": Decimal.nan],
    ]
    for other in others {
      #expect(FoundationJSON.fastData(object: other, options: .sortedKeys) == nil, "\(other)")
    }
    #expect(FoundationJSON.fastData(object: ["x": 1], options: .fragmentsAllowed) == nil)
  }
}
