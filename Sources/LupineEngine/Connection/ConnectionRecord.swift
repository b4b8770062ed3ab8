// What stays the same about a connection once it was opened, for the metrics of every exchange on it.

internal import LupineReactor
internal import LupineTLS

/// One for each connection; and one for an opening that has failed, without an identifier.
final class ConnectionRecord: Sendable {
  let id: UInt64?
  let opening: OpeningTimes
  let proxy: Proxy?
  let localAddress: SocketAddress?
  let remoteAddress: SocketAddress?
  let tls: TLSInfo?

  init(
    id: UInt64?, opening: OpeningTimes, proxy: Proxy? = nil, localAddress: SocketAddress? = nil,
    remoteAddress: SocketAddress? = nil, tls: TLSInfo? = nil
  ) {
    self.id = id
    self.opening = opening
    self.proxy = proxy
    self.localAddress = localAddress
    self.remoteAddress = remoteAddress
    self.tls = tls
  }
}

/// When the phases of opening a connection began and ended.
struct OpeningTimes: Sendable {
  var resolveStart: Instant?
  var resolveEnd: Instant?
  var connectStart: Instant?
  var connectEnd: Instant?
  var proxyStart: Instant?
  var proxyEnd: Instant?
  var tlsStart: Instant?
  var tlsEnd: Instant?
}
