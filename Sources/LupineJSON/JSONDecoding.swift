// JSONDecoding: decodes a value from the bytes of a document.

package enum JSONDecoding {
  /// Decodes a value from a document in UTF-8, with or without a byte order mark. Returns nil if the document isn't valid JSON, if
  /// the value could differ from Foundation's, or, unless `mayKeepDecoders`, if the type keeps a decoder or a container, which
  /// could need Foundation's decoder later.
  ///
  /// - Throws: The errors of the type's initializer, and `JSONError`.
  package static func decode<T: Decodable>(
    _ type: T.Type, from bytes: borrowing Span<UInt8>, _ options: JSONDecodingOptions, mayKeepDecoders: Bool = false
  ) throws -> T? {
    // SAFETY: the document refers to the bytes only while this closure runs, unless it has copied them.
    try bytes.withUnsafeBufferPointer { buffer -> T? in
      guard let start = buffer.baseAddress else { return nil }
      var bytes = JSONBytes(start: start, count: buffer.count)
      if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
        bytes = bytes.part(at: 3, count: bytes.count - 3)
      }
      guard var document = JSONDocument(bytes, options) else { return nil }
      defer {
        // A type's initializer may keep a decoder or a container.
        if !isKnownUniquelyReferenced(&document) { document.copyBytes() }
      }
      let value = try document.decode(type)
      return document.isUnreliable || !mayKeepDecoders && !isKnownUniquelyReferenced(&document) ? nil : value
    }
  }
}
