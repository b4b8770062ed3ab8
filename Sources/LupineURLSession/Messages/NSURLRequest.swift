// NSURLRequest: the request as a class, and its mutable subclass, for programs that pass requests by reference.

public import Foundation
import Synchronization

// Unchecked because the class is open. All state is protected by the Mutex.
/// A request as an object. Its properties can be changed in the subclass ``NSMutableURLRequest``.
///
/// ``URLRequest`` is the same request as a value. Each of the types has an initializer that takes the other.
open class NSURLRequest: NSObject, NSCopying, NSMutableCopying, @unchecked Sendable {
  /// The same as ``URLRequest/CachePolicy``.
  public typealias CachePolicy = URLRequest.CachePolicy

  private let state: Mutex<URLRequest>

  /// Creates a GET request.
  public convenience init(url URL: URL) { self.init(URLRequest(url: URL)) }

  /// Creates a GET request with a cache policy and a timeout in seconds.
  public convenience init(url URL: URL, cachePolicy: CachePolicy, timeoutInterval: TimeInterval) {
    self.init(URLRequest(url: URL, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval))
  }

  /// Creates an object with the properties of a request.
  public required init(_ request: URLRequest) { state = Mutex(request) }

  /// The request as a value.
  final var value: URLRequest { state.withLock { $0 } }

  fileprivate final func change(_ change: (inout URLRequest) -> Void) { state.withLock { change(&$0) } }

  /// See ``URLRequest/url``.
  open var url: URL? { value.url }
  /// See ``URLRequest/cachePolicy``.
  open var cachePolicy: CachePolicy { value.cachePolicy }
  /// See ``URLRequest/timeoutInterval``.
  open var timeoutInterval: TimeInterval { value.timeoutInterval }
  /// See ``URLRequest/mainDocumentURL``.
  open var mainDocumentURL: URL? { value.mainDocumentURL }
  /// See ``URLRequest/httpMethod``.
  open var httpMethod: String? { value.httpMethod }
  /// See ``URLRequest/allHTTPHeaderFields``.
  open var allHTTPHeaderFields: [String: String]? { value.allHTTPHeaderFields }
  /// See ``URLRequest/httpBody``.
  open var httpBody: Data? { value.httpBody }
  /// See ``URLRequest/httpBodyStream``.
  open var httpBodyStream: InputStream? { value.httpBodyStream }
  /// See ``URLRequest/httpShouldHandleCookies``.
  open var httpShouldHandleCookies: Bool { value.httpShouldHandleCookies }

  /// See ``URLRequest/value(forHTTPHeaderField:)``.
  open func value(forHTTPHeaderField field: String) -> String? { value.value(forHTTPHeaderField: field) }

  /// Returns an immutable copy, or the object itself if it is immutable.
  open override func copy() -> Any { copy(with: nil) }

  /// Returns an immutable copy, or the object itself if it is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { type(of: self) == NSURLRequest.self ? self : NSURLRequest(value) }

  /// Returns an ``NSMutableURLRequest`` with the same properties.
  open override func mutableCopy() -> Any { mutableCopy(with: nil) }

  /// Returns an ``NSMutableURLRequest`` with the same properties.
  open func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableURLRequest(value) }

  /// Returns whether `object` is a request with the same properties.
  open override func isEqual(_ object: Any?) -> Bool {
    switch object {
    case let other as NSURLRequest: value == other.value
    case let other as URLRequest: value == other
    default: false
    }
  }

  /// The hash of the properties.
  open override var hash: Int { value.hashValue }

  /// The URL as a string, without its user information.
  open override var description: String { value.description }
}

// Unchecked for the same reason as its superclass.
/// A request as an object that can be changed.
open class NSMutableURLRequest: NSURLRequest, @unchecked Sendable {
  /// See ``URLRequest/url``.
  open override var url: URL? {
    get { value.url }
    set { change { $0.url = newValue } }
  }
  /// See ``URLRequest/cachePolicy``.
  open override var cachePolicy: CachePolicy {
    get { value.cachePolicy }
    set { change { $0.cachePolicy = newValue } }
  }
  /// See ``URLRequest/timeoutInterval``.
  open override var timeoutInterval: TimeInterval {
    get { value.timeoutInterval }
    set { change { $0.timeoutInterval = newValue } }
  }
  /// See ``URLRequest/mainDocumentURL``.
  open override var mainDocumentURL: URL? {
    get { value.mainDocumentURL }
    set { change { $0.mainDocumentURL = newValue } }
  }
  /// See ``URLRequest/httpMethod``.
  open override var httpMethod: String? {
    get { value.httpMethod }
    set { change { $0.httpMethod = newValue } }
  }
  /// See ``URLRequest/allHTTPHeaderFields``.
  open override var allHTTPHeaderFields: [String: String]? {
    get { value.allHTTPHeaderFields }
    set { change { $0.allHTTPHeaderFields = newValue } }
  }
  /// See ``URLRequest/httpBody``.
  open override var httpBody: Data? {
    get { value.httpBody }
    set { change { $0.httpBody = newValue } }
  }
  /// See ``URLRequest/httpBodyStream``.
  open override var httpBodyStream: InputStream? {
    get { value.httpBodyStream }
    set {
      let request = value.replacing(stream: newValue)
      change { $0 = request }
    }
  }
  /// See ``URLRequest/httpShouldHandleCookies``.
  open override var httpShouldHandleCookies: Bool {
    get { value.httpShouldHandleCookies }
    set { change { $0.httpShouldHandleCookies = newValue } }
  }

  /// See ``URLRequest/setValue(_:forHTTPHeaderField:)``.
  open func setValue(_ value: String?, forHTTPHeaderField field: String) {
    change { $0.setValue(value, forHTTPHeaderField: field) }
  }

  /// See ``URLRequest/addValue(_:forHTTPHeaderField:)``.
  open func addValue(_ value: String, forHTTPHeaderField field: String) {
    change { $0.addValue(value, forHTTPHeaderField: field) }
  }

  /// Changes the values that a ``URLProtocol`` has attached to the request.
  final func changeProperties(_ change: (inout [String: Any]) -> Void) {
    self.change { request in
      var values = request.properties?.values ?? [:]
      change(&values)
      request.properties = values.isEmpty ? nil : ProtocolProperties(values)
    }
  }
}

extension URLRequest: ReferenceConvertible {
  /// The class of requests as objects.
  public typealias ReferenceType = NSURLRequest

  /// Creates a value with the properties of an object.
  public init(_ request: NSURLRequest) { self = request.value }

  /// Returns an object with the same properties.
  public func _bridgeToObjectiveC() -> NSURLRequest { NSURLRequest(self) }

  /// Sets `result` to the object's properties.
  public static func _forceBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) {
    result = source.value
  }

  /// Sets `result` to the object's properties. Always returns true.
  public static func _conditionallyBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) -> Bool {
    result = source.value
    return true
  }

  /// Returns the object's properties. The object must not be nil.
  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
    guard let source else { preconditionFailure("nil can't be bridged to a URLRequest") }
    return source.value
  }

  fileprivate func replacing(stream: InputStream?) -> URLRequest {
    var request = self
    request.httpBodyStream = stream
    return request
  }
}
