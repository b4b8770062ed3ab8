// JSONSlot: the place of one value of a document, for types that `JSONSpecialWriting` encodes.

/// A place for `JSONSpecialWriting`, which writes one value.
package struct JSONSlot {
  let encoder: JSONValueEncoder
  let place: JSONPlace

  package func write(_ text: String) { encoder.output.buffer.string(text) }

  /// Writes ASCII characters that need no escape.
  package func write(plain text: borrowing Span<UInt8>) {
    // SAFETY: the pointer is used only while the closure runs.
    text.withUnsafeBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return encoder.output.buffer.string("") }
      _ = encoder.output.buffer.string(JSONBytes(start: start, count: buffer.count))
    }
  }

  /// Writes the characters of a number.
  package func write(number: String) { encoder.output.buffer.plain(number) }

  package func write(_ value: Double) throws { try encoder.output.write(value) }

  /// Writes a finite number. Others are left to Foundation.
  package func write(finite value: Double) throws {
    guard value.isFinite else { throw unsupported() }
    encoder.output.buffer.double(value)
  }

  /// Records that only Foundation's encoder can encode the value, and returns the error to throw.
  package func unsupported() -> any Error { encoder.output.unusable() }

  /// Calls the closure with an encoder at this place.
  package func withEncoder(_ body: (any Encoder) throws -> Void) throws {
    try encoder.write(special: place, body)
  }
}
