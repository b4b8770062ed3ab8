// Reading into an array, for callers that keep their memory safe.

extension TLSSession {
  /// Decrypts into the array's elements, which must not be none. Throws as `read(into:)` with a pointer does.
  package mutating func read(into buffer: inout [UInt8]) throws(TLSError) -> ReadStep {
    var span = buffer.mutableSpan
    // SAFETY: the pointer lives only inside the closure, and the array's bytes are initialised.
    return try span.withUnsafeMutableBytes { (bytes) throws(TLSError) -> ReadStep in try self.read(into: bytes) }
  }
}
