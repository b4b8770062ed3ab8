// What connections may be shared for.

internal import LupineTLS
internal import LupineWire

/// Requests with equal keys may use each other's connections; no others may.
struct PoolKey: Hashable, Sendable {
  let origin: Origin
  /// Nil for http. Connections that were verified differently are never exchanged.
  let tls: TLSConfiguration?

  // The origin tells nearly all keys apart, and a configuration may hold whole certificates.
  func hash(into hasher: inout Hasher) { hasher.combine(origin) }
}
