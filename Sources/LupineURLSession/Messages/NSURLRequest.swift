// NSURLRequest: the request as a class, and its mutable subclass, for programs that pass requests by reference.

public import Foundation
import Synchronization

// Unchecked because the class is open. All state is protected by the Mutex.
/// A request as an object of a class. To change its properties, use the subclass ``NSMutableURLRequest``.
///
/// ``URLRequest`` is the corresponding value type. Each of the two types has an initializer that converts an instance of the other.
///
/// An archive contains all properties except ``httpBodyStream``, the values that a ``URLProtocol`` has attached, and
/// ``URLRequest/lupine``.
open class NSURLRequest: NSObject, NSSecureCoding, NSCopying, NSMutableCopying, @unchecked Sendable {
  /// A type alias for ``URLRequest/CachePolicy``.
  public typealias CachePolicy = URLRequest.CachePolicy
  /// A type alias for ``URLRequest/NetworkServiceType``.
  public typealias NetworkServiceType = URLRequest.NetworkServiceType

  private let state: Mutex<URLRequest>

  /// Creates a GET request.
  public convenience init(url URL: URL) { self.init(URLRequest(url: URL)) }

  /// Creates a GET request with a cache policy and a timeout in seconds.
  public init(url URL: URL, cachePolicy: CachePolicy, timeoutInterval: TimeInterval) {
    state = Mutex(URLRequest(url: URL, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval))
    super.init()
  }

  /// Creates a request object with a copy of the properties of a ``URLRequest``.
  public init(_ request: URLRequest) {
    state = Mutex(request)
    super.init()
  }

  /// Decodes an archived request. Returns nil if the archive doesn't contain a request.
  public required init?(coder: NSCoder) {
    guard let request = URLRequest(coder) else { return nil }
    state = Mutex(request)
    super.init()
  }

  /// Encodes the properties of the request that have been set, except ``httpBodyStream``, ``URLRequest/lupine``, and the values
  /// that a ``URLProtocol`` has attached.
  open func encode(with coder: NSCoder) { value.encode(with: coder) }

  /// Always true, because `NSURLRequest` supports secure coding.
  open class var supportsSecureCoding: Bool { true }

  /// The same request as a ``URLRequest`` value.
  final var value: URLRequest { state.withLock { $0 } }

  // Previous values are released outside the lock, because the deinitializer of an object that a URLProtocol has attached may use
  // the request.
  fileprivate final func change(_ change: (inout URLRequest) -> Void) {
    let old = state.withLock { request in
      let old = request
      change(&request)
      return old
    }
    withExtendedLifetime(old) {}
  }

  /// The URL to request. See ``URLRequest/url``.
  open var url: URL? { value.url }
  /// The way in which the request uses caches. See ``URLRequest/cachePolicy``.
  open var cachePolicy: CachePolicy { value.cachePolicy }
  /// The time limit for each phase of the request, in seconds. See ``URLRequest/timeoutInterval``.
  open var timeoutInterval: TimeInterval { value.timeoutInterval }
  /// The URL of the document for which the request is made. See ``URLRequest/mainDocumentURL``.
  open var mainDocumentURL: URL? { value.mainDocumentURL }
  /// The request method, such as `GET`. See ``URLRequest/httpMethod``.
  open var httpMethod: String? { value.httpMethod }
  /// The header fields as a dictionary from names to values. See ``URLRequest/allHTTPHeaderFields``.
  open var allHTTPHeaderFields: [String: String]? { value.allHTTPHeaderFields }
  /// The body as data. See ``URLRequest/httpBody``.
  open var httpBody: Data? { value.httpBody }
  /// The body as a stream. See ``URLRequest/httpBodyStream``.
  open var httpBodyStream: InputStream? { value.httpBodyStream }
  /// Whether the session adds cookies to the request and stores the response's cookies. See ``URLRequest/httpShouldHandleCookies``.
  open var httpShouldHandleCookies: Bool { value.httpShouldHandleCookies }
  /// Whether the request may be pipelined. The property has no effect. See ``URLRequest/httpShouldUsePipelining``.
  open var httpShouldUsePipelining: Bool { value.httpShouldUsePipelining }
  /// Whether the request may use a mobile network. See ``URLRequest/allowsCellularAccess``.
  open var allowsCellularAccess: Bool { value.allowsCellularAccess }
  /// Whether the request may use an expensive network. See ``URLRequest/allowsExpensiveNetworkAccess``.
  open var allowsExpensiveNetworkAccess: Bool { value.allowsExpensiveNetworkAccess }
  /// Whether the request may use a network in low data mode. The property has no effect. See
  /// ``URLRequest/allowsConstrainedNetworkAccess``.
  open var allowsConstrainedNetworkAccess: Bool { value.allowsConstrainedNetworkAccess }
  /// The kind of the request's traffic, such as video. See ``URLRequest/networkServiceType``.
  open var networkServiceType: NetworkServiceType { value.networkServiceType }

  /// Returns the value of a header field, or nil if the request doesn't have the field. See
  /// ``URLRequest/value(forHTTPHeaderField:)``.
  open func value(forHTTPHeaderField field: String) -> String? { value.value(forHTTPHeaderField: field) }

  /// Returns an immutable copy of the request. If the request is already immutable, returns the request itself.
  open override func copy() -> Any { copy(with: nil) }

  /// Returns an immutable copy of the request. If the request is already immutable, returns the request itself.
  open func copy(with zone: NSZone? = nil) -> Any { type(of: self) == NSURLRequest.self ? self : NSURLRequest(value) }

  /// Returns an ``NSMutableURLRequest`` with the same properties.
  open override func mutableCopy() -> Any { mutableCopy(with: nil) }

  /// Returns an ``NSMutableURLRequest`` with the same properties.
  open func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableURLRequest(value) }

  /// Returns whether `object` is a request that equals this one in all properties.
  open override func isEqual(_ object: Any?) -> Bool {
    switch object {
    case let other as NSURLRequest: value == other.value
    case let other as URLRequest: value == other
    default: false
    }
  }

  /// A hash of the request's properties.
  open override var hash: Int { value.hashValue }

  /// A textual description of the request: the URL without a user name and password.
  open override var description: String { value.url == nil ? "url: (null)" : value.description }
}

// Unchecked for the same reason as its superclass.
/// A request as an object of a class whose properties can be changed.
open class NSMutableURLRequest: NSURLRequest, @unchecked Sendable {
  /// The URL to request. See ``URLRequest/url``.
  open override var url: URL? {
    get { value.url }
    set { change { $0.url = newValue } }
  }
  /// The way in which the request uses caches. See ``URLRequest/cachePolicy``.
  open override var cachePolicy: CachePolicy {
    get { value.cachePolicy }
    set { change { $0.cachePolicy = newValue } }
  }
  /// The time limit for each phase of the request, in seconds. See ``URLRequest/timeoutInterval``.
  open override var timeoutInterval: TimeInterval {
    get { value.timeoutInterval }
    set { change { $0.timeoutInterval = newValue } }
  }
  /// The URL of the document for which the request is made. See ``URLRequest/mainDocumentURL``.
  open override var mainDocumentURL: URL? {
    get { value.mainDocumentURL }
    set { change { $0.mainDocumentURL = newValue } }
  }
  /// The request method, such as `GET`. See ``URLRequest/httpMethod``.
  open override var httpMethod: String? {
    get { value.httpMethod }
    set { change { $0.httpMethod = newValue } }
  }
  /// The header fields as a dictionary from names to values. See ``URLRequest/allHTTPHeaderFields``.
  open override var allHTTPHeaderFields: [String: String]? {
    get { value.allHTTPHeaderFields }
    set { change { $0.allHTTPHeaderFields = newValue } }
  }
  /// The body as data. See ``URLRequest/httpBody``.
  open override var httpBody: Data? {
    get { value.httpBody }
    set { change { $0.httpBody = newValue } }
  }
  /// The body as a stream. See ``URLRequest/httpBodyStream``.
  open override var httpBodyStream: InputStream? {
    get { value.httpBodyStream }
    set { change { $0.httpBodyStream = newValue } }
  }
  /// Whether the session adds cookies to the request and stores the response's cookies. See ``URLRequest/httpShouldHandleCookies``.
  open override var httpShouldHandleCookies: Bool {
    get { value.httpShouldHandleCookies }
    set { change { $0.httpShouldHandleCookies = newValue } }
  }
  /// Whether the request may be pipelined. The property has no effect. See ``URLRequest/httpShouldUsePipelining``.
  open override var httpShouldUsePipelining: Bool {
    get { value.httpShouldUsePipelining }
    set { change { $0.httpShouldUsePipelining = newValue } }
  }
  /// Whether the request may use a mobile network. See ``URLRequest/allowsCellularAccess``.
  open override var allowsCellularAccess: Bool {
    get { value.allowsCellularAccess }
    set { change { $0.allowsCellularAccess = newValue } }
  }
  /// Whether the request may use an expensive network. See ``URLRequest/allowsExpensiveNetworkAccess``.
  open override var allowsExpensiveNetworkAccess: Bool {
    get { value.allowsExpensiveNetworkAccess }
    set { change { $0.allowsExpensiveNetworkAccess = newValue } }
  }
  /// Whether the request may use a network in low data mode. The property has no effect. See
  /// ``URLRequest/allowsConstrainedNetworkAccess``.
  open override var allowsConstrainedNetworkAccess: Bool {
    get { value.allowsConstrainedNetworkAccess }
    set { change { $0.allowsConstrainedNetworkAccess = newValue } }
  }
  /// The kind of the request's traffic, such as video. See ``URLRequest/networkServiceType``.
  open override var networkServiceType: NetworkServiceType {
    get { value.networkServiceType }
    set { change { $0.networkServiceType = newValue } }
  }

  /// Sets a header field to `value`, replacing earlier values. If `value` is nil, removes the field. See
  /// ``URLRequest/setValue(_:forHTTPHeaderField:)``.
  open func setValue(_ value: String?, forHTTPHeaderField field: String) {
    change { $0.setValue(value, forHTTPHeaderField: field) }
  }

  /// Appends a value to a header field. See ``URLRequest/addValue(_:forHTTPHeaderField:)``.
  open func addValue(_ value: String, forHTTPHeaderField field: String) {
    change { $0.addValue(value, forHTTPHeaderField: field) }
  }

  /// Changes the values that a ``URLProtocol`` has attached to the request under its keys.
  final func changeProperties(_ change: (inout [String: Any]) -> Void) {
    self.change { request in
      var values = request.properties?.values ?? [:]
      change(&values)
      request.properties = values.isEmpty ? nil : ProtocolProperties(values)
    }
  }
}

// The conformance to _ObjectiveCBridgeable makes `as` convert between the two types, as with Foundation's.
extension URLRequest: ReferenceConvertible, _ObjectiveCBridgeable {
  /// The class that corresponds to this value type: ``NSURLRequest``.
  public typealias ReferenceType = NSURLRequest
  /// The class to which `as` converts: ``NSURLRequest``.
  public typealias _ObjectiveCType = NSURLRequest

  /// Creates a request with the properties of an ``NSURLRequest``.
  public init(_ request: NSURLRequest) { self = request.value }

  /// Returns an ``NSURLRequest`` with the same properties.
  public func _bridgeToObjectiveC() -> NSURLRequest { NSURLRequest(self) }

  /// Sets `result` to a request with the properties of `source`.
  public static func _forceBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) {
    result = source.value
  }

  /// Sets `result` to a request with the properties of `source`. Always returns true.
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) -> Bool {
    result = source.value
    return true
  }

  /// Returns a request with the properties of `source`, which must not be nil.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
    guard let source else { preconditionFailure("nil can't be bridged to a URLRequest") }
    return source.value
  }
}
