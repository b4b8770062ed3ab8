// RequestOptions: settings that few requests have, stored separately so that other requests don't pay for them.

/// The settings of a URLRequest that most requests don't set. A setting that was never set is nil.
struct RequestOptions: Hashable, Sendable {
  var allowsCellularAccess: Bool?
  var allowsExpensiveNetworkAccess: Bool?
  var allowsConstrainedNetworkAccess: Bool?
  var networkServiceType: URLRequest.NetworkServiceType?
  var usesPipelining: Bool?
  var own = RequestSettings()

  /// The storage of a request's options. Only a request for which an option has been set allocates memory for its options.
  enum Place: Hashable, Sendable {
    case none
    indirect case own(RequestOptions)

    var options: RequestOptions? { if case .own(let options) = self { options } else { nil } }
  }
}
