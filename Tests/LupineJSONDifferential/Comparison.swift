// Comparison: decodes a random document by LupineJSON and by Foundation, with random settings.

package import Foundation
internal import LupineFormats
internal import LupineRandom

package enum Outcome: Sendable, Equatable {
  /// Both decoders return the same value.
  case equal
  /// Foundation fails, and LupineJSON reports that it can't decode the document.
  case bothFail
  /// Only Foundation decodes the document. It takes longer, and the result is right.
  case slow
  /// LupineJSON returns a value that Foundation doesn't return.
  case wrong(String)
}

/// One document with settings.
package struct Comparison {
  package let document: [UInt8]
  package let decoder: JSONDecoder
  private let seed: UInt64

  /// Decodes the document of a seed.
  package static func outcome(seed: UInt64) -> (outcome: Outcome, name: String) {
    var source = DocumentSource(seed: seed)
    let decoder = decoder(&source.random)
    // A third of the documents is decoded by scripts.
    if source.random.number(0...2) == 0 {
      let comparison = Comparison(document: source.document(), decoder: decoder, seed: source.random.next())
      return (comparison.outcomeOfScript(), "script")
    }
    let sample = source.random.pick(Sample.all)
    let comparison = Comparison(document: source.document(shape: sample.shape), decoder: decoder, seed: 0)
    return (sample.compare(comparison), sample.name)
  }

  /// Decodes given bytes as the type that the number chooses.
  package static func outcome(of document: [UInt8], choice: UInt64) -> Outcome {
    var random = SplitMix64(seed: choice)
    let comparison = Comparison(document: document, decoder: decoder(&random), seed: random.next())
    return random.number(0...2) == 0 ? comparison.outcomeOfScript() : random.pick(Sample.all).compare(comparison)
  }

  private static func decoder(_ random: inout SplitMix64) -> JSONDecoder {
    let decoder = JSONDecoder()
    switch random.number(0...7) {
    case 0, 1, 2: decoder.keyDecodingStrategy = .convertFromSnakeCase
    case 3:
      decoder.keyDecodingStrategy = .custom { path in
        AnyKey(stringValue: (path.last?.stringValue ?? "").lowercased().replacingOccurrences(of: "_", with: ""))
      }
    default: break
    }
    switch random.number(0...7) {
    case 0, 1: decoder.dateDecodingStrategy = .iso8601
    case 2: decoder.dateDecodingStrategy = .secondsSince1970
    case 3: decoder.dateDecodingStrategy = .millisecondsSince1970
    case 4:
      decoder.dateDecodingStrategy = .custom { decoder in
        let container = try decoder.singleValueContainer()
        let seconds = try? container.decode(Double.self)
        return Date(timeIntervalSinceReferenceDate: (seconds ?? -1) + Double(decoder.codingPath.count))
      }
    default: break
    }
    switch random.number(0...5) {
    case 0: decoder.dataDecodingStrategy = .deferredToData
    case 1: decoder.dataDecodingStrategy = .custom { Data(try $0.singleValueContainer().decode(String.self).utf8) }
    default: break
    }
    if random.number(0...3) == 0 {
      decoder.nonConformingFloatDecodingStrategy = .convertFromString(
        positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: random.number(0...3) == 0 ? "" : "NaN")
    }
    return decoder
  }

  func outcome<T: Decodable & Equatable>(of type: T.Type) -> Outcome {
    let data = Data(document)
    let expected = Result { try decoder.decode(type, from: data) }
    guard let value = FoundationJSON.fastValue(type, from: data, with: decoder) else {
      if case .success = expected { return .slow }
      return .bothFail
    }
    // NaN isn't equal to itself. The order of a dictionary's entries doesn't matter.
    if case .success(let expected) = expected, value == expected { return .equal }
    let expectedParts = expected.map { Self.parts($0) }
    if case .success(let parts) = expectedParts, Self.parts(value).sorted() == parts.sorted() { return .equal }
    return .wrong("\(Self.parts(value)), not \(expectedParts), of \(String(decoding: document, as: UTF8.self))")
  }

  /// Returns the parts of a value as texts. `Date.description` traps for NaN, and strings are equal if they are only equivalent.
  static func parts(_ value: Any) -> [String] {
    if let date = value as? Date { return ["\(date.timeIntervalSinceReferenceDate)"] }
    if let data = value as? Data { return [data.base64EncodedString()] }
    if let text = value as? String { return [text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()] }
    let children = Mirror(reflecting: value).children
    return children.isEmpty ? ["\(value)"] : children.flatMap { parts($0.value) }
  }

  private func outcomeOfScript() -> Outcome {
    let data = Data(document)
    let foundation = Script(seed: seed)
    decoder.userInfo[Script.key] = foundation
    let expected = Result { try decoder.decode(ScriptedValue.self, from: data) }
    let fast = Script(seed: seed)
    defer {
      foundation.forget()
      fast.forget()
    }
    decoder.userInfo[Script.key] = fast
    guard FoundationJSON.fastValue(ScriptedValue.self, from: data, with: decoder) != nil else {
      if case .success = expected { return .slow }
      return .bothFail
    }
    guard case .success = expected else {
      return .wrong("a value, not \(expected), of \(String(decoding: document, as: UTF8.self))")
    }
    let (records, expectedRecords) = (fast.finish(), foundation.finish())
    guard records != expectedRecords else { return .equal }
    let difference = zip(records, expectedRecords).first { $0 != $1 }
    return .wrong(
      "\(difference.map { "\($0.0)\n  not \($0.1)" } ?? "another length") of \(String(decoding: document, as: UTF8.self))"
    )
  }
}
