// VerboseReport: the lines of --verbose: "*" for facts, ">" for sent fields, "<" for received fields. Credentials are
// hidden.

import LupineEngine

enum VerboseReport {
  // Authentication-Info is hidden too, because its hashes allow passwords to be guessed, like those in Authorization.
  private static let hiddenFields: Set<String> = [
    "authorization", "proxy-authorization", "authentication-info", "proxy-authentication-info", "cookie", "set-cookie",
  ]

  static func request(_ request: EngineRequest) -> String {
    let asking = "* requesting from \(request.uri.origin)\n"
    guard let head = request.head else { return asking }
    return asking + "> \(head.method.printable) \(head.target) HTTP/1.1\n"
      + fields(head.fields, mark: ">")
  }

  static func response(_ head: ResponseHead) -> String {
    "< \(head.statusLine.printable)\n" + fields(head.fields, mark: "<")
  }

  static func redirect(to request: EngineRequest) -> String {
    "* redirected to \(request.method.printable) \(request.uri.description.printable)\n"
  }

  /// The line of `--verbose` output which states that the request is sent again with credentials.
  static let resend = "* sending the request again with credentials\n"

  /// Returns the lines of `--verbose` output that describe the connection of a request that begins to be sent, or of one that has
  /// ended without being sent.
  static func connection(_ metrics: ExchangeMetrics, isVerified: Bool) -> String {
    guard let remote = metrics.remoteAddress else { return "* no connection was opened\n" }
    let local = metrics.localAddress.map { " from \($0)" } ?? ""
    let kind = metrics.isReusedConnection ? "reused" : "new"
    var text = "* \(kind) connection to \(remote)\(local)\n"
    if let proxy = metrics.proxy {
      // Only an HTTP proxy reads requests, and only those sent without TLS. All other requests use a tunnel.
      let isTunnel = metrics.tls != nil || proxy.scheme != .http
      text += isTunnel ? "* through a tunnel by the proxy \(proxy)\n" : "* forwarded by the proxy \(proxy)\n"
    }
    if let tls = metrics.tls { text += self.tls(tls, isVerified: isVerified) }
    if metrics.replayCount > 0 { text += "* sent again, because the server had closed the idle connection\n" }
    return text
  }

  private static func tls(_ tls: TLSInfo, isVerified: Bool) -> String {
    var text = "* \(tls.protocolVersion), \(tls.cipherSuite)"
    if let group = tls.group { text += ", \(group)" }
    if let chosen = tls.applicationProtocol { text += ", ALPN \(chosen.printable)" }
    text += isVerified ? ", certificate verified\n" : ", certificate not verified (--insecure)\n"
    if let subject = tls.peerSubject { text += "* certificate subject: \(subject.printable)\n" }
    if tls.stapledOCSP == .good { text += "* the stapled OCSP response confirms the certificate\n" }
    return text
  }

  private static func fields(_ fields: Fields, mark: String) -> String {
    var text = ""
    for field in fields {
      let value = hiddenFields.contains(field.name.lowercased()) ? "[redacted]" : field.value.printable
      text += "\(mark) \(field.name.printable): \(value)\n"
    }
    return text + "\(mark)\n"
  }
}

extension ResponseHead {
  /// The status line of the response without its line end, such as "HTTP/1.1 200 OK".
  var statusLine: String { "HTTP/1.\(minorVersion) \(status) \(reason)" }

  /// The response head as received, but without white space around field values. Bytes that aren't UTF-8 are replaced, and
  /// characters that could control a terminal are escaped.
  var text: String {
    var text = statusLine.printable + "\r\n"
    for field in fields { text += "\(field.name): \(field.value)".printable + "\r\n" }
    return text + "\r\n"
  }
}
