// MemoryBIO: reads and writes OpenSSL's memory BIOs, through which ciphertext and PEM text pass.

import CLupineOpenSSL

/// Removes all bytes from a memory BIO of OpenSSL, and returns them.
package func drain(_ bio: OpaquePointer) -> [UInt8] {
  var bytes: [UInt8] = []
  drain(bio, into: &bytes)
  return bytes
}

/// Removes all bytes from a memory BIO of OpenSSL, and appends them to `output`.
func drain(_ bio: OpaquePointer, into output: inout [UInt8]) {
  defer { lupine_bio_shrink(bio, TLSLimits.emptyBufferBytesMax) }
  // Reads the bytes instead of copying them and resetting the BIO, because a reset clears all memory that the BIO ever
  // allocated.
  while case let pending = BIO_ctrl_pending(bio), pending > 0 {
    let start = output.count
    let count = Int(Int32(clamping: pending))
    output += [UInt8](repeating: 0, count: count)
    // SAFETY: exactly `count` bytes from `start` on were appended above.
    let read = output.withUnsafeMutableBytes { BIO_read(bio, $0.baseAddress?.advanced(by: start), Int32(count)) }
    guard read == count else {
      output.removeLast(count - max(Int(read), 0))
      return
    }
  }
}

/// Appends bytes to a memory BIO of OpenSSL. Returns false if memory runs out.
func fill(_ bio: OpaquePointer, with bytes: UnsafeRawBufferPointer) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(Int32.max)))
    // SAFETY: `piece` is within the caller's buffer, and OpenSSL copies it.
    let written = BIO_write(bio, piece.baseAddress, Int32(piece.count))
    guard written > 0 else { return false }
    rest = rest.dropFirst(Int(written))
  }
  return true
}

/// An OpenSSL object, which is freed at the end of this value's lifetime.
package struct Owned: ~Copyable {
  package let pointer: OpaquePointer
  private let free: (OpaquePointer?) -> Void

  package init?(_ pointer: OpaquePointer?, freeing free: @escaping (OpaquePointer?) -> Void) {
    guard let pointer else { return nil }
    self.pointer = pointer
    self.free = free
  }

  deinit {
    // SAFETY: this is the only owner and the type can't be copied, so this runs once.
    free(pointer)
  }
}

/// Decodes an object from DER with one of OpenSSL's `d2i` functions. Returns nil unless the object takes up all of the bytes.
package func decodeDER(
  _ bytes: [UInt8],
  _ decode: (UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int) ->
    OpaquePointer?,
  freeing free: @escaping (OpaquePointer?) -> Void
) -> Owned? {
  var isWhole = false
  let object = bytes.withUnsafeBufferPointer { bytes in
    // SAFETY: OpenSSL reads at most `count` bytes and moves `next` to the first byte that it didn't read.
    var next = bytes.baseAddress
    let object = decode(nil, &next, bytes.count)
    isWhole = next == bytes.baseAddress?.advanced(by: bytes.count)
    return object
  }
  guard let owned = Owned(object, freeing: free), isWhole else { return nil }
  return owned
}
