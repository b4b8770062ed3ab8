// ConnectionRecord: the properties of a connection that appear in the metrics of all its exchanges.

internal import LupineReactor
internal import LupineTLS

/// The properties of a connection that don't change. The record of a connection that couldn't be opened has no identifier.
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

/// The times at which each phase of opening a connection started and ended.
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
