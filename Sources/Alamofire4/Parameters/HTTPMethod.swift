// HTTPMethod and HTTPHeaders: a request's method (RFC 9110 §9) and its fields, as Alamofire 4 represents them.

/// The header fields of a request: values by name.
public typealias HTTPHeaders = [String: String]

/// The HTTP method of a request.
public enum HTTPMethod: String, Sendable {
  /// The `OPTIONS` method, which asks for the methods and options that a resource supports (RFC 9110 §9.3.7).
  case options = "OPTIONS"
  /// The `GET` method, which retrieves a resource (RFC 9110 §9.3.1).
  case get = "GET"
  /// The `HEAD` method, which retrieves only the header fields of a resource (RFC 9110 §9.3.2).
  case head = "HEAD"
  /// The `POST` method, which submits content to a resource for processing (RFC 9110 §9.3.3).
  case post = "POST"
  /// The `PUT` method, which creates or replaces a resource (RFC 9110 §9.3.4).
  case put = "PUT"
  /// The `PATCH` method, which changes part of a resource (RFC 5789).
  case patch = "PATCH"
  /// The `DELETE` method, which removes a resource (RFC 9110 §9.3.5).
  case delete = "DELETE"
  /// The `TRACE` method, which returns the request as the server received it (RFC 9110 §9.3.8).
  case trace = "TRACE"
  /// The `CONNECT` method, which asks a proxy to open a tunnel (RFC 9110 §9.3.6).
  case connect = "CONNECT"
}
