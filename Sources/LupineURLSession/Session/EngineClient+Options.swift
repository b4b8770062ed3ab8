// EngineClient+Options: converts the options of a request, and the session's network settings, to the engine's.

import LupineEngine

extension EngineClient {
  /// Sets the options of a URLRequest, and the session's network settings, in the request for the engine.
  func apply(_ options: RequestOptions, to request: inout EngineRequest) {
    request.connection = settings.network.connectionSettings(options)
    if let tls = options.own.tls { request.connection?.tls = evaluatingTrust(tls) }
    let own = options.own
    if let timeouts = own.timeouts { request.timeouts = timeouts }
    if let bodyBytesMax = own.bodyBytesMax { request.bodyBytesMax = bodyBytesMax }
    if let priority = own.priority { request.priority = priority }
    request.urlTemplate = own.urlTemplate
  }
}

extension URLSessionConfiguration.NetworkSettings {
  /// Returns whether the connection must not use a mobile network, because the session or the request doesn't permit mobile
  /// networks.
  func refusesCellular(_ options: RequestOptions?) -> Bool {
    !allowsCellularAccess || !allowsExpensiveNetworkAccess || options?.allowsCellularAccess == false
      || options?.allowsExpensiveNetworkAccess == false
  }

  /// Returns the connection settings for a request with these options. Returns nil if they don't differ from the settings of the
  /// session's engine.
  func connectionSettings(_ options: RequestOptions?) -> ConnectionSettings? {
    let serviceType = options?.networkServiceType ?? serviceType
    let refusesCellular = refusesCellular(options)
    let own = options?.own ?? RequestSettings()
    guard
      refusesCellular || serviceType != .default || own.tls != nil || own.proxy != nil || !own.hostOverrides.isEmpty
    else { return nil }
    var result = ConnectionSettings()
    result.refusesCellular = refusesCellular
    result.trafficClass = serviceType.trafficClass
    result.tls = own.tls
    result.proxy = own.proxy
    result.hostOverrides = own.hostOverrides
    return result
  }
}
