// URLRequest: a URL, a method, header fields, a body and a timeout, as in Foundation's networking types.

public import Foundation
package import LupineEngine

/// A request for the resource at a URL.
///
/// Two requests are equal if the following are equal: the data that is sent, including the order of the header fields; the timeout;
/// the cache policy; the handling of cookies; the main document's URL; the network settings; and ``URLRequest/lupine``. A timeout
/// or cache policy that was set explicitly isn't equal to one that wasn't set, even if the values are the same.
public struct URLRequest: Hashable, Sendable {
  private struct Parts: Hashable, Sendable {
    var url: URL? { didSet { parsedURL = nil } }
    /// The URL as parsed by Foundation and by the engine. Nil if the engine hasn't parsed the URL yet.
    private(set) var parsedURL: ParsedURL?
    var fields = Fields()
    var methodName = URLRequest.methodNameDefault
    var body = Body.none
    var timeoutInterval: TimeInterval?
    var cachePolicy: CachePolicy?
    var handlesCookies = true
    /// Whether the fields were set, so that a request without fields has an empty dictionary instead of nil. Comparisons ignore it.
    var hasSetFields = false
    var mainDocumentURL: URL?
    /// The settings of this request that most requests don't set.
    var options = RequestOptions.Place.none
    /// The values that a URLProtocol has attached to this request. The values aren't sent, and comparisons of requests ignore them.
    var properties: ProtocolProperties?

    // The case of field names counts in the comparison, because they are sent with their case.
    static func == (left: Parts, right: Parts) -> Bool {
      left.url == right.url && left.fields.elementsEqual(right.fields) && left.methodName == right.methodName
        && left.body == right.body && left.timeoutInterval == right.timeoutInterval
        && left.cachePolicy == right.cachePolicy && left.handlesCookies == right.handlesCookies
        && left.mainDocumentURL == right.mainDocumentURL && left.options == right.options
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(url)
      hasher.combine(methodName)
      for field in fields { hasher.combine(field) }
      hasher.combine(mainDocumentURL)
      if case .stream(let stream) = body { hasher.combine(stream) }
    }
  }

  /// The body of a URLRequest: no body, data, or a stream.
  enum Body: Hashable, Sendable {
    case none
    case data(Data)
    case stream(BodyStream)

    /// Whether the body certainly has no bytes. False for a stream, whose length is unknown.
    var isEmpty: Bool {
      switch self {
      case .none: true
      case .data(let data): data.isEmpty
      case .stream: false
      }
    }
  }

  // Unchecked because the parts change only while a single request refers to the storage.
  /// The storage of a URLRequest's properties. Copies of a request share it (copy on write), because requests are often copied and
  /// seldom changed.
  private final class Storage: Hashable, @unchecked Sendable {
    // Access needn't be checked: the properties change only through `parts` of the only request that refers to the storage, and
    // Swift enforces exclusive access to that request.
    @exclusivity(unchecked) var parts: Parts

    init(_ parts: consuming Parts) { self.parts = parts }

    static func == (left: Storage, right: Storage) -> Bool { left === right || left.parts == right.parts }

    func hash(into hasher: inout Hasher) { hasher.combine(parts) }
  }

  private var storage: Storage

  private init(_ parts: consuming Parts) { storage = Storage(consume parts) }

  /// The request's properties. A change first copies them if another request shares the storage.
  private var parts: Parts {
    get { storage.parts }
    _modify {
      if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.parts) }
      yield &storage.parts
    }
  }

  /// Creates a request without a timeout and cache policy, so that those of the session apply.
  package init(url: URL, method: String, fields: Fields?) {
    self.init(
      Parts(
        url: url, fields: fields ?? Fields(), methodName: Self.normalized(method), hasSetFields: fields != nil))
  }

  /// Creates a request for a URL that the engine has already parsed.
  package init(_ parsedURL: ParsedURL, method: String, fields: Fields?) {
    self.init(
      Parts(
        url: parsedURL.url, parsedURL: parsedURL, fields: fields ?? Fields(),
        methodName: Self.normalized(method), hasSetFields: fields != nil))
  }

  /// Creates a GET request, to which the session's timeout and cache policy apply. A relative URL becomes absolute.
  public init(url: URL) {
    self.init(Parts(url: Self.absolute(url)))
  }

  /// Creates a GET request with a timeout. The session's cache policy applies.
  ///
  /// - Parameters:
  ///   - url: The URL to request.
  ///   - timeoutInterval: The time limit for each phase of the request, in seconds. It takes precedence over the session's
  ///     ``URLSessionConfiguration/timeoutIntervalForRequest``.
  public init(url: URL, timeoutInterval: TimeInterval) {
    self.init(Parts(url: Self.absolute(url), timeoutInterval: timeoutInterval))
  }

  /// Creates a GET request with a cache policy. The session's timeout applies.
  public init(url: URL, cachePolicy: CachePolicy) {
    self.init(Parts(url: Self.absolute(url), cachePolicy: cachePolicy))
  }

  /// Creates a GET request with a cache policy and a timeout.
  ///
  /// - Parameters:
  ///   - url: The URL to request.
  ///   - cachePolicy: How the request uses caches. It takes precedence over the session's policy.
  ///   - timeoutInterval: The time limit for each phase of the request, in seconds, 60 by default. It takes precedence over the
  ///     session's ``URLSessionConfiguration/timeoutIntervalForRequest``.
  public init(
    url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
  ) {
    self.init(Parts(url: Self.absolute(url), timeoutInterval: timeoutInterval, cachePolicy: cachePolicy))
  }

  private static func absolute(_ url: URL) -> URL { url.baseURL == nil ? url : url.absoluteURL }

  /// The URL to request. If nil, the request's task fails when it is started.
  public var url: URL? {
    get { storage.parts.url }
    set { parts.url = newValue }
  }

  /// The header fields, in the order in which they will be sent.
  package var fields: Fields {
    get { storage.parts.fields }
    _modify {
      parts.hasSetFields = true
      // The storage is unique now.
      yield &storage.parts.fields
    }
  }

  /// The URL as parsed by Foundation and by the engine. Nil if the engine hasn't parsed the URL yet.
  var parsedURL: ParsedURL? { storage.parts.parsedURL }

  var body: Body { storage.parts.body }

  /// The body as data. Nil if there is no body, or if the body is a stream. Setting data replaces a stream.
  public var httpBody: Data? {
    get { if case .data(let data) = body { data } else { nil } }
    set { parts.body = newValue.map { .data($0) } ?? .none }
  }

  /// The body as a stream that isn't open yet. Nil if there is no body, or if the body is data. Setting a stream replaces data.
  ///
  /// When the request is sent, the session opens, reads and closes the stream on a private queue. Don't use the stream from then
  /// on. A stream can be read only once, so give each request a separate stream. If the request has a Content-Length field, the
  /// stream must have exactly that many bytes, or the request fails. Without that field, the body is sent with the chunked transfer
  /// coding. Copies of a request share the stream. Requests with different streams aren't equal.
  public var httpBodyStream: InputStream? {
    get { if case .stream(let stream) = body { stream.stream } else { nil } }
    set {
      let stream = newValue.map { BodyStream.box($0) }
      parts.body = stream.map { .stream($0) } ?? .none
    }
  }

  /// Whether the session adds stored cookies to the request, and stores the cookies in the response. True by default.
  public var httpShouldHandleCookies: Bool {
    get { storage.parts.handlesCookies }
    set { parts.handlesCookies = newValue }
  }

  /// The URL of the document for which the request is made, or nil if there is none. If the cookie policy is
  /// `HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain`, the session compares this URL with the request's URL.
  public var mainDocumentURL: URL? {
    get { storage.parts.mainDocumentURL }
    set { parts.mainDocumentURL = newValue }
  }

  /// The settings that most requests don't set. Nil if this request doesn't set any of them.
  var options: RequestOptions? { storage.parts.options.options }

  mutating func changeOptions(_ change: (inout RequestOptions) -> Void) {
    var options = options ?? RequestOptions()
    change(&options)
    parts.options = .own(options)
  }

  /// The values that a ``URLProtocol`` has attached to this request. Nil if there are none.
  var properties: ProtocolProperties? {
    get { storage.parts.properties }
    set { parts.properties = newValue }
  }

  /// The timeout, in seconds, that was set for this request. If it is nil, the session's timeout applies.
  var explicitTimeoutInterval: TimeInterval? { storage.parts.timeoutInterval }

  /// The cache policy that was set for this request. If it is nil, the session's policy applies.
  var explicitCachePolicy: CachePolicy? { storage.parts.cachePolicy }

  /// The request method, such as `POST`. It is never nil: setting nil sets `GET`.
  ///
  /// As in Foundation, GET, HEAD, POST, PUT, DELETE and CONNECT are converted to uppercase. All other method names are sent
  /// unchanged.
  public var httpMethod: String? {
    get { storage.parts.methodName }
    set { parts.methodName = newValue.map(Self.normalized) ?? Self.methodNameDefault }
  }

  /// The time limit for each phase of the request, in seconds. If the property was never set, its value is 60, but the session's
  /// ``URLSessionConfiguration/timeoutIntervalForRequest``, which lists the phases, applies to the request.
  ///
  /// A value that is not positive and finite means no limit. A task in which a phase exceeds the limit completes with
  /// `URLError.timedOut`.
  public var timeoutInterval: TimeInterval {
    get { explicitTimeoutInterval ?? Self.timeoutIntervalDefault }
    set { parts.timeoutInterval = newValue }
  }

  /// How the request uses caches. If the property was never set, its value is `.useProtocolCachePolicy`, but the session's policy
  /// applies to the request.
  public var cachePolicy: CachePolicy {
    get { explicitCachePolicy ?? .useProtocolCachePolicy }
    set { parts.cachePolicy = newValue }
  }

  /// The header fields as a dictionary from names to values. Nil if no fields were ever set, or if they were set to nil. As in
  /// Foundation, an empty dictionary that was set stays empty, and so does the dictionary after its last field was removed.
  ///
  /// The dictionary is created on each access. Setting a dictionary replaces all header fields. The new fields are sent in
  /// alphabetical order.
  public var allHTTPHeaderFields: [String: String]? {
    get { storage.parts.hasSetFields || !fields.isEmpty ? fields.dictionary : nil }
    set {
      fields = Fields(newValue ?? [:])
      parts.hasSetFields = newValue != nil
    }
  }

  /// Returns the value of the first header field with this name, or nil if there is none. The case of the name is ignored.
  public func value(forHTTPHeaderField field: String) -> String? {
    fields.first(field)
  }

  /// Sets a header field to `value`, in place of earlier values. If `value` is nil, removes the field. If the request already has
  /// the field, its name keeps its spelling. Has no effect if the value contains CR, LF or NUL (RFC 9110 §5.5).
  public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
    guard let value else { return fields.remove(field) }
    guard Self.isFieldValue(value) else { return }
    fields.set(name: spelling(of: field), value: value)
  }

  /// Appends a value to a header field, after a comma if the field already has a value (RFC 9110 §5.3). Has no effect if the value
  /// contains CR, LF or NUL.
  public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
    guard Self.isFieldValue(value) else { return }
    let field = spelling(of: field)
    fields.set(name: field, value: fields.first(field).map { "\($0),\(value)" } ?? value)
  }

  /// Returns the name of a header field in the spelling that the request already uses, or `name` itself if the request doesn't have
  /// the field.
  private func spelling(of name: String) -> String {
    guard fields.contains(name) else { return name }
    return fields.first { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name.lowercased() }?.name
      ?? name
  }

  private static func isFieldValue(_ value: String) -> Bool {
    value.utf8.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0x00 }
  }

  /// The timeout of a request in Foundation if none was set: 60 seconds.
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
  /// A textual description of the request: the URL without a user name and password.
  public var description: String {
    url == nil ? "url: nil" : ReadableText.url(url)
  }
}

extension URLRequest: CustomDebugStringConvertible, CustomReflectable {
  /// A textual description of the request, which is equal to ``description``.
  public var debugDescription: String { description }

  /// A mirror of the request's properties. It contains the names of the header fields but not their values, which may be
  /// credentials.
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
