// SipHash: SipHash-2-4, a hash with a secret key (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012).

/// A hash with a secret key. Without the key, an attacker can't find texts with equal hashes, however many texts they may choose.
package struct SipHash: Sendable {
  private let key: (UInt64, UInt64)

  /// Creates the hash with a key of two words.
  package init(_ first: UInt64, _ second: UInt64) { key = (first, second) }

  /// Returns the 64-bit hash of the bytes.
  package func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var state = State(key)
    state.add(bytes)
    return state.result()
  }

  /// Returns the 64-bit hash of the texts' bytes, as if the texts were joined. `forEachText` calls its argument with each text.
  func ofTexts(_ forEachText: ((String) -> Void) -> Void) -> UInt64 {
    var state = State(key)
    forEachText { state.add($0.utf8) }
    return state.result()
  }

  private struct State {
    private var v0, v1, v2, v3: UInt64
    /// The bytes that don't fill a word yet.
    private var word: UInt64 = 0
    private var count: UInt64 = 0

    init(_ key: (UInt64, UInt64)) {
      v0 = key.0 ^ 0x736F_6D65_7073_6575
      v1 = key.1 ^ 0x646F_7261_6E64_6F6D
      v2 = key.0 ^ 0x6C79_6765_6E65_7261
      v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    mutating func add(_ bytes: some Sequence<UInt8>) {
      for byte in bytes {
        word |= UInt64(byte) << (8 * (count & 7))
        count &+= 1
        if count & 7 == 0 {
          absorb(word)
          word = 0
        }
      }
    }

    private mutating func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    mutating func result() -> UInt64 {
      absorb(word | count << 56)
      v2 ^= 0xFF
      for _ in 0..<4 { round() }
      return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func round() {
      v0 &+= v1
      v1 = rotated(v1, 13) ^ v0
      v0 = rotated(v0, 32)
      v2 &+= v3
      v3 = rotated(v3, 16) ^ v2
      v0 &+= v3
      v3 = rotated(v3, 21) ^ v0
      v2 &+= v1
      v1 = rotated(v1, 17) ^ v2
      v2 = rotated(v2, 32)
    }

    private func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
  }
}
