// RequestPattern: the conditions that a request must meet so that a rule answers it.

public import Foundation

/// The conditions that a request must meet so that a rule of ``Stubs`` answers the request. All conditions must be met.
///
/// ```swift
/// let pattern = RequestPattern.get("/users").query("page", "2").header("Accept", "application/json")
/// ```
public struct RequestPattern: Sendable, CustomStringConvertible {
  struct Condition: Sendable {
    let description: String
    let holds: @Sendable (RecordedRequest) -> Bool
  }

  private(set) var conditions: [Condition] = []

  /// Creates a pattern that matches all requests.
  public init() {}

  /// A pattern that matches all requests.
  public static var any: RequestPattern { RequestPattern() }
  /// Returns a pattern that matches GET requests with this path.
  public static func get(_ path: String) -> RequestPattern { any.method("GET").path(path) }
  /// Returns a pattern that matches POST requests with this path.
  public static func post(_ path: String) -> RequestPattern { any.method("POST").path(path) }
  /// Returns a pattern that matches PUT requests with this path.
  public static func put(_ path: String) -> RequestPattern { any.method("PUT").path(path) }
  /// Returns a pattern that matches PATCH requests with this path.
  public static func patch(_ path: String) -> RequestPattern { any.method("PATCH").path(path) }
  /// Returns a pattern that matches DELETE requests with this path.
  public static func delete(_ path: String) -> RequestPattern { any.method("DELETE").path(path) }

  /// Returns a copy of the pattern that also requires an HTTP method, such as "GET".
  public func method(_ method: String) -> RequestPattern {
    adding("method \(method)") { $0.method == method }
  }

  /// Returns a copy of the pattern that also requires a host. The case of the host is ignored.
  public func host(_ host: String) -> RequestPattern {
    adding("host \(host)") { $0.url?.host?.lowercased() == host.lowercased() }
  }

  /// Returns a copy of the pattern that also requires that the percent-decoded path of the URL matches `path`. A `*` in `path`
  /// matches one path component, and a final `**` matches any number of path components.
  public func path(_ path: String) -> RequestPattern {
    let parts = Self.components(path)
    return adding("path \(path)") { request in
      Self.matches(Self.components(request.url?.path ?? ""), parts[...])
    }
  }

  /// Returns a copy of the pattern that also requires a query item.
  ///
  /// - Parameters:
  ///   - name: The name of the item.
  ///   - value: The value of the item, or nil to match any value.
  public func query(_ name: String, _ value: String? = nil) -> RequestPattern {
    adding("query \(name)" + (value.map { "=\($0)" } ?? "")) { request in
      let items = request.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.queryItems } ?? []
      return items.contains { $0.name == name && (value == nil || $0.value == value) }
    }
  }

  /// Returns a copy of the pattern that also requires a header field.
  ///
  /// - Parameters:
  ///   - name: The name of the field. Its case is ignored.
  ///   - value: The value of the field, or nil to match any value.
  public func header(_ name: String, _ value: String? = nil) -> RequestPattern {
    adding("header \(name)" + (value.map { ": \($0)" } ?? "")) { request in
      guard let actual = request.value(forHTTPHeaderField: name) else { return false }
      return value == nil || actual == value
    }
  }

  /// Returns a copy of the pattern that also requires that the request body equals `body`.
  public func body(_ body: Data) -> RequestPattern {
    adding("a body of \(body.count) bytes") { $0.body == body }
  }

  /// Returns a copy of the pattern that also requires that the request body is JSON that equals `json`. White space and the order
  /// of keys are ignored.
  public func json(_ json: String) -> RequestPattern {
    let expected = Self.canonical(Data(json.utf8))
    return adding("JSON \(json)") { expected != nil && Self.canonical($0.body) == expected }
  }

  /// Returns a copy of the pattern that also requires a condition, which a closure checks.
  ///
  /// - Parameters:
  ///   - description: The condition in a few words. An ``UnmatchedRequest`` error contains this text.
  ///   - holds: A closure that returns whether the request meets the condition. It may be called on any thread.
  public func matching(
    _ description: String, _ holds: @escaping @Sendable (RecordedRequest) -> Bool
  ) -> RequestPattern { adding(description, holds) }

  /// The pattern's conditions as text, separated by commas: `any request` if there are none.
  public var description: String {
    conditions.isEmpty ? "any request" : conditions.map(\.description).joined(separator: ", ")
  }

  /// Returns the descriptions of this pattern's conditions that `request` doesn't meet.
  func unmet(by request: RecordedRequest) -> [String] {
    conditions.filter { !$0.holds(request) }.map(\.description)
  }

  private func adding(
    _ description: String, _ holds: @escaping @Sendable (RecordedRequest) -> Bool
  ) -> RequestPattern {
    var pattern = self
    pattern.conditions.append(Condition(description: description, holds: holds))
    return pattern
  }

  private static func components(_ path: String) -> [Substring] { path.split(separator: "/") }

  private static func matches(_ path: [Substring], _ parts: ArraySlice<Substring>) -> Bool {
    if parts.last == "**" {
      return path.count >= parts.count - 1 && matches(Array(path.prefix(parts.count - 1)), parts.dropLast())
    }
    return path.count == parts.count && zip(path, parts).allSatisfy { $1 == "*" || $0 == $1 }
  }

  private static func canonical(_ data: Data) -> Data? {
    let options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    guard let value = try? JSONSerialization.jsonObject(with: data, options: options) else { return nil }
    return try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
  }
}
