// CacheKey: the key under which the cache stores the responses of a URI.

package import LupineWire

/// The key under which the cache stores the responses of a URI: the URI without user information and fragment.
package struct CacheKey: Sendable, Hashable {
  private let origin: Origin
  private let target: String

  init(_ uri: URI) {
    origin = uri.origin
    target = uri.target
  }

  /// The key as a URL. Records in files contain this text.
  package var text: String {
    var text = ""
    forEachPart { text += $0 }
    return text
  }

  /// Calls `body` with the parts of `text`, from which a hash can be computed without joining them.
  package func forEachPart(_ body: (String) -> Void) {
    origin.forEachPart(body)
    body(target)
  }

  /// The approximate length of `text` in bytes.
  package var byteCount: Int { origin.host.utf8.count + target.utf8.count }
}

extension URI {
  /// The key under which the cache stores responses for this URI.
  package var cacheKey: CacheKey { CacheKey(self) }
}
