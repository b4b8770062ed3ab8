// ClientSettings: the settings of an engine and its requests, which can be read from a configuration. The keys and their meaning
// are those of AsyncHTTPClient 1.37 where Lupine has the same setting.

#if Services
  public import Configuration
  public import LupineEngine

  /// The settings of an engine and of its requests.
  ///
  ///     let settings = try ClientSettings(configReader: config.scoped(to: "client"))
  ///     let engine = try Engine(configuration: settings.engine)
  ///     var request = EngineRequest(uri: uri)
  ///     request.timeouts = settings.timeouts
  ///     let response = try await engine.collect(request, redirects: settings.redirects)
  ///
  /// The article Services lists the keys.
  public struct ClientSettings: Sendable {
    /// The maximum time limit in milliseconds: 7 days, Foundation's default limit for a whole task.
    static let millisecondsMax = 604_800_000
    /// The maximum of `redirect.maxRedirects`: 1,000. Browsers follow 20 redirects.
    static let redirectsMax = 1_000

    /// The engine's settings.
    public var engine = EngineConfiguration()
    /// The time limits for requests.
    public var timeouts = Timeouts()
    /// The rule by which redirects are followed, or nil if none are followed.
    public var redirects: RedirectRule? = RedirectRule()

    /// Creates settings with Lupine's defaults.
    public init() {}

    /// Reads settings from a configuration. Keys without a value leave `defaults` unchanged.
    ///
    /// - Throws: A `SettingError` for a value of another type, or one that isn't permitted.
    public init(
      configReader reader: ConfigReader, defaults: ClientSettings = ClientSettings()
    ) throws(SettingError) {
      self = defaults
      try readTimeouts(SettingReader(reader, "timeout"))
      try readPool(SettingReader(reader, "connectionPool"))
      try readRedirects(SettingReader(reader, "redirect"))
      try readProxy(SettingReader(reader, "proxy"), SettingReader(reader, "proxy.authorization"))
      let root = SettingReader(reader, "")
      try readAddresses(root)
      if let count = try root.integer("maximumUsesPerConnection", 1 ... .max) {
        engine.pool.usesPerConnectionMax = count
      }
      // With either value, Lupine uses HTTP/1.1.
      _ = try root.choice("httpVersion", ["automatic", "http1Only"])
    }

    private mutating func readTimeouts(_ settings: SettingReader) throws(SettingError) {
      if let limit = try settings.duration("connectionMs") {
        (timeouts.poolWait, timeouts.resolve, timeouts.connect) = (limit, limit, limit)
        (timeouts.proxy, timeouts.tls) = (limit, limit)
      }
      if let limit = try settings.duration("readMs") { (timeouts.firstByte, timeouts.idle) = (limit, limit) }
      if let limit = try settings.duration("writeMs") { timeouts.send = limit }
    }

    private mutating func readPool(_ settings: SettingReader) throws(SettingError) {
      if let limit = try settings.duration("idleTimeoutMs") { engine.pool.idleTimeout = limit }
      if let count = try settings.integer("concurrentHTTP1ConnectionsPerHostSoftLimit", 1 ... .max) {
        engine.pool.connectionsPerOriginMax = count
        // AsyncHTTPClient keeps all of these connections.
        engine.pool.idlePerOriginMax = max(count, engine.pool.idlePerOriginMax)
      }
      if let count = try settings.integer("preWarmedHTTP1ConnectionCount", 0...engine.pool.connectionsPerOriginMax) {
        engine.pool.readyPerOriginMin = count
      }
      if try settings.bool("retryConnectionEstablishment") == true {
        throw settings.refusal(
          "retryConnectionEstablishment", .value("true"),
          "false, because Lupine tries each address of a host once, and retry a failed request as a whole")
      }
    }

    private mutating func readRedirects(_ settings: SettingReader) throws(SettingError) {
      switch try settings.choice("mode", ["follow", "disallow"]) {
      case "disallow": redirects = nil
      case "follow": redirects = redirects ?? RedirectRule()
      default: break
      }
      // The other keys are read in any case, so that their errors don't depend on the mode.
      var rule = redirects ?? RedirectRule()
      if let count = try settings.integer("maxRedirects", 0...Self.redirectsMax) { rule.countMax = count }
      if let isAllowed = try settings.bool("allowCycles") { rule.allowsCycles = isAllowed }
      if let isKept = try settings.bool("retainHTTPMethodAndBodyOn301") { rule.keepsPostAfter301 = isKept }
      if let isKept = try settings.bool("retainHTTPMethodAndBodyOn302") { rule.keepsPostAfter302 = isKept }
      if redirects != nil { redirects = rule }
    }

    private mutating func readAddresses(_ settings: SettingReader) throws(SettingError) {
      guard let entries = try settings.strings("dnsOverrides") else { return }
      var overrides: [HostOverride] = []
      for entry in entries {
        let parts = entry.split(separator: ":", maxSplits: 1).map { $0.filter { !$0.isWhitespace } }
        guard parts.count == 2, !parts[0].isEmpty, let address = SocketAddress(numeric: parts[1], port: 0) else {
          throw settings.refusal(
            "dnsOverrides", .value(entry), "\"host:address\" with a numeric address, such as \"example.org:127.0.0.1\"")
        }
        if let index = overrides.firstIndex(where: { $0.host == parts[0] }) {
          overrides[index].addresses.append(address)
        } else {
          overrides.append(HostOverride(host: parts[0], addresses: [address]))
        }
      }
      engine.resolver.overrides = overrides + engine.resolver.overrides
    }
  }
#endif
