// `HTTPMethod`: the request methods of RFC 9110 §9, PATCH (RFC 5789) and the QUERY draft; any other token is allowed.

/// A request method. Methods are compared by their exact spelling (RFC 9110 §9.1).
public struct HTTPMethod: RawRepresentable, Hashable, Sendable {
  /// `CONNECT`.
  public static let connect = HTTPMethod(rawValue: "CONNECT")
  /// `DELETE`.
  public static let delete = HTTPMethod(rawValue: "DELETE")
  /// `GET`.
  public static let get = HTTPMethod(rawValue: "GET")
  /// `HEAD`.
  public static let head = HTTPMethod(rawValue: "HEAD")
  /// `OPTIONS`.
  public static let options = HTTPMethod(rawValue: "OPTIONS")
  /// `PATCH`.
  public static let patch = HTTPMethod(rawValue: "PATCH")
  /// `POST`.
  public static let post = HTTPMethod(rawValue: "POST")
  /// `PUT`.
  public static let put = HTTPMethod(rawValue: "PUT")
  /// `QUERY`: safe like GET, but with a body like POST.
  public static let query = HTTPMethod(rawValue: "QUERY")
  /// `TRACE`.
  public static let trace = HTTPMethod(rawValue: "TRACE")

  /// The method's name, as sent in the request line.
  public let rawValue: String

  /// Creates a method with any name.
  ///
  /// - Parameter rawValue: A token (RFC 9110 §5.6.2), sent unchanged.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}
