// The target, method, fields and body of redirected requests.

@testable import LupineEngine
@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the redirect rule. The input consists of a byte of options, a URI, a line feed and the value of Location.
  static let redirect = FuzzTarget(
    name: "redirect", summary: "a redirect leaks no credentials, downgrades nothing, and repeats POST only if required"
  ) { bytes in
    var input = Input(bytes)
    let choices = input.byte()
    let lines = input.lines
    guard lines.count > 1, let uri = try? URI(String(decoding: lines[0], as: UTF8.self)) else { return }
    let status = [301, 302, 303, 307, 308, 300, 304, 200][Int(choices & 7)]
    let wire = Array("HTTP/1.1 \(status) X\r\nLocation: ".utf8) + lines[1] + Array("\r\nContent-Length: 0\r\n\r\n".utf8)
    var connection = ClientConnection(limits: Limits())
    connection.start(method: "GET", closes: false)
    var cursor = 0
    guard case .head(let head, _, _)? = try? connection.receive(wire.span, at: &cursor) else { return }
    let method = ["GET", "POST", "PUT", "HEAD"][Int(choices >> 3 & 3)]
    let fields: Fields = [
      "Authorization": "Bearer s", "Cookie": "a=b", "Cookie2": "a=b", "Proxy-Authorization": "Basic s", "Host": "h",
      "X-Api-Key": "s", "X-Own": "kept", "Content-Type": "text/plain",
    ]
    let request = EngineRequest(
      method: method, uri: uri, fields: fields, body: method == "POST" ? RequestBody([1, 2]) : RequestBody())
    var rule = RedirectRule()
    rule.allowsDowngrade = choices & 0x20 != 0
    rule.secretFields = ["x-api-key"]
    guard let next = try? rule.next(after: head, to: request, count: 0) else { return }
    check(next, request, status, rule)
    hold((try? rule.next(after: head, to: request, count: rule.countMax)) == nil, "followed beyond the limit")
  }

  private static func check(_ next: EngineRequest, _ request: EngineRequest, _ status: Int, _ rule: RedirectRule) {
    hold([301, 302, 303, 307, 308].contains(status), "a \(status) was followed")
    let isSame = next.uri.origin == request.uri.origin
    let isDowngrade = request.uri.origin.scheme == .https && next.uri.origin.scheme == .http
    hold(rule.allowsDowngrade || !isDowngrade, "\(request.uri) was downgraded to \(next.uri)")
    for name in ["Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Host", "X-Api-Key"] {
      hold(next.fields.contains(name) == isSame, "\(name) from \(request.uri) to \(next.uri)")
    }
    hold(next.fields.first("X-Own") == "kept", "a field was lost")
    let becomesGet = request.method == "POST" ? status <= 303 : request.method == "PUT" && status == 303
    hold(next.method == (becomesGet ? "GET" : request.method), "\(request.method) became \(next.method) by \(status)")
    hold(next.fields.contains("Content-Type") != becomesGet, "\(next.method) with the content's fields")
    hold(next.uri.origin.socketPath == nil || isSame, "sent to the socket \(next.uri)")
  }
}
