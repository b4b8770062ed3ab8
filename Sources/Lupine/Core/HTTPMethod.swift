// The request methods (RFC 9110 §9, RFC 5789 for PATCH, the QUERY draft), open to any other token.

/// The method of a request, compared by its exact spelling as RFC 9110 §9.1 demands.
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
  /// `QUERY`: safe like GET, with a body like POST.
  public static let query = HTTPMethod(rawValue: "QUERY")
  /// `TRACE`.
  public static let trace = HTTPMethod(rawValue: "TRACE")

  /// The method as it stands on the request line.
  public let rawValue: String

  /// A method of any name.
  ///
  /// - Parameter rawValue: a token (RFC 9110 §5.6.2); it is sent as given.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }
}
