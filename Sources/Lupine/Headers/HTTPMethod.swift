// `HTTPMethod`: the request methods of RFC 9110 §9, PATCH (RFC 5789) and QUERY (RFC 10008); any other token is allowed.

/// A request method. Two methods are equal only if their names have exactly the same spelling (RFC 9110 §9.1).
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
  /// The `CONNECT` method, which asks a proxy to open a tunnel (RFC 9110 §9.3.6).
  public static let connect = HTTPMethod(rawValue: "CONNECT")
  /// The `DELETE` method, which removes a resource (RFC 9110 §9.3.5).
  public static let delete = HTTPMethod(rawValue: "DELETE")
  /// The `GET` method, which retrieves a resource (RFC 9110 §9.3.1).
  public static let get = HTTPMethod(rawValue: "GET")
  /// The `HEAD` method, which retrieves only the header fields of a resource (RFC 9110 §9.3.2).
  public static let head = HTTPMethod(rawValue: "HEAD")
  /// The `OPTIONS` method, which asks for the methods and options that a resource supports (RFC 9110 §9.3.7).
  public static let options = HTTPMethod(rawValue: "OPTIONS")
  /// The `PATCH` method, which changes part of a resource (RFC 5789).
  public static let patch = HTTPMethod(rawValue: "PATCH")
  /// The `POST` method, which submits content to a resource for processing (RFC 9110 §9.3.3).
  public static let post = HTTPMethod(rawValue: "POST")
  /// The `PUT` method, which creates or replaces a resource (RFC 9110 §9.3.4).
  public static let put = HTTPMethod(rawValue: "PUT")
  /// The `QUERY` method, which is safe and idempotent like `GET` but has a body like `POST` (RFC 10008).
  public static let query = HTTPMethod(rawValue: "QUERY")
  /// The `TRACE` method, which returns the request as the server received it (RFC 9110 §9.3.8).
  public static let trace = HTTPMethod(rawValue: "TRACE")

  /// The method's name, as sent in the request line.
  public let rawValue: String

  /// Creates a request method with any name.
  ///
  /// - Parameter rawValue: A token (RFC 9110 §5.6.2), sent unchanged.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}
