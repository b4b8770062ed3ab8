// data: URLs (RFC 2397): content that is written as a URL is read back, and malformed URLs are refused.

import Foundation
@testable import Lupine
@testable import LupineURLSession

extension FuzzTarget {
  /// Fuzzes the parser of `data:` URLs. The input is the text of a URL after `data:`, and also the content that is encoded in other
  /// URLs.
  static let dataURL = FuzzTarget(
    name: "data-url", summary: "content written as a data URL, percent-encoded or in base64, reads back; no URL grows"
  ) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    if let url = try? DataURL("data:" + text) { check(url, of: text) }

    let content = Data(bytes)
    let base64 = content.base64EncodedString()
    let escaped = percentEncoded(bytes)
    for url in [
      "data:;base64," + base64, "data:;base64," + base64.prefix { $0 != "=" }, "DATA:a/b;c=d;BASE64," + base64,
      "data:," + escaped, "data:;charset=x," + escaped + "#" + text,
    ] {
      hold((try? DataURL(url))?.content == content, "\(shown(url.utf8)) doesn't read as its content")
    }
    // A quoted parameter value ends at its closing quotation mark, whatever the value contains.
    let quoted = bytes.flatMap { $0 == 0x22 || $0 == 0x5C ? [0x5C, $0] : [$0] }
    let typed = try? DataURL("data:text/x;a=%22\(percentEncoded(quoted))%22;charset=Y,z")
    hold(typed?.mediaType == "text/x" && typed?.charset == "y", "\(shown(bytes)) took what follows it")
  }

  private static func percentEncoded(_ bytes: [UInt8]) -> String {
    bytes.map { "%" + String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
  }

  private static func check(_ url: DataURL, of text: String) {
    hold(url.content.count <= text.utf8.count, "\(text.utf8.count) bytes grew to \(url.content.count)")
    let parts = url.mediaType.split(separator: "/", omittingEmptySubsequences: false)
    hold(parts.count == 2 && parts.allSatisfy { !$0.isEmpty }, url.mediaType)
    hold(url.mediaType.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, url.mediaType)
    hold(url.mediaType == url.mediaType.lowercased(), url.mediaType)
    // The media type is percent-encoded, because a token may contain "%" and "#".
    let type = percentEncoded(Array(url.mediaType.utf8))
    let again = try? DataURL("data:\(type);base64,\(url.content.base64EncodedString())")
    hold(again?.content == url.content && again?.mediaType == url.mediaType, "written again it reads otherwise")
  }
}
