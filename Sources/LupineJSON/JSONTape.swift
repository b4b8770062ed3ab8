// JSONTape: the memory of a document's words.

/// A growing list of words in one allocation, whose owner frees it.
struct JSONTape {
  private(set) var words: UnsafeMutablePointer<UInt64>
  private(set) var count = 0
  private var capacity: Int
  private let byteCount: Int

  /// Documents of up to this many bytes get a tape for the densest valid document of their length. A longer document's tape starts
  /// with one word for eight bytes, and grows.
  private static let smallDocument = 64 << 10

  init(byteCount: Int) {
    self.byteCount = byteCount
    // A valid document of n bytes has at most 3(n + 1) / 5 words, as {"":{"":{"":1}}} has, and one for `missing`.
    capacity = byteCount <= Self.smallDocument ? byteCount * 5 / 8 + 16 : byteCount / 8
    // SAFETY: all accesses are below `count`, which is at most `capacity`. The document that takes the tape frees it.
    words = .allocate(capacity: capacity)
  }

  func free() { words.deallocate() }

  /// Makes room for two words, which is enough for each step of the scanner. `offset` is the number of the document's bytes that
  /// have been read.
  @inline(__always)
  mutating func makeRoom(at offset: Int) {
    if count &+ 2 > capacity { self = grown(at: offset) }
  }

  /// Appends a word, for which there is room.
  @inline(__always)
  mutating func append(_ word: JSONWord) {
    words[count] = word.bits
    count &+= 1
  }

  /// Removes the last word, which must exist.
  @inline(__always)
  mutating func removeLast() { count &-= 1 }

  @inline(__always)
  subscript(index: Int) -> JSONWord {
    get { JSONWord(bits: words[index]) }
    nonmutating set { words[index] = newValue.bits }
  }

  // Assumes that the rest of the document is as dense as the part before `offset`, and adds 3 %. Grows by a half at least, so that
  // the number of copies is logarithmic.
  @inline(never)
  private func grown(at offset: Int) -> JSONTape {
    var larger = self
    let expected = Double(count) * Double(byteCount) / Double(max(offset, 1)) * 1.03
    larger.capacity = max(capacity + capacity / 2, min(Int(expected), byteCount * 5 / 8)) + 16
    // SAFETY: the new memory has room for the `count` initialized words of the old memory, which nothing uses afterwards.
    larger.words = .allocate(capacity: larger.capacity)
    larger.words.update(from: words, count: count)
    words.deallocate()
    return larger
  }
}
