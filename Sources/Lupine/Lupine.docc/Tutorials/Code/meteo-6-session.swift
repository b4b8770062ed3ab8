import Lupine

extension Session {
  /// A session for the weather service.
  package static func meteo() -> Session {
    let configuration = URLSessionConfiguration.af.default
    configuration.timeoutIntervalForRequest = 5
    configuration.timeoutIntervalForResource = 15
    return Session(configuration: configuration, interceptor: .retryPolicy(retryLimit: 2))
  }
}
