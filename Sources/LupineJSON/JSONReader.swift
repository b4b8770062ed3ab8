// JSONReader: reads the words and bytes of a document.

/// A reference to a document that isn't counted, because counting would take a good part of the time of decoding a value.
///
/// SAFETY: decoders refer to the document, and containers by their paths to a decoder, so the document outlives their readers. It
/// frees the memory to which they refer.
struct JSONReader {
  struct State {
    unowned(unsafe) let document: JSONDocument
    let words: UnsafeMutablePointer<UInt64>
    var bytes: JSONBytes
    let convertsKeys: Bool
    let isSnakeCase: Bool
    let special: (ObjectIdentifier, ObjectIdentifier, ObjectIdentifier, ObjectIdentifier)?
    var types = JSONCollectionTypes()
  }

  private let state: UnsafeMutablePointer<State>

  init(_ state: UnsafeMutablePointer<State>) { self.state = state }

  var document: JSONDocument { state.pointee.document }

  /// Whether a document's keys are converted before they are compared with a type's.
  @inline(__always)
  var convertsKeys: Bool { state.pointee.convertsKeys }

  @inline(__always)
  var isSnakeCase: Bool { state.pointee.isSnakeCase }

  @inline(__always)
  var start: UnsafePointer<UInt8> { state.pointee.bytes.start }

  /// Whether `JSONSpecialTypes` decode the type.
  @inline(__always)
  func isSpecial(_ type: ObjectIdentifier) -> Bool {
    guard let special = state.pointee.special else { return false }
    return type == special.0 || type == special.1 || type == special.2 || type == special.3
  }

  /// The type, if it is an array, or a dictionary with strings as keys.
  @inline(__always)
  func collection<T>(_ type: T.Type) -> (any JSONCollection.Type)? { state.pointee.types.collection(type) }

  /// The words of the tape. The callers use only indexes that the tape contains.
  @inline(__always)
  subscript(index: Int) -> JSONWord {
    get { JSONWord(bits: state.pointee.words[index]) }
    nonmutating set { state.pointee.words[index] = newValue.bits }
  }

  /// The bytes of a string between its quotation marks, or of a number.
  @inline(__always)
  func bytes(of word: JSONWord) -> JSONBytes { JSONBytes(start: start + word.position, count: word.length) }

  /// Returns the index in the tape of the value after the one at `index`.
  @inline(__always)
  func index(after index: Int) -> Int {
    let word = self[index]
    return word.kind.isContainer ? word.position : index &+ 1
  }

  /// Returns the text of a string.
  @inline(__always)
  func text(_ word: JSONWord) -> String {
    let bytes = bytes(of: word)
    guard word.kind != .escapedText else { return JSONEscape.text(of: bytes) }
    // SAFETY: the scanner has checked that the bytes are well-formed UTF-8.
    return String(copying: UTF8Span(unchecked: bytes.buffer.span, isKnownASCII: word.kind == .asciiText))
  }
}
