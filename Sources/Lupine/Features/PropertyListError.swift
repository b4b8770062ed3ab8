// Why a property list was refused before Foundation read it.

public import Foundation

/// Why a property list was refused. Foundation crashes, hangs or runs out of memory on some lists that a hostile peer
/// can send, so each is looked over before Foundation reads it.
public enum PropertyListError: LocalizedError, Hashable {
  /// The data is neither XML nor version 00 of the binary format; the old OpenStep format is not read.
  case unknownFormat
  /// The text is not UTF-8, or names another encoding.
  case unsupportedEncoding
  /// XML with a document type of its own, whose entities could grow without bounds.
  case declaresDocumentType
  /// The named part is broken, at that byte.
  case malformed(part: String, offset: Int)
  /// Elements nest deeper than that many levels.
  case nestsTooDeep(levelsMax: Int)
  /// The object of that number holds itself.
  case cyclic(object: Int)
  /// Values that are referred to many times would take more than that many bytes once they are read.
  case expandsTooFar(bytesMax: Int)
  /// The list holds a value of a type that only archives have, by its name.
  case unsupportedValue(type: String)

  /// What was refused, where, and what to do about it.
  public var errorDescription: String? {
    switch self {
    case .unknownFormat:
      "The data is no property list in XML or in the binary format bplist00. Read it as text to see what it is."
    case .unsupportedEncoding:
      "The property list is not in UTF-8, the only encoding that is read. Have the server send UTF-8."
    case .declaresDocumentType:
      "The property list declares entities or a document type of its own, which is refused. Have the server leave it out."
    case .malformed(let part, let offset):
      "The property list has a broken \(part) at byte \(offset). Compare it with what the server meant to send."
    case .nestsTooDeep(let levels):
      "The property list nests deeper than \(levels) levels. Have the server send a flatter one."
    case .cyclic(let object):
      "The property list's object \(object) holds itself. Have the server send each value once."
    case .expandsTooFar(let bytes):
      "The property list would expand to more than \(bytes) bytes, for it refers to values many times. "
        + "Have the server send it in parts."
    case .unsupportedValue(let type):
      "The property list holds a \(type), which has no plain value. Decode it into a type of your own."
    }
  }
}
