// URLSessionTaskTransactionMetrics+Summary: the description of a transaction's metrics, with lines for the request, its
// connection, its phases and its bytes.

import Foundation

extension URLSessionTaskTransactionMetrics {
  var summary: String {
    let status = (response as? HTTPURLResponse).map { "\($0.statusCode)" } ?? "no response"
    return """
      URLSessionTaskTransactionMetrics: \(ReadableText.request(request)), \(status)
        connection: \(connection)
        phases: \(phases.isEmpty ? "none" : phases.joined(separator: ", "))
        sent: \(size(countOfRequestHeaderBytesSent, countOfRequestBodyBytesSent, countOfRequestBodyBytesBeforeEncoding))
        received: \(size(
          countOfResponseHeaderBytesReceived, countOfResponseBodyBytesReceived, countOfResponseBodyBytesAfterDecoding))
      """
  }

  private var connection: String {
    var parts = [isReusedConnection ? "reused" : "new"]
    if let networkProtocolName { parts.append(networkProtocolName) }
    if let version = negotiatedTLSProtocolVersion { parts.append(version.name) }
    if isProxyConnection { parts.append("through a proxy") }
    if let local = endpoint(localAddress, localPort) { parts.append("from \(local)") }
    if let remote = endpoint(remoteAddress, remotePort) { parts.append("to \(remote)") }
    return parts.joined(separator: ", ")
  }

  private var phases: [String] {
    // The TLS handshake is part of opening the connection, but is listed separately.
    let connected = secureConnectionStartDate ?? connectEndDate
    let all: [(name: String, start: Date?, end: Date?)] = [
      ("lookup", domainLookupStartDate, domainLookupEndDate), ("connect", connectStartDate, connected),
      ("TLS", secureConnectionStartDate, secureConnectionEndDate), ("request", requestStartDate, requestEndDate),
      ("waiting", requestEndDate, responseStartDate), ("response", responseStartDate, responseEndDate),
    ]
    return all.compactMap { phase in
      guard let start = phase.start, let end = phase.end else { return nil }
      // The duration is negative if the server responded before it had received the whole request. In that case, the client didn't
      // wait.
      return "\(phase.name) \(ReadableText.duration(max(0, end.timeIntervalSince(start))))"
    }
  }

  private func endpoint(_ address: String?, _ port: Int?) -> String? {
    guard let address else { return nil }
    guard let port else { return address }
    return address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
  }

  private func size(_ head: Int64, _ body: Int64, _ plainBody: Int64) -> String {
    let text = "\(ReadableText.bytes(head)) of head, \(ReadableText.bytes(body)) of body"
    return plainBody == body ? text : text + " (\(ReadableText.bytes(plainBody)) without codings)"
  }
}

extension tls_protocol_version_t {
  fileprivate var name: String {
    switch self {
    case .TLSv10: "TLS 1.0"
    case .TLSv11: "TLS 1.1"
    case .TLSv12: "TLS 1.2"
    case .TLSv13: "TLS 1.3"
    case .DTLSv10: "DTLS 1.0"
    case .DTLSv12: "DTLS 1.2"
    }
  }
}
