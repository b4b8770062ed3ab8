// Creates the engine and the requests that the command line specifies, for all generators that use the engine directly.

public import LoadMeasure
public import LupineEngine

extension Load {
  /// Returns an engine whose pool allows one connection per origin for each concurrent request, and keeps them all open.
  public func makeEngine() throws -> Engine {
    if download != nil { Load.fail("the engine's generators write no files") }
    var configuration = EngineConfiguration()
    configuration.pool.keep(connectionsPerOrigin: inFlight, origins: origins)
    configuration.busyPoll = .microseconds(busyPollMicroseconds)
    if let authorities { configuration.tls.trustRoots = [.file(authorities)] }
    return try Engine(configuration: configuration)
  }

  /// Returns the requests to send in turn, one per origin.
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
  /// Raises the limits, so that the pool neither refuses nor closes a connection of the benchmark.
  public mutating func keep(connectionsPerOrigin: Int, origins: Int) {
    connectionsPerOriginMax = connectionsPerOrigin
    idlePerOriginMax = connectionsPerOrigin
    // The number of busy connections is at most that of concurrent requests, but each origin may have idle ones in addition.
    connectionsMax = max(connectionsMax, connectionsPerOrigin * origins)
    idleMax = max(idleMax, connectionsPerOrigin * origins)
    originsRememberedMax = max(originsRememberedMax, origins)
  }
}
