// The request that Foundation's networking half would give: a URL, a method, header fields, a body and a timeout.

public import Foundation
package import LupineEngine

/// An HTTP request.
///
/// Two requests are equal if everything that would be sent is, the order of the header fields included, if their
/// timeouts were both given or both left to the session, and if they treat cookies the same.
public struct URLRequest: Hashable, Sendable {
  private struct Parts: Hashable, Sendable {
    var url: URL?
    var fields = Fields()
    var methodName = URLRequest.methodNameDefault
    var body = Body.none
    var timeoutInterval: TimeInterval?
    var cachePolicy: CachePolicy?
    var handlesCookies = true
    var mainDocumentURL: URL?
    /// Values that a URLProtocol has attached. They aren't sent, and requests are equal without regard to them.
    var properties: ProtocolProperties?

    // Names of fields are compared as they are written, since that is how they are sent.
    static func == (left: Parts, right: Parts) -> Bool {
      left.url == right.url && left.fields.elementsEqual(right.fields) && left.methodName == right.methodName
        && left.body == right.body && left.timeoutInterval == right.timeoutInterval
        && left.cachePolicy == right.cachePolicy && left.handlesCookies == right.handlesCookies
        && left.mainDocumentURL == right.mainDocumentURL
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(url)
      hasher.combine(methodName)
      for field in fields { hasher.combine(field) }
    }
  }

  /// What stands behind the header section.
  enum Body: Hashable, Sendable {
    case none
    case data(Data)
    case stream(BodyStream)

    /// Whether there is nothing to send; false for a stream.
    var isEmpty: Bool {
      switch self {
      case .none: true
      case .data(let data): data.isEmpty
      case .stream: false
      }
    }
  }

  /// The parts behind one reference: on its way a request is copied at many steps, and changed at few.
  private final class Storage: Hashable, Sendable {
    let parts: Parts

    init(_ parts: Parts) { self.parts = parts }

    static func == (left: Storage, right: Storage) -> Bool { left === right || left.parts == right.parts }

    func hash(into hasher: inout Hasher) { hasher.combine(parts) }
  }

  private var storage: Storage

  private init(_ parts: Parts) { storage = Storage(parts) }

  private mutating func change(_ change: (inout Parts) -> Void) {
    var parts = storage.parts
    change(&parts)
    storage = Storage(parts)
  }

  /// A request whose timeout is left to the session.
  package init(url: URL, method: String, fields: Fields) {
    self.init(Parts(url: url, fields: fields, methodName: Self.normalized(method)))
  }

  /// A GET request whose timeout is left to the session.
  public init(url: URL) {
    self.init(Parts(url: url))
  }

  /// A GET request with a timeout of its own.
  ///
  /// - Parameters:
  ///   - url: the URL to ask.
  ///   - timeoutInterval: seconds to wait for the peer, over what the session's configuration says.
  public init(url: URL, timeoutInterval: TimeInterval) {
    self.init(Parts(url: url, timeoutInterval: timeoutInterval))
  }

  /// A GET request with a cache policy of its own, whose timeout is left to the session.
  public init(url: URL, cachePolicy: CachePolicy) {
    self.init(Parts(url: url, cachePolicy: cachePolicy))
  }

  /// A GET request with a cache policy and a timeout of its own.
  ///
  /// - Parameters:
  ///   - url: the URL to ask.
  ///   - cachePolicy: how caches are used, over what the session's configuration says.
  ///   - timeoutInterval: seconds to wait for the peer, over what the session's configuration says.
  public init(
    url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
  ) {
    self.init(Parts(url: url, timeoutInterval: timeoutInterval, cachePolicy: cachePolicy))
  }

  /// The URL to ask; a request without one fails when it is started.
  public var url: URL? {
    get { storage.parts.url }
    set { change { $0.url = newValue } }
  }

  /// The header fields in the order in which they will be sent.
  package var fields: Fields {
    get { storage.parts.fields }
    set { change { $0.fields = newValue } }
  }

  var body: Body { storage.parts.body }

  /// The body in memory; nil if there is none, or if it is a stream. What is set takes the place of a stream.
  public var httpBody: Data? {
    get { if case .data(let data) = body { data } else { nil } }
    set { change { $0.body = newValue.map { .data($0) } ?? .none } }
  }

  /// The body as a stream that hasn't been opened; nil if there is none, or if it is in memory. What is set takes the
  /// place of a body in memory.
  ///
  /// It is opened, read and closed when the request is sent, on a queue of its own; leave it alone from then on. A stream
  /// can be read once: give each request its own. A Content-Length field says how many bytes it has, and it is an error
  /// then if there are more or fewer; without one they are sent chunked. Copies of a request have the same stream, and
  /// requests with different streams aren't equal.
  public var httpBodyStream: InputStream? {
    get { if case .stream(let stream) = body { stream.stream } else { nil } }
    set {
      let stream = newValue.map { BodyStream.box($0) }
      change { $0.body = stream.map { .stream($0) } ?? .none }
    }
  }

  /// Whether the session adds its cookies to the request and keeps those of the response; true by default.
  public var httpShouldHandleCookies: Bool {
    get { storage.parts.handlesCookies }
    set { change { $0.handlesCookies = newValue } }
  }

  /// The page for which this is asked, which `HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain` goes by; nil if there
  /// is none.
  public var mainDocumentURL: URL? {
    get { storage.parts.mainDocumentURL }
    set { change { $0.mainDocumentURL = newValue } }
  }

  /// The values that ``URLProtocol`` has attached to the request.
  var properties: ProtocolProperties? {
    get { storage.parts.properties }
    set { change { $0.properties = newValue } }
  }

  /// The time to wait for the peer, if it was given; otherwise the session's configuration decides.
  var explicitTimeoutInterval: TimeInterval? { storage.parts.timeoutInterval }

  /// How caches are used, if it was said; otherwise the session's configuration decides.
  var explicitCachePolicy: CachePolicy? { storage.parts.cachePolicy }

  /// The method, never nil when read; setting nil makes it `GET`.
  ///
  /// The six methods that Foundation knows are written in capitals whatever their case, as Foundation does; any
  /// other name is kept as it is.
  public var httpMethod: String? {
    get { storage.parts.methodName }
    set { change { $0.methodName = newValue.map(Self.normalized) ?? Self.methodNameDefault } }
  }

  /// Seconds to wait for the peer: what was set, or 60, the default, for which the session's configuration stands in.
  public var timeoutInterval: TimeInterval {
    get { explicitTimeoutInterval ?? Self.timeoutIntervalDefault }
    set { change { $0.timeoutInterval = newValue } }
  }

  /// How caches are used: what was set, or `.useProtocolCachePolicy`, for which the session's configuration stands in.
  public var cachePolicy: CachePolicy {
    get { explicitCachePolicy ?? .useProtocolCachePolicy }
    set { change { $0.cachePolicy = newValue } }
  }

  /// The header fields as a dictionary, made at each access, or nil if there are none.
  ///
  /// Setting a dictionary replaces all fields, ordered by name.
  public var allHTTPHeaderFields: [String: String]? {
    get { fields.isEmpty ? nil : fields.dictionary }
    set { fields = Fields(newValue ?? [:]) }
  }

  /// The value of the field of that name, in any case, or nil if there is none.
  public func value(forHTTPHeaderField field: String) -> String? {
    fields.first(field)
  }

  /// Replaces the value of the field of that name, or adds the field; nil removes it. A field that exists keeps the
  /// spelling of its name. A value with CR, LF or NUL isn't stored (RFC 9110 §5.5).
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
    guard let value else { return fields.remove(field) }
    guard Self.isFieldValue(value) else { return }
    fields.set(name: spelling(of: field), value: value)
  }

  /// Adds a value to the field of that name, after a comma if the field is there already (RFC 9110 §5.3). A value with
  /// CR, LF or NUL isn't stored.
  public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
    guard Self.isFieldValue(value) else { return }
    let field = spelling(of: field)
    fields.set(name: field, value: fields.first(field).map { "\($0),\(value)" } ?? value)
  }

  /// The name of a field as the request has it, or else as it is given.
  private func spelling(of name: String) -> String {
    guard fields.contains(name) else { return name }
    return fields.first { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased() }?.name
      ?? name
  }

  private static func isFieldValue(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0x00 }
  }

  /// Seconds that Foundation gives a request that sets no timeout.
  static let timeoutIntervalDefault: TimeInterval = 60

  private static let methodNameDefault = "GET"
  private static let knownMethodNames = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT"]

  private static func normalized(_ name: String) -> String {
    if knownMethodNames.contains(name) { return name }
    let capitals = name.uppercased()
    return knownMethodNames.contains(capitals) ? capitals : name
  }
}

extension URLRequest: CustomStringConvertible {
  /// The URL as a string, without its user information.
  public var description: String {
    url == nil ? "url: nil" : ReadableText.url(url)
  }
}

extension URLRequest: CustomDebugStringConvertible, CustomReflectable {
  /// The same as ``description``.
  public var debugDescription: String { description }

  /// The request's properties by name. It omits the values of header fields, which may be credentials.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "url": ReadableText.url(url), "cachePolicy": cachePolicy, "timeoutInterval": timeoutInterval,
        "mainDocumentURL": mainDocumentURL as Any, "httpMethod": httpMethod as Any, "fields": fields.map(\.name),
        "httpBody": httpBody as Any, "httpBodyStream": httpBodyStream as Any,
        "httpShouldHandleCookies": httpShouldHandleCookies,
      ], displayStyle: .struct)
  }
}
