// ParsedURL: a URL in Foundation's form and in the engine's, so that the URL of a request is parsed once.

package import Foundation
import LupineEngine
import Synchronization

/// A URL that has been parsed by Foundation and by the engine.
///
/// A cache contains the most recently parsed URLs, because most programs request few URLs many times, and parsing takes a tenth of
/// a request's time. URLs with user information or a query aren't cached, because they may contain secrets and usually differ from
/// request to request.
package final class ParsedURL: Sendable {
  /// The URL as parsed by Foundation.
  package let url: URL
  /// The URL as parsed by the engine, in the form that the engine's requests use.
  let uri: URI
  /// The text from which the URL was parsed.
  private let text: String

  private init?(_ text: String) {
    guard let url = URL(unambiguous: text), let uri = try? URI(url.absoluteString) else { return nil }
    self.text = text
    self.url = url
    self.uri = uri
  }

  /// Parses a URL, or returns it from the program's cache of parsed URLs. Adds the parsed URL to the cache. Returns nil if the
  /// engine can't request the URL, or if URLs of this form aren't cached.
  package static func kept(_ text: String) -> ParsedURL? { Cache.shared.parsedURL(text) }

  // MARK: The cache of parsed URLs

  struct Cache {
    /// The number of slots: 64. Each slot contains one URL (about 500 bytes), which a later URL with the same slot replaces.
    private static let slotCount = 64
    /// Only URLs of at most 256 bytes are added to the cache.
    private static let textBytesMax = 256
    /// The number of bytes, at the end of a URL, whose hash determines the URL's slot: 8. The end distinguishes URLs better than
    /// the beginning, which many URLs share.
    private static let hashedBytesMax = 8

    /// The cache that all requests of the program share.
    fileprivate static let shared = Cache()

    private let slots = (0..<slotCount).map { _ in Slot() }

    func parsedURL(_ text: String) -> ParsedURL? {
      let slot = slots[Cache.slotIndex(of: text)]
      if let kept = slot.latest, kept.text == text { return kept }
      guard mayBeKept(text), let parsed = ParsedURL(text) else { return nil }
      slot.replace(by: parsed)
      return parsed
    }

    private func mayBeKept(_ text: String) -> Bool {
      text.utf8.count <= Cache.textBytesMax && !text.containsByte { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "?") }
    }

    private static func slotIndex(of text: String) -> Int {
      let bytes = text.utf8.span
      var hash = bytes.count
      for index in max(0, bytes.count - hashedBytesMax)..<bytes.count { hash = hash &* 31 &+ Int(bytes[index]) }
      return Int(UInt(bitPattern: hash) % UInt(slotCount))
    }
  }

  /// A slot in the cache of parsed URLs. It contains the most recently parsed of all URLs that belong to this slot.
  private final class Slot: Sendable {
    private let parsed = Mutex<ParsedURL?>(nil)

    var latest: ParsedURL? { parsed.withLock { $0 } }

    func replace(by new: ParsedURL) {
      // The previous URL is released outside the lock.
      withExtendedLifetime(parsed.withLock { exchange(&$0, with: new) }) {}
    }
  }
}
