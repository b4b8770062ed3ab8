// JSONWord: one entry of a tape, the list of a document's values in their order.

/// A value, a key, or the first word of a container, in 64 bits: the kind, a length or count, and a position.
///
/// An object that isn't empty has a second word, for the progress of the reader (see `JSONReader+Keys.swift`).
struct JSONWord {
  enum Kind: UInt8 {
    case null, isFalse, isTrue
    /// A number without fraction and exponent.
    case integer
    /// A number with a fraction, an exponent or both.
    case decimal
    /// A string of ASCII characters without escapes.
    case asciiText
    /// A string without escapes that has characters beyond ASCII.
    case unicodeText
    /// A string with escapes.
    case escapedText
    case array
    /// An object whose keys are all of the kind `asciiText`.
    case object
    /// An object for whose keys the document has an index.
    case indexedObject
    /// An object with at least one key of another kind. Such keys have to be compared as Swift compares strings.
    case irregularObject

    @inline(__always)
    var isText: Bool { self == .asciiText || self == .unicodeText || self == .escapedText }

    @inline(__always)
    var isContainer: Bool { rawValue >= Kind.array.rawValue }
  }

  /// The largest length of a text, and the largest number of a container's elements: 28 bits.
  static let lengthMax = 1 << 28 - 1

  private(set) var bits: UInt64

  init(bits: UInt64) { self.bits = bits }

  @inline(__always)
  init(_ kind: Kind, length: Int, position: Int) {
    bits = UInt64(kind.rawValue) << 60 | UInt64(truncatingIfNeeded: length) << 32 | UInt64(truncatingIfNeeded: position)
  }

  @inline(__always)
  var kind: Kind {
    // SAFETY: a word is only created with a kind, and the cases are stored as their raw values, which begin at 0.
    unsafeBitCast(UInt8(truncatingIfNeeded: bits >> 60), to: Kind.self)
  }

  /// Whether the word is that of an object.
  @inline(__always)
  var isObject: Bool { bits >> 60 > UInt64(Kind.array.rawValue) }

  /// Adds 1 to the length.
  @inline(__always)
  mutating func countElement() { bits &+= 1 << 32 }

  /// Makes an object one of the kind `irregularObject`.
  mutating func makeIrregular() { self = JSONWord(.irregularObject, length: length, position: position) }

  /// The number of bytes of a string (without its quotation marks) or number, of values in an array, or of keys in an object.
  @inline(__always)
  var length: Int { Int(truncatingIfNeeded: bits >> 32) & Self.lengthMax }

  /// The offset in the document of a string's or number's first byte. For a container: the index in the tape after its last word.
  @inline(__always)
  var position: Int { Int(truncatingIfNeeded: bits & 0xFFFF_FFFF) }
}
