// TraceReport: the lines of --trace, one per step of the engine, with the time since the command started.

import LupineEngine

enum TraceReport {
  static func line(_ event: TraceEvent, since start: Instant) -> String {
    let time = (event.time - start).millisecondsText.indented(to: 10)
    return "\(time) ms  \(text(event.kind))".printable + "\n"
  }

  private static func text(_ kind: TraceEvent.Kind) -> String {
    switch kind {
    case .exchangeStarted(let id, let method, let uri): "request \(id) started: \(method) \(uri)"
    case .exchangeWaits(let id): "request \(id) is waiting for a connection"
    case .connectionStarted(let id, let origin, let request):
      "connection \(id) to \(origin) started \(request.map { "for request \($0)" } ?? "in advance")"
    case .hostResolved(let id, let host, let addresses):
      "connection \(id): \(host.isEmpty ? "the socket" : host) is \(addresses.map(\.host).joined(separator: ", "))"
    case .addressTried(let id, let address): "connection \(id) is trying \(address)"
    case .addressFailed(let id, let error): "connection \(id): attempt failed: \(error)"
    case .tunnelOpened(let id, let proxy): "connection \(id) opened a tunnel through \(proxy)"
    case .handshakeDone(let id, let tls): "connection \(id) uses \(tls.protocolVersion) with \(tls.cipherSuite)"
    case .connectionOpened(let id): "connection \(id) is open"
    case .connectionFailed(let id, let error): "connection \(id) failed: \(error)"
    case .requestStarted(let id, let connection, let isReused):
      "request \(id) uses \(isReused ? "reused" : "new") connection \(connection)"
    case .requestSent(let id): "request \(id) was sent"
    case .headReceived(let id, let status): "request \(id) received status \(status)"
    case .exchangeRestarted(let id): "request \(id) will be sent again"
    case .exchangeEnded(let id, nil): "request \(id) is complete"
    case .exchangeEnded(let id, let error?): "request \(id) failed: \(error)"
    case .connectionClosed(let id, let reason): "connection \(id) was closed: \(reason.rawValue)"
    }
  }
}
