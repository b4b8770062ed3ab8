// ScriptedValue: a type whose initializer calls random methods of the decoder and its containers, and records what they return.

internal import Foundation
internal import LupineRandom

/// The choices of one decoding, and the record of their results. One thread uses it.
package final class Script: @unchecked Sendable {
  package static let key = CodingUserInfoKey(rawValue: "script") ?? { preconditionFailure("a name makes a key") }()

  fileprivate var random: SplitMix64
  fileprivate var record: [String] = []
  fileprivate var calls = 0
  /// Decoders and containers that are used after decoding.
  fileprivate var kept: [() -> String] = []

  package init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// Returns the record, with the results of the decoders that the type has kept.
  package func finish() -> [String] { record + kept.map { $0() } }

  /// Releases the decoders that the type has kept, which refer to the script by their `userInfo`.
  package func forget() { kept = [] }

  fileprivate func note(_ text: String) { record.append(text) }

  // Runs a step. An error is recorded, and either ends the value's initializer or not.
  fileprivate func attempt(_ name: String, _ step: () throws -> String) throws {
    calls += 1
    let mayFail = random.number(0...5) > 0
    do {
      note("\(name): \(try step())")
    } catch {
      note("\(name): \(Self.description(error))")
      if !mayFail { throw error }
    }
  }

  package static func description(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "other error \(error)" }
    func text(_ name: String, _ context: DecodingError.Context) -> String {
      "\(name) at \(path(context.codingPath)): \(context.debugDescription)"
    }
    switch error {
    case .typeMismatch(let type, let context): return text("mismatch \(type)", context)
    case .valueNotFound(let type, let context): return text("no value \(type)", context)
    case .keyNotFound(let key, let context): return text("no key \(key.stringValue)", context)
    case .dataCorrupted(let context): return text("corrupted", context)
    @unknown default: return "unknown"
    }
  }

  package static func path(_ path: [any CodingKey]) -> String {
    path.map { "\($0.stringValue)|\($0.intValue.map { "\($0)" } ?? "")" }.joined(separator: "/")
  }
}

package struct AnyKey: CodingKey {
  package var stringValue: String
  package var intValue: Int?

  package init(stringValue: String) {
    self.stringValue = stringValue
    intValue = Int(stringValue)
  }

  package init(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }
}

package struct ScriptedValue: Decodable {
  package init(from decoder: any Decoder) throws {
    guard let script = decoder.userInfo[Script.key] as? Script else { return }
    if script.random.number(0...6) == 0 { script.note("path \(Script.path(decoder.codingPath))") }
    if script.random.number(0...30) == 0 { script.keep(decoder) }
    for _ in 0...script.random.number(0...1) where script.calls < 60 {
      switch script.random.number(0...7) {
      case 0...3:
        try script.attempt("keyed") {
          let container = try decoder.container(keyedBy: AnyKey.self)
          try script.run(container)
          return "done"
        }
      case 4, 5:
        try script.attempt("unkeyed") {
          var container = try decoder.unkeyedContainer()
          try script.run(&container)
          return "done"
        }
      default:
        try script.attempt("single") {
          let container = try decoder.singleValueContainer()
          try script.run(container)
          return "done"
        }
      }
    }
  }
}

extension Script {
  fileprivate func keep(_ decoder: any Decoder) {
    kept.append {
      let name = (try? decoder.singleValueContainer().decode(String.self)) ?? "no string"
      let number = (try? decoder.singleValueContainer().decode(Double.self)).map { "\($0)" } ?? "no number"
      let keys = (try? decoder.container(keyedBy: AnyKey.self))?.allKeys.map(\.stringValue).sorted() ?? ["no keys"]
      return "kept \(name) \(number) \(keys) \(Self.path(decoder.codingPath))"
    }
  }

  private func key() -> AnyKey {
    if random.number(0...12) == 0 { return AnyKey(stringValue: "missing") }
    return AnyKey(stringValue: random.pick(DocumentSource.keys))
  }

  fileprivate func run(_ container: KeyedDecodingContainer<AnyKey>) throws {
    // Often in the order of the document.
    let keys = random.number(0...2) == 0 ? container.allKeys.sorted { $0.stringValue < $1.stringValue } : []
    if random.number(0...20) == 0 {
      kept.append { "kept keys \(container.allKeys.map(\.stringValue).sorted()) \(Self.path(container.codingPath))" }
    }
    for step in 0...random.number(0...14) where calls < 60 {
      let key = step < keys.count ? keys[step] : key()
      switch random.number(0...9) {
      case 0: note("contains \(key.stringValue) \(container.contains(key))")
      case 1: note("keys \(container.allKeys.map(\.stringValue).sorted())")
      case 2: try attempt("nil \(key.stringValue)") { "\(try container.decodeNil(forKey: key))" }
      case 3:
        try attempt("keyed \(key.stringValue)") {
          try run(try container.nestedContainer(keyedBy: AnyKey.self, forKey: key))
          return "done"
        }
      case 4:
        try attempt("unkeyed \(key.stringValue)") {
          var list = try container.nestedUnkeyedContainer(forKey: key)
          try run(&list)
          return "done"
        }
      case 5:
        try attempt("super \(key.stringValue)") {
          let decoder =
            random.number(0...1) == 0 ? try container.superDecoder() : try container.superDecoder(forKey: key)
          _ = try ScriptedValue(from: decoder)
          return Self.path(decoder.codingPath)
        }
      case 6: try attempt("path \(key.stringValue)") { Self.path(container.codingPath) }
      default:
        let type = random.pick(Self.types)
        let isOptional = random.number(0...1) == 0
        try attempt("\(type) \(key.stringValue)\(isOptional ? "?" : "")") {
          try isOptional ? type.optional(container, key) : type.required(container, key)
        }
      }
    }
  }

  fileprivate func run(_ container: inout any UnkeyedDecodingContainer) throws {
    for _ in 0...random.number(0...8) where calls < 60 {
      switch random.number(0...9) {
      case 0: note("at \(container.currentIndex) of \(container.count ?? -1) \(container.isAtEnd)")
      case 1: try attempt("nil") { "\(try container.decodeNil())" }
      case 2:
        try attempt("keyed") {
          try run(try container.nestedContainer(keyedBy: AnyKey.self))
          return "done"
        }
      case 3:
        try attempt("unkeyed") {
          var list = try container.nestedUnkeyedContainer()
          try run(&list)
          return "done"
        }
      case 4:
        try attempt("super") {
          let decoder = try container.superDecoder()
          _ = try ScriptedValue(from: decoder)
          return Self.path(decoder.codingPath)
        }
      case 5: try attempt("path") { Self.path(container.codingPath) }
      default:
        let type = random.pick(Self.types)
        let isOptional = random.number(0...1) == 0
        try attempt("\(type)\(isOptional ? "?" : "")") {
          try isOptional ? type.optional(&container) : type.required(&container)
        }
      }
    }
  }

  fileprivate func run(_ container: any SingleValueDecodingContainer) throws {
    for _ in 0...random.number(0...4) where calls < 60 {
      switch random.number(0...5) {
      case 0: note("nil \(container.decodeNil())")
      case 1: note("path \(Self.path(container.codingPath))")
      default:
        let type = random.pick(Self.types)
        try attempt("\(type)") { try type.required(container) }
      }
    }
  }

  private static let types: [any ScriptType] = [
    Typed<Bool>(), Typed<String>(), Typed<Double>(), Typed<Float>(), Typed<Int>(), Typed<Int8>(), Typed<Int16>(),
    Typed<Int32>(), Typed<Int64>(), Typed<Int128>(), Typed<UInt>(), Typed<UInt8>(), Typed<UInt16>(), Typed<UInt32>(),
    Typed<UInt64>(), Typed<UInt128>(), Typed<Date>(), Typed<Data>(), Typed<URL>(), Typed<Decimal>(), Typed<[Int]>(),
    Typed<[String]>(), Typed<[Double]>(), Typed<[Date]>(), Typed<[Bool?]>(), Typed<String?>(), Typed<UUID>(),
    Typed<Text>(), Typed<Text>(), Typed<Nested>(), Typed<Nested>(), Typed<Nested>(), Typed<[Nested]>(),
    Typed<Entries>(), Typed<Numbered>(),
  ]
}
