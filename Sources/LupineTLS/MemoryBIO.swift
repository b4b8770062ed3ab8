// The memory BIOs that ciphertext and PEM text pass through.

import CLupineOpenSSL

/// Takes everything that a memory BIO holds.
func drain(_ bio: OpaquePointer) -> [UInt8] {
  var bytes: [UInt8] = []
  drain(bio, into: &bytes)
  return bytes
}

/// Appends everything that a memory BIO holds.
func drain(_ bio: OpaquePointer, into output: inout [UInt8]) {
  defer { lupine_bio_shrink(bio, TLSLimits.emptyBufferBytesMax) }
  // Read, rather than copied and reset: resetting a memory BIO clears all it ever grew to.
  while case let pending = BIO_ctrl_pending(bio), pending > 0 {
    let start = output.count
    let count = Int(Int32(clamping: pending))
    output += [UInt8](repeating: 0, count: count)
    // SAFETY: exactly `count` bytes from `start` on were appended just now.
    let read = output.withUnsafeMutableBytes { BIO_read(bio, $0.baseAddress?.advanced(by: start), Int32(count)) }
    guard read == count else {
      output.removeLast(count - max(Int(read), 0))
      return
    }
  }
}

/// Feeds a memory BIO; false if memory ran out.
func fill(_ bio: OpaquePointer, with bytes: UnsafeRawBufferPointer) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Int(Int32.max)))
    // SAFETY: `piece` lies within the caller's buffer; OpenSSL copies it.
    let written = BIO_write(bio, piece.baseAddress, Int32(piece.count))
    guard written > 0 else { return false }
    rest = rest.dropFirst(Int(written))
  }
  return true
}

/// What OpenSSL gave us to free.
struct Owned: ~Copyable {
  let pointer: OpaquePointer
  private let free: (OpaquePointer?) -> Void

  init?(_ pointer: OpaquePointer?, freeing free: @escaping (OpaquePointer?) -> Void) {
    guard let pointer else { return nil }
    self.pointer = pointer
    self.free = free
  }

  deinit {
    // SAFETY: the only owner, and the type can't be copied, so that this runs once.
    free(pointer)
  }
}
