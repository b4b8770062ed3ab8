// RequestOptions: settings that few requests have, stored separately so that other requests don't pay for them.

/// The settings that few requests set. A setting is nil if it was never set.
struct RequestOptions: Hashable, Sendable {
  var allowsCellularAccess: Bool?
  var allowsExpensiveNetworkAccess: Bool?
  var allowsConstrainedNetworkAccess: Bool?
  var networkServiceType: URLRequest.NetworkServiceType?
  var usesPipelining: Bool?
  var own = RequestSettings()

  /// Options in a separate allocation, or none.
  enum Place: Hashable, Sendable {
    case none
    indirect case own(RequestOptions)

    var options: RequestOptions? { if case .own(let options) = self { options } else { nil } }
  }
}
