// ParsedURL: a URL in Foundation's form and in the engine's, so that the URL of a request is parsed once.

package import Foundation
import LupineEngine
import Synchronization

/// A URL, parsed by Foundation and by the engine.
///
/// This type keeps the last few parsed URLs, because most programs request few URLs many times, and parsing takes a tenth of a
/// request's time. It doesn't keep URLs with user information or a query, because these may contain secrets, and usually differ
/// from request to request.
package final class ParsedURL: Sendable {
  /// The URL, parsed by Foundation.
  package let url: URL
  /// The URL in the engine's form, which requests use.
  let uri: URI
  /// The text from which the URL was parsed.
  private let text: String

  private init(_ text: String, _ url: URL, _ uri: URI) {
    self.text = text
    self.url = url
    self.uri = uri
  }

  /// Returns the parsed URL. Keeps the result, so that later calls with the same text needn't parse it again. Returns nil if the
  /// engine can't request the URL, or if URLs of this form aren't kept.
  package static func kept(_ text: String) -> ParsedURL? {
    let slot = slots[slotIndex(of: text)]
    if let kept = slot.latest, kept.text == text { return kept }
    let mayBeKept =
      text.utf8.count <= textBytesMax && !text.utf8.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "?") }
    guard mayBeKept, let url = URL(string: text), let uri = try? URI(url.absoluteString) else { return nil }
    let parsed = ParsedURL(text, url, uri)
    slot.replace(by: parsed)
    return parsed
  }

  // MARK: The kept URLs

  /// The maximum number of URLs that are kept: 64, about 500 bytes each. Each URL has one slot, in which it replaces an earlier
  /// URL.
  private static let slotCount = 64
  /// The maximum length, in bytes, of a URL that is kept: 256.
  private static let textBytesMax = 256
  /// The number of bytes at a URL's end from which its slot is computed: 8. The end distinguishes URLs better than the beginning,
  /// which many URLs share.
  private static let hashedBytesMax = 8

  private static let slots = (0..<slotCount).map { _ in Slot() }

  /// The place for one kept URL. Of the URLs with this slot, it contains the one that was parsed last.
  private final class Slot: Sendable {
    private let parsed = Mutex<ParsedURL?>(nil)

    var latest: ParsedURL? { parsed.withLock { $0 } }

    func replace(by new: ParsedURL) {
      let old = parsed.withLock { parsed in
        defer { parsed = new }
        return parsed
      }
      // The old URL is released outside the lock.
      _ = old
    }
  }

  private static func slotIndex(of text: String) -> Int {
    var hash = text.utf8.count
    for byte in text.utf8.suffix(hashedBytesMax) { hash = hash &* 31 &+ Int(byte) }
    return Int(UInt(bitPattern: hash) % UInt(slotCount))
  }
}
