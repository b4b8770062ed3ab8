// TimingTable: the table of --timing, with the duration and the end of each phase.

import LupineEngine

enum TimingTable {
  static func text(_ metrics: ExchangeMetrics, of request: EngineRequest) -> String {
    var text = "\(request.method) \(request.uri)".printable + "\n"
    text += row("", "took", "until") + "\n"
    // The connect phase ends when the proxy's handshake or TLS starts, so that no time is in two rows.
    let phases: [(String, Instant?, Instant?)] = [
      ("lookup", metrics.resolveStart, metrics.resolveEnd),
      ("connect", metrics.connectStart, metrics.proxyStart ?? metrics.tlsStart ?? metrics.connectEnd),
      ("proxy", metrics.proxyStart, metrics.proxyEnd),
      ("tls", metrics.tlsStart, metrics.tlsEnd),
      ("first byte", metrics.requestStart, metrics.responseStart),
      ("total", metrics.start, metrics.end),
    ]
    for (name, start, end) in phases {
      if let start, let end {
        let columns = ((end - start).millisecondsText, (end - metrics.start).millisecondsText)
        text += row(name, columns.0, columns.1) + " ms\n"
      } else {
        text += row(name, "-", "-") + "\n"
      }
    }
    text += fact("sent", "\(UInt64(metrics.requestHeadBytes) + metrics.requestBodyBytes) bytes including the head")
    text += fact(
      "received", "\(UInt64(metrics.responseHeadBytes) + metrics.responseBodyBytes) bytes including the head")
    text += fact("decoded", "\(metrics.decodedBodyBytes) body bytes")
    text += fact("reused", metrics.isReusedConnection ? "yes" : "no")
    text += fact("address", metrics.remoteAddress?.description ?? "-")
    text += fact("tls", metrics.tls.map { "\($0.protocolVersion), \($0.cipherSuite)" } ?? "-")
    return text
  }

  private static func row(_ name: String, _ took: String, _ until: String) -> String {
    "  " + name.padded(to: 12) + took.indented(to: 12) + until.indented(to: 12)
  }

  private static func fact(_ name: String, _ value: String) -> String {
    "  " + name.padded(to: 12) + " " + value + "\n"
  }
}
