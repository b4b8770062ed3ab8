// Metrics+Engine: converts the engine's measurements to Foundation's metrics.

import Foundation
import LupineEngine

extension Transfer {
  var measurements: URLSessionTaskMetrics.Values { URLSessionTaskMetrics.Values(attempts) }
}

extension URLSessionTaskMetrics.Values {
  init(_ attempts: [Transfer.Attempt]) {
    let metrics = attempts.map(\.metrics)
    let clock = WallClock()
    let start = metrics.first.map { clock.date($0.openingStart ?? $0.start) } ?? Date()
    let end = metrics.last?.end.map(clock.date) ?? start
    self.init(
      transactionMetrics: attempts.map { URLSessionTaskTransactionMetrics($0, clock) },
      taskInterval: DateInterval(start: start, end: max(start, end)),
      // Each attempt with a 3xx status code, except for the last attempt, was a redirect that was followed. An attempt that was
      // repeated after a challenge has another status code.
      redirectCount: attempts.dropLast().count { (300..<400).contains($0.response?.statusCode ?? 0) })
  }
}

/// Converts instants of the monotonic clock to dates. Each converter reads the monotonic clock and the system clock only once, so
/// that the intervals between dates are exact.
private struct WallClock {
  private let reference = Instant.now
  private let referenceDate = Date()

  func date(_ instant: Instant) -> Date {
    let age = Double(reference.nanoseconds) - Double(instant.nanoseconds)
    return referenceDate.addingTimeInterval(-age / 1e9)
  }
}

extension URLSessionTaskTransactionMetrics {
  fileprivate convenience init(_ attempt: Transfer.Attempt, _ clock: WallClock) {
    let metrics = attempt.metrics
    self.init(
      request: attempt.request,
      response: attempt.response,
      fetchStartDate: clock.date(metrics.openingStart ?? metrics.start),
      domainLookupStartDate: metrics.resolveStart.map(clock.date),
      domainLookupEndDate: metrics.resolveEnd.map(clock.date),
      connectStartDate: metrics.connectStart.map(clock.date),
      connectEndDate: metrics.connectEnd.map(clock.date),
      secureConnectionStartDate: metrics.tlsStart.map(clock.date),
      secureConnectionEndDate: metrics.tlsEnd.map(clock.date),
      requestStartDate: metrics.requestStart.map(clock.date),
      requestEndDate: metrics.requestEnd.map(clock.date),
      responseStartDate: metrics.responseStart.map(clock.date),
      responseEndDate: metrics.responseEnd.map(clock.date),
      networkProtocolName: attempt.response == nil || metrics.connectionID == nil ? nil : "http/1.1",
      isReusedConnection: metrics.isReusedConnection,
      isProxyConnection: metrics.proxy != nil,
      localAddress: metrics.localAddress?.host,
      localPort: (metrics.localAddress?.port).map(Int.init),
      remoteAddress: metrics.remoteAddress?.host,
      remotePort: (metrics.remoteAddress?.port).map(Int.init),
      negotiatedTLSProtocolVersion: metrics.tls.flatMap { tls_protocol_version_t($0) },
      negotiatedTLSCipherSuite: metrics.tls.map { tls_ciphersuite_t(rawValue: $0.cipherSuiteCode) },
      countOfRequestHeaderBytesSent: Int64(metrics.requestHeadBytes),
      countOfRequestBodyBytesSent: Int64(clamping: metrics.requestBodyBytes),
      countOfResponseHeaderBytesReceived: Int64(metrics.responseHeadBytes),
      countOfResponseBodyBytesReceived: Int64(clamping: metrics.responseBodyBytes),
      countOfResponseBodyBytesAfterDecoding: Int64(clamping: metrics.decodedBodyBytes),
      // If there is no connection, the response comes from the cache.
      isServed: metrics.connectionID == nil)
  }
}

extension tls_protocol_version_t {
  fileprivate init?(_ info: TLSInfo) {
    switch info.protocolVersion {
    case "TLSv1.2": self = .TLSv12
    case "TLSv1.3": self = .TLSv13
    default: return nil
    }
  }
}
