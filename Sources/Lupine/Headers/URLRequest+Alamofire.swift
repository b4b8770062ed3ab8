// URLRequest+Alamofire: the typed method of `URLRequest`, and the check before it is sent.

import LupineURLSession

extension URLRequest {
  /// The HTTP method of the request. Setting nil sets `GET`.
  public var method: HTTPMethod? {
    get { httpMethod.map(HTTPMethod.init(rawValue:)) }
    set { httpMethod = newValue?.rawValue }
  }

  /// Checks that the request can be sent: a GET request must not have a body.
  ///
  /// - Throws: ``AFError/urlRequestValidationFailed(reason:)`` if a GET request has a body.
  public func validate() throws {
    if let httpBody, method == .get {
      throw AFError.urlRequestValidationFailed(reason: .bodyDataInGETRequest(httpBody))
    }
  }
}
