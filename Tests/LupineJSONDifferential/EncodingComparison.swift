// EncodingComparison: encodes a random value by LupineJSON and by Foundation, with random settings.

internal import Foundation
internal import LupineFormats
internal import LupineRandom

/// One encoder for a value.
package struct EncodingComparison {
  private let encoder: JSONEncoder

  /// Encodes the value of a seed.
  package static func outcome(seed: UInt64) -> (outcome: Outcome, name: String) {
    var source = DocumentSource(seed: seed)
    let comparison = EncodingComparison(encoder: encoder(&source.random))
    // Half of the values are written by scripts.
    if source.random.number(0...1) == 0 {
      let script = source.random.next()
      return (comparison.outcomeOfScript(seed: script), "script")
    }
    let sample = source.random.pick(EncodableSample.all)
    return (sample.compare(comparison, &source), sample.name)
  }

  private static func encoder(_ random: inout SplitMix64) -> JSONEncoder {
    let encoder = JSONEncoder()
    // Without sorted keys, the documents are compared after sorting.
    if random.number(0...2) > 0 { encoder.outputFormatting.insert(.sortedKeys) }
    if random.number(0...2) == 0 { encoder.outputFormatting.insert(.prettyPrinted) }
    if random.number(0...2) == 0 { encoder.outputFormatting.insert(.withoutEscapingSlashes) }
    switch random.number(0...7) {
    case 0, 1, 2: encoder.keyEncodingStrategy = .convertToSnakeCase
    case 3:
      encoder.keyEncodingStrategy = .custom { path in
        AnyKey(stringValue: path.map(\.stringValue).joined(separator: "."))
      }
    default: break
    }
    switch random.number(0...7) {
    case 0, 1: encoder.dateEncodingStrategy = .iso8601
    case 2: encoder.dateEncodingStrategy = .secondsSince1970
    case 3: encoder.dateEncodingStrategy = .millisecondsSince1970
    case 4:
      encoder.dateEncodingStrategy = .custom { date, encoder in
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds > 0 else { return }
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(seconds, forKey: AnyKey(stringValue: Script.path(encoder.codingPath)))
      }
    default: break
    }
    switch random.number(0...5) {
    case 0: encoder.dataEncodingStrategy = .deferredToData
    case 1:
      encoder.dataEncodingStrategy = .custom { data, encoder in
        guard data.count > 3 else { return }
        var container = encoder.singleValueContainer()
        try container.encode(data.count)
      }
    default: break
    }
    if random.number(0...3) > 0 {
      encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "+/\"∞", negativeInfinity: "-Infinity", nan: "NaN")
    }
    return encoder
  }

  func outcome<T: Encodable>(of value: T) -> Outcome {
    let expected = Result { try encoder.encode(value) }
    return outcome(FoundationJSON.fastData(value, with: encoder), expected)
  }

  private func outcome(_ data: Data?, _ expected: Result<Data, any Error>) -> Outcome {
    guard let data else {
      if case .success = expected { return .slow }
      return .bothFail
    }
    guard case .success(let expected) = expected else { return .wrong("\(text(data)), not \(expected)") }
    if data == expected { return .equal }
    guard !encoder.outputFormatting.contains(.sortedKeys) else { return .wrong("\(text(data)), not \(text(expected))") }
    // Only the order of the keys may differ, so that the lengths are equal.
    if data.count == expected.count, let sorted = sorted(data), sorted == self.sorted(expected) { return .equal }
    return .wrong("\(text(data)), not \(text(expected)), without order")
  }

  private func sorted(_ data: Data) -> Data? {
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .fragmentsAllowed]
    guard let value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) else { return nil }
    return try? JSONSerialization.data(withJSONObject: value, options: options)
  }

  private func text(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }

  private func outcomeOfScript(seed: UInt64) -> Outcome {
    let foundation = OutputScript(seed: seed)
    encoder.userInfo[OutputScript.key] = foundation
    let expected = Result { try encoder.encode(ScriptedOutput()) }
    let fast = OutputScript(seed: seed)
    encoder.userInfo[OutputScript.key] = fast
    let data = FoundationJSON.fastData(ScriptedOutput(), with: encoder)
    defer {
      foundation.forget()
      fast.forget()
    }
    let outcome = outcome(data, expected)
    guard data != nil, outcome == .equal, fast.record != foundation.record else { return outcome }
    let difference = zip(fast.record, foundation.record).first { $0 != $1 }
    return .wrong("\(difference.map { "\($0.0)\n  not \($0.1)" } ?? "another length") of \(data.map(text) ?? "")")
  }
}

/// A type whose values are decoded from random documents, and then encoded.
struct EncodableSample: Sendable {
  let name: String
  let compare: @Sendable (EncodingComparison, inout DocumentSource) -> Outcome

  init<T: Codable & SendableMetatype>(_ type: T.Type, _ shape: DocumentSource.Shape) {
    name = "\(type)"
    compare = { comparison, source in
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .convertFromSnakeCase
      // The value may exceed the range of a date in ISO 8601.
      decoder.dateDecodingStrategy = source.random.number(0...1) == 0 ? .iso8601 : .secondsSince1970
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
      for _ in 0..<3 {
        let document = Data(source.document(shape: shape))
        guard let value = try? decoder.decode(type, from: document) else { continue }
        return comparison.outcome(of: value)
      }
      return .bothFail
    }
  }

  private static let texts = DocumentSource.Shape.oneOf([.string, .string, .number, .whole])

  static let all: [EncodableSample] = [
    EncodableSample(Plain.self, Plain.shape), EncodableSample([Plain].self, .list(Plain.shape)),
    EncodableSample(Snake.self, Snake.shape), EncodableSample(Wide.self, Wide.shape),
    EncodableSample(Tree.self, Tree.shape), EncodableSample([Shape].self, .list(Shape.shape)),
    EncodableSample(Loose.self, .any), EncodableSample([Loose].self, .list(.any)),
    EncodableSample([String: Loose].self, .dictionary(.any)), EncodableSample([String: Int].self, .dictionary(.whole)),
    EncodableSample([Int: String].self, .dictionary(.string)),
    EncodableSample([String: [String: Double?]].self, .dictionary(.dictionary(.optional(.number)))),
    EncodableSample([String: [Int]?].self, .dictionary(.optional(.list(.whole)))),
    EncodableSample([[String: Plain]?].self, .list(.optional(.dictionary(Plain.shape)))),
    EncodableSample([Side: Int].self, .object([("left", .whole), ("right", .whole)])),
    EncodableSample([Name: Int].self, .dictionary(.whole)), EncodableSample(Set<Int>.self, .list(.whole)),
    EncodableSample([String: Plain].self, .dictionary(Plain.shape)), EncodableSample([Int].self, .list(.whole)),
    EncodableSample([Double].self, .list(.oneOf([.number, .number, .string]))),
    EncodableSample([Float].self, .list(.number)), EncodableSample([Double?].self, .list(.optional(.number))),
    EncodableSample([String].self, .list(.string)), EncodableSample([Bool?].self, .list(.optional(.truth))),
    EncodableSample([UInt8].self, .list(.whole)), EncodableSample([[Int]?].self, .list(.optional(.list(.number)))),
    EncodableSample([Date].self, .list(.oneOf([.date, .number]))), EncodableSample([Decimal].self, .list(.number)),
    EncodableSample([URL].self, .list(.string)), EncodableSample([Data].self, .list(.string)),
    EncodableSample([Date?].self, .list(.optional(.oneOf([.date, .number])))),
    EncodableSample(Special.self, Special.shape), EncodableSample(Range<Int>.self, .list(.whole)),
    EncodableSample(Optional<Int>.self, .optional(.number)), EncodableSample(Int.self, .number),
    EncodableSample(Double.self, .number), EncodableSample(String.self, .string), EncodableSample(Date.self, .number),
    EncodableSample(URL.self, .string), EncodableSample(UUID.self, .uuid),
    EncodableSample([CGFloat].self, .list(.number)),
    EncodableSample([Int128].self, .list(.whole)), EncodableSample([UInt64].self, .list(.whole)),
    EncodableSample([Side].self, .list(.side)), EncodableSample([[String]].self, .list(.list(.string))),
    EncodableSample(DateComponents.self, .any), EncodableSample([ClosedRange<Double>].self, .list(.list(.number))),
  ]
}
