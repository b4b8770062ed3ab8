// `PropertyListCheck`: checks a peer's property list before Foundation reads it.

public import Foundation

enum PropertyListCheck {
  /// Returns if Foundation can read `data` safely, or can detect by itself that it isn't a property list.
  static func check(_ data: Data) throws(PropertyListError) {
    let bytes = [UInt8](data)
    if bytes.starts(with: "bplist".utf8) {
      var check = try BinaryPropertyListCheck(bytes)
      try check.check()
    } else {
      var check = try XMLPropertyListCheck(bytes)
      try check.check()
    }
  }
}

extension PropertyListDecoder: DataDecoder {
  // Named differently, because two methods with one name would be ambiguous in direct calls of the decoder.
  /// Checks `data`, then decodes a value from it.
  ///
  /// - Throws: ``PropertyListError`` for unsafe data, or the decoder's error.
  @_disfavoredOverload
  @_implements(DataDecoder,decode(_:from:))
  public func decodeChecked<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
    try PropertyListCheck.check(data)
    return try decode(type, from: data)
  }
}
