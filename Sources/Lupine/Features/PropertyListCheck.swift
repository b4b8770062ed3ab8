// Looks over a property list that came from a peer before Foundation reads it.

public import Foundation

enum PropertyListCheck {
  /// Returns if Foundation can read `data` without harm, or finds for itself that it is no property list.
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
  // Under another name, for two methods of the same name would be ambiguous to whoever calls the decoder directly.
  /// Decodes a value from `data`, which is looked over first.
  ///
  /// - Throws: ``PropertyListError`` for data that could do harm, and what the decoder throws.
  @_disfavoredOverload
  @_implements(DataDecoder,decode(_:from:))
  public func decodeChecked<D: Decodable>(_ type: D.Type, from data: Data) throws -> D {
    try PropertyListCheck.check(data)
    return try decode(type, from: data)
  }
}
