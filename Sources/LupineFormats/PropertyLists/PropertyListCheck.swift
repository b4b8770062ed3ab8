// `PropertyListCheck`: checks a peer's property list before Foundation reads it.

package import Foundation

package enum PropertyListCheck {
  /// Returns if Foundation can read `data` safely, or can detect by itself that it isn't a property list.
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
