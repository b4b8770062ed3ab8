// Redaction: removes credentials from recorded exchanges.

import Foundation

/// Specifies the credentials that a recording omits: the values of certain header fields, of cookies, and of certain items in
/// queries, forms and JSON.
///
/// The names of fields, cookies and items are kept, and their values are replaced with ``replacement``. User information is removed
/// from URLs. A multipart body, and a JSON body that can't be parsed, are replaced entirely. If a body is labeled as text, its
/// values are replaced only if the body is JSON. If a body has no Content-Type, its values are replaced if the body is JSON or a
/// form.
public struct Redaction: Sendable {
  /// The text that replaces a removed value.
  public static let replacement = "REMOVED"

  /// The names, in lowercase, of the header fields whose values are removed.
  public var fields: Set<String> = [
    "authorization", "proxy-authorization", "authentication-info", "proxy-authentication-info", "cookie", "cookie2",
    "set-cookie", "set-cookie2", "x-api-key", "api-key", "x-auth-token", "x-amz-security-token", "x-csrf-token",
  ]
  /// The names, in lowercase and without `-` and `_`, of the items in queries, forms and JSON objects whose values are removed.
  /// Each part of a nested name such as `user[password]` is compared with these names.
  public var items: Set<String> = [
    "accesstoken", "refreshtoken", "idtoken", "token", "apikey", "key", "password", "passwd", "secret", "clientsecret",
    "clientassertion", "assertion", "code", "sig", "signature", "auth", "session", "sessionid", "xamzsignature",
    "xamzcredential", "xamzsecuritytoken",
  ]

  /// Creates a redaction that removes the values of fields and items with names that are usual for credentials. Add the names that
  /// only your service uses.
  public init() {}

  /// Returns `value`, the value of the header field `name`, without the credentials in it.
  func value(ofField name: String, _ value: String) -> String {
    if fields.contains(name.lowercased()) { return Self.replacement }
    // These fields may contain a URL with a signed query.
    if ["location", "referer", "content-location"].contains(name.lowercased()) { return url(value) }
    return value
  }

  func isSecret(item name: String) -> Bool {
    name.lowercased().filter { $0 != "-" && $0 != "_" }.split { $0 == "[" || $0 == "]" }
      .contains { items.contains(String($0)) }
  }

  /// Returns the URL `text` without its user information and fragment. The values of secret query items are replaced.
  func url(_ text: String) -> String {
    guard var components = URLComponents(string: text) else { return Self.replacement }
    (components.user, components.password, components.fragment) = (nil, nil, nil)
    if let query = components.percentEncodedQuery { components.percentEncodedQuery = form(query) }
    return components.string ?? Self.replacement
  }

  /// Returns the form or query `text` with the values of its secret items replaced.
  func form(_ text: String) -> String {
    text.split(separator: "&", omittingEmptySubsequences: false).map { item in
      guard let end = item.firstIndex(of: "=") else { return String(item) }
      let name = item[..<end]
      return isSecret(item: name.removingPercentEncoding ?? String(name)) ? "\(name)=\(Self.replacement)" : String(item)
    }.joined(separator: "&")
  }

  /// Returns a message body without its credentials. If the body is a form or JSON, the values of its secret items are replaced.
  /// JSON that can't be parsed is replaced entirely, because it may contain such items. `mediaType` is the value of Content-Type,
  /// or an empty string if there is none.
  func body(_ body: Data, mediaType: String) -> Data {
    let type = mediaType.lowercased()
    if type.hasPrefix("application/x-www-form-urlencoded") {
      return Data(form(String(decoding: body, as: UTF8.self)).utf8)
    }
    if type.hasPrefix("multipart/"), !body.isEmpty { return Data(Self.replacement.utf8) }
    guard !body.isEmpty else { return body }
    if type.contains("json") { return json(body) ?? Data(Self.replacement.utf8) }
    // JSON is often labeled as text, or not at all.
    guard type.isEmpty || type.hasPrefix("text/") else { return body }
    if let json = json(body) { return json }
    // A body without a media type is sent as a form.
    guard type.isEmpty, let text = String(data: body, encoding: .utf8) else { return body }
    return Data(form(text).utf8)
  }

  /// Returns the JSON `body` with the values of its secret items replaced, or nil if `body` isn't JSON.
  private func json(_ body: Data) -> Data? {
    guard let value = try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed) else { return nil }
    guard hasSecretKey(body) else { return body }
    let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
    return (try? JSONSerialization.data(withJSONObject: redacted(value), options: options))
      ?? Data(Self.replacement.utf8)
  }

  /// Returns whether a JSON text contains the key of a secret item. Searches the text, because a parsed object contains only one of
  /// several items with the same key.
  private func hasSecretKey(_ json: Data) -> Bool {
    // Bytes of 0 mean UTF-16 or UTF-32, in which keys aren't searched. Such text is assumed to contain a secret.
    guard !json.contains(0) else { return true }
    var rest = json[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "\"")) {
      var end = start + 1
      while end < rest.endIndex, rest[end] != UInt8(ascii: "\"") { end += rest[end] == UInt8(ascii: "\\") ? 2 : 1 }
      guard end < rest.endIndex else { return true }
      let text = rest[start...end]
      rest = rest[(end + 1)...].drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
      guard rest.first == UInt8(ascii: ":") else { continue }
      guard let key = try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed) as? String else {
        return true
      }
      if isSecret(item: key) { return true }
    }
    return false
  }

  private func redacted(_ value: Any) -> Any {
    switch value {
    case let object as [String: Any]:
      Dictionary(
        uniqueKeysWithValues: object.map { ($0.key, isSecret(item: $0.key) ? Self.replacement : redacted($0.value)) })
    case let array as [Any]: array.map(redacted)
    default: value
    }
  }
}
