// PropertyListError: the reason why a property list was rejected before Foundation read it.

public import Foundation

/// The reason why a property list was rejected before Foundation read it. Each property list is checked, because a malicious peer
/// can send property lists that make Foundation crash, hang or run out of memory.
public enum PropertyListError: LocalizedError, Hashable {
  /// The data is neither an XML property list nor a binary one of version 00. The old OpenStep format isn't supported.
  case unknownFormat
  /// The text of an XML property list isn't UTF-8, or the XML declaration names another encoding.
  case unsupportedEncoding
  /// The XML property list contains declarations of a document type, whose entities could expand without bounds.
  case declaresDocumentType
  /// The named part of the property list is malformed. `offset` is the part's position in bytes.
  case malformed(part: String, offset: Int)
  /// The elements of the property list are nested more than `levelsMax` levels deep.
  case nestsTooDeep(levelsMax: Int)
  /// The object with the given number in a binary property list contains itself, directly or indirectly.
  case cyclic(object: Int)
  /// Foundation would need more than `bytesMax` bytes of memory to read the property list, because values are referenced several
  /// times.
  case expandsTooFar(bytesMax: Int)
  /// The property list contains a value of the named type, which occurs only in keyed archives.
  case unsupportedValue(type: String)

  /// A description of the rejected part and its position, and of a remedy.
  public var errorDescription: String? {
    switch self {
    case .unknownFormat:
      "The data isn't a property list in XML or in the binary format bplist00. Read the data as text to see what it is."
    case .unsupportedEncoding:
      "The property list is not in UTF-8, the only supported encoding. Have the server send UTF-8."
    case .declaresDocumentType:
      "The property list declares entities or its own document type, which is not allowed. Have the server omit the DOCTYPE."
    case .malformed(let part, let offset):
      "The property list has a malformed \(part) at byte \(offset). Compare the received bytes with the server's original."
    case .nestsTooDeep(let levels):
      "The property list is nested more than \(levels) levels deep. Have the server send a flatter one."
    case .cyclic(let object):
      "Object \(object) of the property list contains itself. Have the server send a list without cycles."
    case .expandsTooFar(let bytes):
      "The property list would expand to more than \(bytes) bytes because it refers to the same values many times. "
        + "Have the server send it in parts."
    case .unsupportedValue(let type):
      "The property list has a value of type \(type), which occurs only in keyed archives and can't be represented in an "
        + "untyped result. Decode the list as a Decodable type that omits the value."
    }
  }
}
