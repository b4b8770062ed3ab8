// RequestOptions: settings that few requests have, stored separately so that other requests don't pay for them.

/// The settings of a request that most requests don't set. A setting that was never set is nil.
struct RequestOptions: Hashable, Sendable {
  var allowsCellularAccess: Bool?
  var allowsExpensiveNetworkAccess: Bool?
  var allowsConstrainedNetworkAccess: Bool?
  var networkServiceType: URLRequest.NetworkServiceType?
  var usesPipelining: Bool?
  var own = RequestSettings()

  /// The place of a request's options: none if no option was set, or else separate memory to which the request has a reference.
  enum Place: Hashable, Sendable {
    case none
    indirect case own(RequestOptions)

    var options: RequestOptions? { if case .own(let options) = self { options } else { nil } }
  }
}
