// CacheReport: the lines of --verbose about --cache: hit, revalidated or miss, and the reason.

import LupineCache

enum CacheReport {
  static let stored = "stored"
  static let personal = "not stored: the response is for this request's credentials or cookies"
  static let unavailable = "miss: nothing usable is stored, and the request accepts nothing else (only-if-cached)"

  static let completed = "completed: the beginning is stored, and the server has sent the rest"
  static let dropped = "dropped: the stored response's file is damaged or missing"
  static let unused = "not used: Host, --resolve, a socket, a proxy or a TLS option can lead to another server"

  static func served(_ reason: CacheMachine.Served.Reason) -> String {
    switch reason {
    case .hit(.fresh): "hit: the stored response is fresh"
    case .hit(.policy): "hit: the request accepts any age"
    case .hit(.maxStale): "hit: stale, as --max-stale or Cache-Control allows"
    case .hit(.staleWhileRevalidate): "hit: stale, as stale-while-revalidate allows"
    case .validated(let reason): "revalidated: \(text(reason)), and the server has confirmed the stored response"
    case .originFailed: "hit: stale, served because the server failed (stale-if-error)"
    }
  }

  static func miss(_ reason: Forwarding.Reason) -> String { "miss: \(text(reason))" }

  static func notStored(_ reason: StoreDecision.Refusal) -> String {
    switch reason {
    case .method: "not stored: only responses to GET are stored"
    case .noStore: "not stored: no-store"
    case .status: "not stored: the status code isn't stored"
    case .notCacheable: "not stored: neither Cache-Control, Expires nor the status code allows it"
    case .vary: "not stored: Vary doesn't allow it"
    }
  }

  private static func text(_ reason: Forwarding.Reason) -> String {
    switch reason {
    case .method: "the method isn't answered from a cache"
    case .policy: "the request wants a new response"
    case .nothingStored: "nothing is stored for the URL"
    case .noVariant: "no stored variant matches the request's fields"
    case .stale: "the stored response is stale"
    case .validationRequired: "the stored response must be validated for each use"
    case .requestDirective: "the request's Cache-Control excludes the stored response"
    case .conditions: "only the server can evaluate the request's conditions"
    }
  }
}
