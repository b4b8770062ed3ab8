// The engine and the requests that the command line asks for; the same for all generators that use the engine itself.

public import LoadMeasure
public import LupineEngine

extension Load {
  /// An engine that keeps as many connections as there are requests at once, for each origin.
  public func makeEngine() throws -> Engine {
    if download != nil { Load.fail("the engine's generators write no files") }
    var configuration = EngineConfiguration()
    configuration.pool.keep(connectionsPerOrigin: inFlight, origins: origins)
    if let authorities { configuration.tls.trustRoots = [.file(authorities)] }
    return try Engine(configuration: configuration)
  }

  /// The requests, which are sent in turns.
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
  /// Raises the limits so that no connection of the load is refused or closed.
  public mutating func keep(connectionsPerOrigin: Int, origins: Int) {
    connectionsPerOriginMax = connectionsPerOrigin
    idlePerOriginMax = connectionsPerOrigin
    // No more are ever opened at once than there are requests; with several origins, each keeps at least one.
    connectionsMax = max(connectionsMax, connectionsPerOrigin * origins)
    idleMax = max(idleMax, connectionsPerOrigin * origins)
    originsRememberedMax = max(originsRememberedMax, origins)
  }
}
