// ConnectionRecord: the properties of a connection that appear in the metrics of all its exchanges.

internal import LupineReactor
internal import LupineTLS

/// The properties of a connection that never change, such as its addresses. If the connection couldn't be opened, `id` is nil.
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
