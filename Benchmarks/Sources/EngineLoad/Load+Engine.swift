// Creates the engine and the requests that the command line specifies, for all generators that use the engine directly.

public import LoadMeasure
public import LupineEngine

extension Load {
  /// Returns an engine that keeps as many connections per origin as there are concurrent requests.
  public func makeEngine() throws -> Engine {
    if download != nil { Load.fail("the engine's generators write no files") }
    var configuration = EngineConfiguration()
    configuration.pool.keep(connectionsPerOrigin: inFlight, origins: origins)
    if let authorities { configuration.tls.trustRoots = [.file(authorities)] }
    return try Engine(configuration: configuration)
  }

  /// Returns the requests, one per origin, which the generators send in turn.
  public func makeRequests() throws -> [EngineRequest] {
    var fields = Fields()
    for (name, value) in Self.fields { fields.append(name: name, value: value) }
    return try urls.map { url in
      var request = EngineRequest(uri: try URI(url), fields: fields)
      if let upload, let uploadBytes {
        request.method = "POST"
        request.body.append(.file(path: upload, byteCount: UInt64(uploadBytes)))
      }
      return request
    }
  }
}

extension PoolLimits {
  /// Raises the limits so that the pool refuses and closes no connection of the load.
  public mutating func keep(connectionsPerOrigin: Int, origins: Int) {
    connectionsPerOriginMax = connectionsPerOrigin
    idlePerOriginMax = connectionsPerOrigin
    // No more connections are busy than there are concurrent requests, but each origin may keep idle ones.
    connectionsMax = max(connectionsMax, connectionsPerOrigin * origins)
    idleMax = max(idleMax, connectionsPerOrigin * origins)
    originsRememberedMax = max(originsRememberedMax, origins)
  }
}
