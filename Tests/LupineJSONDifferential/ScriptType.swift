// ScriptType: the types that a script decodes, by each method that containers have for them.

internal import Foundation

/// A type with which a script calls methods of containers. The methods return a text of the decoded value.
protocol ScriptType: Sendable {
  func required(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey) throws -> String
  func optional(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey) throws -> String
  func required(_ container: inout any UnkeyedDecodingContainer) throws -> String
  func optional(_ container: inout any UnkeyedDecodingContainer) throws -> String
  func required(_ container: any SingleValueDecodingContainer) throws -> String
}

/// Calls the methods that are generic, or those for `T` if there are any.
struct Typed<T: Decodable>: ScriptType, CustomStringConvertible {
  var description: String { "\(T.self)" }

  func required(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey) throws -> String {
    switch T.self {
    case is Bool.Type: text(try container.decode(Bool.self, forKey: key))
    case is String.Type: text(try container.decode(String.self, forKey: key))
    case is Double.Type: text(try container.decode(Double.self, forKey: key))
    case is Float.Type: text(try container.decode(Float.self, forKey: key))
    case is Int.Type: text(try container.decode(Int.self, forKey: key))
    case is Int8.Type: text(try container.decode(Int8.self, forKey: key))
    case is Int16.Type: text(try container.decode(Int16.self, forKey: key))
    case is Int32.Type: text(try container.decode(Int32.self, forKey: key))
    case is Int64.Type: text(try container.decode(Int64.self, forKey: key))
    case is Int128.Type: text(try container.decode(Int128.self, forKey: key))
    case is UInt.Type: text(try container.decode(UInt.self, forKey: key))
    case is UInt8.Type: text(try container.decode(UInt8.self, forKey: key))
    case is UInt16.Type: text(try container.decode(UInt16.self, forKey: key))
    case is UInt32.Type: text(try container.decode(UInt32.self, forKey: key))
    case is UInt64.Type: text(try container.decode(UInt64.self, forKey: key))
    case is UInt128.Type: text(try container.decode(UInt128.self, forKey: key))
    default: text(try container.decode(T.self, forKey: key))
    }
  }

  func optional(_ container: KeyedDecodingContainer<AnyKey>, _ key: AnyKey) throws -> String {
    switch T.self {
    case is Bool.Type: text(try container.decodeIfPresent(Bool.self, forKey: key))
    case is String.Type: text(try container.decodeIfPresent(String.self, forKey: key))
    case is Double.Type: text(try container.decodeIfPresent(Double.self, forKey: key))
    case is Float.Type: text(try container.decodeIfPresent(Float.self, forKey: key))
    case is Int.Type: text(try container.decodeIfPresent(Int.self, forKey: key))
    case is Int8.Type: text(try container.decodeIfPresent(Int8.self, forKey: key))
    case is Int16.Type: text(try container.decodeIfPresent(Int16.self, forKey: key))
    case is Int32.Type: text(try container.decodeIfPresent(Int32.self, forKey: key))
    case is Int64.Type: text(try container.decodeIfPresent(Int64.self, forKey: key))
    case is Int128.Type: text(try container.decodeIfPresent(Int128.self, forKey: key))
    case is UInt.Type: text(try container.decodeIfPresent(UInt.self, forKey: key))
    case is UInt8.Type: text(try container.decodeIfPresent(UInt8.self, forKey: key))
    case is UInt16.Type: text(try container.decodeIfPresent(UInt16.self, forKey: key))
    case is UInt32.Type: text(try container.decodeIfPresent(UInt32.self, forKey: key))
    case is UInt64.Type: text(try container.decodeIfPresent(UInt64.self, forKey: key))
    case is UInt128.Type: text(try container.decodeIfPresent(UInt128.self, forKey: key))
    default: text(try container.decodeIfPresent(T.self, forKey: key))
    }
  }

  func required(_ container: inout any UnkeyedDecodingContainer) throws -> String {
    switch T.self {
    case is Bool.Type: text(try container.decode(Bool.self))
    case is String.Type: text(try container.decode(String.self))
    case is Double.Type: text(try container.decode(Double.self))
    case is Float.Type: text(try container.decode(Float.self))
    case is Int.Type: text(try container.decode(Int.self))
    case is Int8.Type: text(try container.decode(Int8.self))
    case is Int16.Type: text(try container.decode(Int16.self))
    case is Int32.Type: text(try container.decode(Int32.self))
    case is Int64.Type: text(try container.decode(Int64.self))
    case is Int128.Type: text(try container.decode(Int128.self))
    case is UInt.Type: text(try container.decode(UInt.self))
    case is UInt8.Type: text(try container.decode(UInt8.self))
    case is UInt16.Type: text(try container.decode(UInt16.self))
    case is UInt32.Type: text(try container.decode(UInt32.self))
    case is UInt64.Type: text(try container.decode(UInt64.self))
    case is UInt128.Type: text(try container.decode(UInt128.self))
    default: text(try container.decode(T.self))
    }
  }

  func optional(_ container: inout any UnkeyedDecodingContainer) throws -> String {
    switch T.self {
    case is Bool.Type: text(try container.decodeIfPresent(Bool.self))
    case is String.Type: text(try container.decodeIfPresent(String.self))
    case is Double.Type: text(try container.decodeIfPresent(Double.self))
    case is Float.Type: text(try container.decodeIfPresent(Float.self))
    case is Int.Type: text(try container.decodeIfPresent(Int.self))
    case is Int8.Type: text(try container.decodeIfPresent(Int8.self))
    case is Int16.Type: text(try container.decodeIfPresent(Int16.self))
    case is Int32.Type: text(try container.decodeIfPresent(Int32.self))
    case is Int64.Type: text(try container.decodeIfPresent(Int64.self))
    case is Int128.Type: text(try container.decodeIfPresent(Int128.self))
    case is UInt.Type: text(try container.decodeIfPresent(UInt.self))
    case is UInt8.Type: text(try container.decodeIfPresent(UInt8.self))
    case is UInt16.Type: text(try container.decodeIfPresent(UInt16.self))
    case is UInt32.Type: text(try container.decodeIfPresent(UInt32.self))
    case is UInt64.Type: text(try container.decodeIfPresent(UInt64.self))
    case is UInt128.Type: text(try container.decodeIfPresent(UInt128.self))
    default: text(try container.decodeIfPresent(T.self))
    }
  }

  func required(_ container: any SingleValueDecodingContainer) throws -> String {
    switch T.self {
    case is Bool.Type: text(try container.decode(Bool.self))
    case is String.Type: text(try container.decode(String.self))
    case is Double.Type: text(try container.decode(Double.self))
    case is Float.Type: text(try container.decode(Float.self))
    case is Int.Type: text(try container.decode(Int.self))
    case is Int8.Type: text(try container.decode(Int8.self))
    case is Int16.Type: text(try container.decode(Int16.self))
    case is Int32.Type: text(try container.decode(Int32.self))
    case is Int64.Type: text(try container.decode(Int64.self))
    case is Int128.Type: text(try container.decode(Int128.self))
    case is UInt.Type: text(try container.decode(UInt.self))
    case is UInt8.Type: text(try container.decode(UInt8.self))
    case is UInt16.Type: text(try container.decode(UInt16.self))
    case is UInt32.Type: text(try container.decode(UInt32.self))
    case is UInt64.Type: text(try container.decode(UInt64.self))
    case is UInt128.Type: text(try container.decode(UInt128.self))
    default: text(try container.decode(T.self))
    }
  }

  private func text(_ value: some Any) -> String {
    // A type with a description has no other parts.
    (value as? any CustomStringConvertible & ScriptText).map { "\($0)" }
      ?? Comparison.parts(value).joined(separator: ",")
  }
}

/// A type whose description tells two values apart.
protocol ScriptText {}

/// A string that is decoded by a custom initializer.
struct Text: Decodable {
  let text: String

  init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
}

/// A scripted value inside of a scripted value.
struct Nested: Decodable, CustomStringConvertible, ScriptText {
  var description: String { "nested" }

  init(from decoder: any Decoder) throws { _ = try ScriptedValue(from: decoder) }
}

/// A dictionary of texts, as an ordered text.
struct Entries: Decodable, CustomStringConvertible, ScriptText {
  let description: String

  init(from decoder: any Decoder) throws {
    // Which of several errors is thrown depends on the order of the entries.
    guard let entries = try? decoder.singleValueContainer().decode([String: Text].self) else {
      description = "no texts"
      return
    }
    description = entries.map { "\($0)=\($1.text)" }.sorted().joined(separator: "&")
  }
}

/// A dictionary with numbers as keys, as an ordered text.
struct Numbered: Decodable, CustomStringConvertible, ScriptText {
  let description: String

  init(from decoder: any Decoder) throws {
    guard let entries = try? decoder.singleValueContainer().decode([Int: Double].self) else {
      description = "no numbers"
      return
    }
    description = entries.map { "\($0)=\($1)" }.sorted().joined(separator: "&")
  }
}
