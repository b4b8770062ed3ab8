// HTTPMethod and HTTPHeaders: a request's method (RFC 9110 §9) and its fields, as Alamofire 4 represents them.

/// The header fields of a request by name.
public typealias HTTPHeaders = [String: String]

/// The method of a request.
public enum HTTPMethod: String, Sendable {
  /// `OPTIONS`.
  case options = "OPTIONS"
  /// `GET`.
  case get = "GET"
  /// `HEAD`.
  case head = "HEAD"
  /// `POST`.
  case post = "POST"
  /// `PUT`.
  case put = "PUT"
  /// `PATCH`.
  case patch = "PATCH"
  /// `DELETE`.
  case delete = "DELETE"
  /// `TRACE`.
  case trace = "TRACE"
  /// `CONNECT`.
  case connect = "CONNECT"
}
