// JSONAnyWriting: writes values of unknown types, as JSONSerialization does.

/// A value that LupineJSON doesn't know.
package enum JSONOtherValue {
  case null
  /// The characters of a number.
  case number(String)
}

extension JSONWriting {
  // SAFETY: the document's memory is freed after the closure, which returns a copy.

  /// Writes arrays and dictionaries of strings, numbers, truth values and nil, and calls the closure with the document in UTF-8.
  /// With `sortsKeys`, the keys are in the order of JSONSerialization. Returns nil for other values, for numbers
  /// that JSON can't represent, and for keys whose order only Foundation knows.
  package static func write<Result>(
    object: Any, _ options: JSONEncodingOptions, other: @escaping (Any) -> JSONOtherValue?,
    _ use: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result? {
    var options = options
    // Dictionaries are sorted before they are written.
    let sortsKeys = options.sortsKeys
    options.sortsKeys = false
    let memory = JSONOutputMemory(options)
    let output = memory.output
    let writer = JSONAnyWriter(output: output, sortsKeys: sortsKeys, other: other)
    guard let container = object as? any JSONAnyContainer, container.isCollection else { return nil }
    guard container.write(to: writer), !output.isUnusable else { return nil }
    return withExtendedLifetime(memory) { output.withBytes(use) }
  }
}

struct JSONAnyWriter {
  let output: JSONOutput
  let sortsKeys: Bool
  let other: (Any) -> JSONOtherValue?

  /// Returns whether the value was written. Types are compared, because casting to each of them takes much longer, and because
  /// objects of other types can be cast to these.
  func write(_ value: Any) -> Bool {
    switch ObjectIdentifier(type(of: value)) {
    case ObjectIdentifier(String.self): write(value) { output.buffer.string($0) }
    case ObjectIdentifier(Int.self): integer(value, Int.self)
    case ObjectIdentifier(Bool.self): write(value) { output.buffer.bool($0) }
    case ObjectIdentifier(Double.self):
      write(value, if: { (number: Double) in number.isFinite }) { output.buffer.double($0) }
    case ObjectIdentifier(Float.self):
      write(value, if: { (number: Float) in number.isFinite }) { output.buffer.float($0) }
    case ObjectIdentifier(Int8.self): integer(value, Int8.self)
    case ObjectIdentifier(Int16.self): integer(value, Int16.self)
    case ObjectIdentifier(Int32.self): integer(value, Int32.self)
    case ObjectIdentifier(Int64.self): integer(value, Int64.self)
    case ObjectIdentifier(UInt.self): integer(value, UInt.self)
    case ObjectIdentifier(UInt8.self): integer(value, UInt8.self)
    case ObjectIdentifier(UInt16.self): integer(value, UInt16.self)
    case ObjectIdentifier(UInt32.self): integer(value, UInt32.self)
    case ObjectIdentifier(UInt64.self): integer(value, UInt64.self)
    default: writeOther(value)
    }
  }

  private func integer<T: FixedWidthInteger>(_ value: Any, _ type: T.Type) -> Bool {
    write(value) { (value: T) in output.buffer.integer(value) }
  }

  @inline(__always)
  private func write<Value>(
    _ value: Any, if isValid: (Value) -> Bool = { _ in true }, _ write: (Value) -> Void
  ) -> Bool {
    guard let value = value as? Value, isValid(value) else { return false }
    write(value)
    return true
  }

  private func writeOther(_ value: Any) -> Bool {
    if let value = value as? any JSONAnyContainer { return value.write(to: self) }
    switch other(value) {
    case .null?: output.buffer.null()
    case .number(let text)?: output.buffer.plain(text)
    case nil: return false
    }
    return true
  }

  /// Writes a container by a closure, which returns whether it has written all of its elements.
  @inline(__always)
  func container(_ kind: JSONOpenValue.Kind, _ elements: () -> Bool) -> Bool {
    // Foundation refuses too many containers within each other.
    guard !output.isUnusable else { return false }
    _ = output.push(.value)
    let index = output.topIndex
    output.open(kind)
    guard elements() else { return false }
    output.end(index)
    return true
  }
}

/// An array, a dictionary with strings as keys, or an optional value.
protocol JSONAnyContainer {
  var isCollection: Bool { get }

  /// Returns whether the value was written.
  func write(to writer: JSONAnyWriter) -> Bool
}

extension Array: JSONAnyContainer {
  var isCollection: Bool { true }

  func write(to writer: JSONAnyWriter) -> Bool {
    writer.container(.array) {
      allSatisfy { element in
        writer.output.separate()
        return writer.write(element)
      }
    }
  }
}

extension Optional: JSONAnyContainer {
  var isCollection: Bool { false }

  func write(to writer: JSONAnyWriter) -> Bool {
    guard let self else {
      writer.output.buffer.null()
      return true
    }
    return writer.write(self)
  }
}

extension Dictionary: JSONAnyContainer where Key == String {
  var isCollection: Bool { true }

  func write(to writer: JSONAnyWriter) -> Bool {
    writer.container(.object) {
      guard writer.sortsKeys else {
        return allSatisfy { entry in writer.write(entry.value, key: entry.key) }
      }
      guard let entries = sortedEntries else { return false }
      return entries.allSatisfy { entry in writer.write(entry.value, key: entry.key) }
    }
  }

  // JSONSerialization compares numbers in keys by value, ignores case, and has further rules for other characters. Returns nil
  // unless the order of the folded bytes is the same.
  private var sortedEntries: [(folded: [UInt8], key: String, value: Value)]? {
    var entries: [(folded: [UInt8], key: String, value: Value)] = []
    entries.reserveCapacity(count)
    for (key, value) in self {
      let folded = key.utf8.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }
      guard count < 2 || folded.allSatisfy({ $0 &- 0x61 < 26 }) else { return nil }
      entries.append((folded, key, value))
    }
    entries.sort { $0.folded.lexicographicallyPrecedes($1.folded) }
    for (entry, next) in zip(entries, entries.dropFirst()) where entry.folded == next.folded { return nil }
    return entries
  }
}

extension JSONAnyWriter {
  // The keys of a dictionary are distinct.
  @inline(__always)
  fileprivate func write(_ value: Any, key: String) -> Bool {
    output.separate()
    output.buffer.string(key)
    if output.isPretty { output.buffer.byte(0x20) }
    output.buffer.byte(0x3A)
    if output.isPretty { output.buffer.byte(0x20) }
    return write(value)
  }
}
