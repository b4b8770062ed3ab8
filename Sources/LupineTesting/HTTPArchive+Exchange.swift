// HTTPArchive+Exchange: converts an exchange to an entry of an archive, and an entry to the reply of a stub.

import Foundation
import LupineURLSession

extension HTTPArchive.Entry {
  /// Creates an archive entry from an exchange, without the exchange's credentials. `response` is nil if the request failed before
  /// it received a response.
  init(
    _ request: RecordedRequest, _ response: HTTPURLResponse?, _ body: Data, start: Date, end: Date,
    _ redaction: Redaction
  ) {
    let milliseconds = max(0, end.timeIntervalSince(start) * 1_000)
    self.init(
      startedDateTime: start.formatted(.iso8601.time(includingFractionalSeconds: true)), time: milliseconds,
      request: HTTPArchive.Request(request, redaction),
      response: HTTPArchive.Response(response, body, redaction),
      timings: HTTPArchive.Timings(send: 0, wait: milliseconds, receive: 0))
  }
}

extension HTTPArchive.Request {
  fileprivate init(_ request: RecordedRequest, _ redaction: Redaction) {
    let type = request.value(forHTTPHeaderField: "Content-Type") ?? ""
    let body = redaction.body(request.body, mediaType: type)
    let url = redaction.url(request.url?.absoluteString ?? "")
    let text = BodyText(body)
    self.init(
      method: request.method, url: url, httpVersion: "HTTP/1.1",
      cookies: request.value(forHTTPHeaderField: "Cookie").map(HTTPArchive.Cookie.names) ?? [],
      headers: HTTPArchive.Pair.fields(request.headerFields, redaction),
      queryString: HTTPArchive.Pair.query(of: url),
      postData: body.isEmpty ? nil : HTTPArchive.PostData(mimeType: type, text: text.text, encoding: text.encoding),
      headersSize: -1, bodySize: body.count)
  }
}

extension HTTPArchive.Response {
  fileprivate init(_ response: HTTPURLResponse?, _ body: Data, _ redaction: Redaction) {
    let fields = (response?.allHeaderFields as? [String: String]) ?? [:]
    let type = response?.value(forHTTPHeaderField: "Content-Type") ?? ""
    let body = redaction.body(body, mediaType: type)
    let text = BodyText(body)
    self.init(
      status: response?.statusCode ?? 0,
      statusText: response.map { HTTPURLResponse.localizedString(forStatusCode: $0.statusCode) } ?? "",
      httpVersion: "HTTP/1.1",
      cookies: response?.value(forHTTPHeaderField: "Set-Cookie").map { [HTTPArchive.Cookie(firstOf: $0)] } ?? [],
      headers: HTTPArchive.Pair.fields(fields, redaction),
      content: HTTPArchive.Content(
        size: body.count, mimeType: type, text: body.isEmpty ? nil : text.text, encoding: text.encoding),
      redirectURL: response?.value(forHTTPHeaderField: "Location").map { redaction.url($0) } ?? "", headersSize: -1,
      bodySize: -1)
  }

  /// The names, in lowercase, of the header fields that describe the encoded body, as the server sent it. A reply contains the
  /// decoded body, so it must not have these fields.
  private static let framing: Set<String> = ["content-encoding", "content-length", "transfer-encoding"]

  /// The stub reply that repeats the recorded response. If there was no response, the reply makes the request fail.
  var reply: StubReply {
    guard status > 0 else { return .reset }
    var fields: [String: String] = [:]
    for field in headers where !Self.framing.contains(field.name.lowercased()) {
      fields[field.name] = fields[field.name].map { "\($0), \(field.value)" } ?? field.value
    }
    return StubReply(status: status, headerFields: fields, body: content.body)
  }
}

extension HTTPArchive.Content {
  /// The bytes of the recorded body, or empty data if the recorded text isn't valid Base64.
  fileprivate var body: Data {
    guard let text else { return Data() }
    return encoding == "base64" ? Data(base64Encoded: text) ?? Data() : Data(text.utf8)
  }
}

extension HTTPArchive.Pair {
  /// Returns header fields as pairs without their credentials. The pairs are sorted by name, because a dictionary has no order.
  fileprivate static func fields(_ fields: [String: String], _ redaction: Redaction) -> [HTTPArchive.Pair] {
    fields.sorted { $0.key < $1.key }
      .map { HTTPArchive.Pair(name: $0.key, value: redaction.value(ofField: $0.key, $0.value)) }
  }

  fileprivate static func query(of url: String) -> [HTTPArchive.Pair] {
    (URLComponents(string: url)?.queryItems ?? []).map { HTTPArchive.Pair(name: $0.name, value: $0.value ?? "") }
  }

  /// Returns the cookies in the value of a Cookie field. The cookies' values are replaced, because they are credentials.
  fileprivate static func names(_ field: String) -> [HTTPArchive.Cookie] {
    field.split(separator: ";").map { HTTPArchive.Cookie(firstOf: String($0)) }
  }

  /// Creates a cookie from the name at the beginning of `text`. The cookie's value is replaced, because it is a credential.
  fileprivate init(firstOf text: String) {
    let name = text.prefix { $0 != "=" && $0 != ";" }.trimmingCharacters(in: .whitespaces)
    self.init(name: name, value: Redaction.replacement)
  }
}

/// A message body as text. If the body isn't UTF-8, the text is the body's Base64 encoding.
private struct BodyText {
  let text: String
  let encoding: String?

  init(_ body: Data) {
    if let text = String(data: body, encoding: .utf8) {
      (self.text, encoding) = (text, nil)
    } else {
      (text, encoding) = (body.base64EncodedString(), "base64")
    }
  }
}

extension Stubs {
  /// Creates stubs that replay an archive. A request gets the response of the entry with the same method and URL. If there are
  /// several such entries, consecutive requests get their responses in order. Further requests get the response of the last entry
  /// again.
  ///
  /// The comparison of URLs ignores the values that `redaction` removes.
  public convenience init(replaying archive: HTTPArchive, redaction: Redaction = Redaction()) {
    self.init()
    var replies: [String: [StubReply]] = [:]
    var order: [(key: String, entry: HTTPArchive.Entry)] = []
    for entry in archive.entries {
      let key = "\(entry.request.method) \(redaction.url(entry.request.url))"
      if replies[key] == nil { order.append((key, entry)) }
      replies[key, default: []].append(entry.response.reply)
    }
    for (key, entry) in order {
      guard let replies = replies[key] else { continue }
      let url = redaction.url(entry.request.url)
      let pattern = RequestPattern.any.method(entry.request.method).matching("URL \(url)") {
        redaction.url($0.url?.absoluteString ?? "") == url
      }
      reply(to: pattern, with: replies)
    }
  }
}
