// ScriptedOutput: a type whose method `encode(to:)` calls random methods of the encoder and its containers.

internal import Foundation
internal import LupineRandom

/// The choices of one encoding, and a record of the paths and counts. One thread uses it.
final class OutputScript: @unchecked Sendable {
  static let key = CodingUserInfoKey(rawValue: "output") ?? { preconditionFailure("a name makes a key") }()

  fileprivate var random: SplitMix64
  private(set) var record: [String] = []
  fileprivate var calls = 0
  /// Containers that go on later, from outside of their values.
  fileprivate var kept: [() throws -> Void] = []
  fileprivate var keptEncoders: [any Encoder] = []

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  func forget() {
    kept = []
    keptEncoders = []
  }

  fileprivate func note(_ text: String) { record.append(text) }

  fileprivate struct Refusal: Error {}
}

struct ScriptedOutput: Encodable {
  func encode(to encoder: any Encoder) throws {
    guard let script = encoder.userInfo[OutputScript.key] as? OutputScript else { return }
    if script.random.number(0...4) == 0 { script.note("path \(Script.path(encoder.codingPath))") }
    switch script.random.number(0...9) {
    case 0...4: try script.writeObject(to: encoder)
    case 5, 6, 7:
      for _ in 0...script.random.number(0...1) {
        var container = encoder.unkeyedContainer()
        try script.run(&container)
      }
    case 8: try script.writeSingle(to: encoder)
    default: break
    }
    if script.random.number(0...200) == 0 { throw OutputScript.Refusal() }
  }
}

/// A class whose object is also that of its superclass.
private class Base: Encodable {
  private enum Keys: CodingKey { case base }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(true, forKey: .base)
  }
}

extension OutputScript {
  fileprivate func writeObject(to encoder: any Encoder) throws {
    for _ in 0...random.number(0...1) {
      // A wrapper writes its value with the same encoder, and may add keys.
      if random.number(0...9) == 0 { try Base().encode(to: encoder) }
      var container = encoder.container(keyedBy: AnyKey.self)
      try run(&container)
    }
  }

  fileprivate func writeSingle(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if random.number(0...2) == 0 { note("single \(Script.path(container.codingPath))") }
    switch random.number(0...7) {
    case 0: try container.encodeNil()
    case 1: try container.encode(random.number(-1000...1000))
    case 6:
      try container.encode(["aKey": 1, random.pick(["base", "bKey"]): 2])
      // A type may add keys to a dictionary.
      if random.number(0...1) == 0 { try Base().encode(to: encoder) }
    case 2: try container.encode(random.pick(OutputScript.texts))
    case 3: try container.encode(double())
    case 4: try container.encode(Base())
    case 5: try container.encode(Date(timeIntervalSinceReferenceDate: Double(random.number(-1000...1000))))
    default:
      if calls < 40 { try container.encode(ScriptedOutput()) }
    }
  }

  // Mostly ASCII, because Foundation converts other keys to snake case.
  private static let keys =
    DocumentSource.keys.filter { key in key.utf8.allSatisfy { $0 < 0x80 } } + ["é", "a/b", "\"", "\n"]

  private static let texts = [
    "", "a", "text", "a text of more than fifteen bytes", "é", "\u{1F600}", "a/b", "\"quoted\"", "back\\slash",
    "\n\t\r\u{8}\u{C}",
    "\u{0}\u{1}\u{1F}\u{7F}", "https://example.com/a?b=c", "seven77", "eight888", "/////////", "1234567\"",
    "12345678\n9",
    "日本語のテキスト/",
  ]

  private func double() -> Double {
    switch random.number(0...6) {
    case 0:
      return random.pick([0, -0.0, 1, 1e15, 1e16, 9_007_199_254_740_992, 1e300, 0x1p-1074, 1e-4, 1e-5, 0.1, 123456.789])
    case 1: return random.number(0...9) == 0 ? random.pick([.infinity, -.infinity, .nan]) : 0.3
    case 2: return Double(random.number(-100_000_000...100_000_000)) / 100
    case 3: return Double(random.number(-100_000_000...100_000_000)) / 1e10
    default: return Double(bitPattern: random.next() & 0xBFFF_FFFF_FFFF_FFFF)
    }
  }

  // A key that is used for nothing else, or one that others may have.
  private func key(unique: Bool) -> AnyKey {
    calls += 1
    if unique || random.number(0...25) > 0 {
      return AnyKey(stringValue: random.pick(Self.keys) + "_\(calls)X")
    }
    return AnyKey(stringValue: random.pick(["a", "b", "é", "e\u{301}", "K", "\u{212A}", "id"]))
  }

  fileprivate func run(_ container: inout KeyedEncodingContainer<AnyKey>) throws {
    if random.number(0...3) == 0 { note("keyed \(Script.path(container.codingPath))") }
    if random.number(0...60) == 0 { keep(container) }
    let count = random.number(0...30) == 0 ? random.number(40...90) : random.number(0...7)
    for _ in 0..<count {
      if random.number(0...40) == 0, let step = kept.last { try step() }
      switch random.number(0...22) {
      case 0: try container.encodeNil(forKey: key(unique: false))
      case 1: try container.encode(random.number(0...1) == 0, forKey: key(unique: false))
      case 2, 3, 4: try container.encode(random.number(-100_000...100_000), forKey: key(unique: false))
      case 5, 6: try container.encode(random.pick(Self.texts), forKey: key(unique: false))
      case 7:
        let value = double()
        let key = key(unique: false)
        if random.number(0...9) == 0 {
          try? container.encode(value, forKey: key)
        } else {
          try container.encode(value, forKey: key)
        }
      case 8: try container.encode(Float(double()), forKey: key(unique: false))
      case 9: try container.encode(Int64.min, forKey: key(unique: false))
      case 10: try container.encode(UInt64.max, forKey: key(unique: false))
      case 11: try container.encodeIfPresent(random.number(0...1) == 0 ? nil : "present", forKey: key(unique: false))
      case 12: try container.encode([1, random.number(0...100)], forKey: key(unique: false))
      case 13:
        let texts: [String: [String]?] = ["oneKey": [random.pick(Self.texts)], "twoKeys": nil, "/": []]
        try container.encode(texts, forKey: key(unique: false))
      case 14:
        try container.encode(Optional(["aKey": Date(timeIntervalSinceReferenceDate: 1)]), forKey: key(unique: false))
      case 15 where calls < 40:
        var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: key(unique: true))
        try run(&nested)
        if random.number(0...30) == 0 { keep(nested) }
      case 16 where calls < 40:
        var nested = container.nestedUnkeyedContainer(forKey: key(unique: true))
        try run(&nested)
      case 17 where calls < 40:
        let encoder = container.superEncoder(forKey: key(unique: true))
        note("super \(Script.path(encoder.codingPath))")
        try ScriptedOutput().encode(to: encoder)
        if random.number(0...4) == 0 { try container.encode(1, forKey: key(unique: true)) }
        if random.number(0...20) == 0 { keptEncoders.append(encoder) }
      case 18 where random.number(0...3) == 0: try ScriptedOutput().encode(to: container.superEncoder())
      case 19 where calls < 40:
        try container.encode(["aKey": ["bKey": ScriptedOutput()]], forKey: key(unique: false))
      default:
        let key = key(unique: false)
        guard calls < 60 else { return }
        // Foundation traps if a type catches the error of another type's value and goes on.
        try container.encode(ScriptedOutput(), forKey: key)
      }
    }
  }

  private func keep(_ container: KeyedEncodingContainer<AnyKey>) {
    var container = container
    kept.append { [unowned self] in try container.encode("kept", forKey: key(unique: true)) }
  }

  fileprivate func run(_ container: inout any UnkeyedEncodingContainer) throws {
    if random.number(0...2) == 0 { note("unkeyed \(container.count) \(Script.path(container.codingPath))") }
    if random.number(0...60) == 0 {
      var copy = container
      kept.append { try copy.encode("kept") }
    }
    for _ in 0..<random.number(0...6) {
      calls += 1
      if random.number(0...40) == 0, let step = kept.last { try step() }
      switch random.number(0...16) {
      case 0: try container.encodeNil()
      case 1: try container.encode(random.number(0...1) == 0)
      case 2, 3: try container.encode(UInt8(random.number(0...255)))
      case 4, 5: try container.encode(random.pick(Self.texts))
      case 6: try container.encode(double())
      case 7: try container.encode(contentsOf: [1.5, 2, 3.25])
      case 8:
        if random.number(0...1) == 0 {
          try container.encode(["aKey": 1])
        } else {
          try container.encode([Float(double())])
        }
      case 9:
        try container.encode(Data([1, 2, 3, 0xFF, 0xFE, UInt8(random.number(0...255))].prefix(random.number(0...6))))
      case 10 where calls < 40:
        var nested = container.nestedContainer(keyedBy: AnyKey.self)
        try run(&nested)
      case 11 where calls < 40:
        var nested = container.nestedUnkeyedContainer()
        try run(&nested)
      case 12 where calls < 40:
        let encoder = container.superEncoder()
        note("super \(random.number(0...9) == 0 ? container.count : 0) \(Script.path(encoder.codingPath))")
        try ScriptedOutput().encode(to: encoder)
      case 13 where calls < 40:
        try ScriptedOutput().encode(to: container.superEncoder())
        note("after \(container.count)")
      default:
        guard calls < 60 else { return }
        try container.encode(ScriptedOutput())
      }
    }
  }
}
