// TLSSession+Buffer: decrypts into an array, for callers without unsafe code.

extension TLSSession {
  /// Decrypts received data into `buffer`, which must not be empty, and overwrites its elements. Throws the same errors as
  /// `read(into:)` with a pointer.
  package mutating func read(into buffer: inout [UInt8]) throws(TLSError) -> ReadStep {
    var span = buffer.mutableSpan
    // SAFETY: the pointer is only used inside the closure, and the array's bytes are initialized.
    return try span.withUnsafeMutableBytes { (bytes) throws(TLSError) -> ReadStep in try self.read(into: bytes) }
  }
}
