// PropertyListCheck: checks a property list from a peer before Foundation reads it.

package import Foundation

package enum PropertyListCheck {
  /// Throws a `PropertyListError` unless Foundation can read the property list in `data` without crashing, hanging or running out
  /// of memory. Invalid data that Foundation detects itself may pass this check.
  package static func check(_ data: Data) throws(PropertyListError) {
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
