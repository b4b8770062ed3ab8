// ClientSettingsTests: what each key of a configuration sets, and which values are refused.

#if Services
  import Configuration
  import LupineEngine
  import LupineServices
  import Synchronization
  import Testing

  @Suite("Settings from a configuration")
  struct ClientSettingsTests {
    private typealias Values = [AbsoluteConfigKey: ConfigValue]

    private static func settings(_ values: Values) throws -> ClientSettings {
      try ClientSettings(configReader: ConfigReader(provider: InMemoryProvider(values: values)))
    }

    private static func error(_ values: Values) -> SettingError? {
      do {
        _ = try settings(values)
        return nil
      } catch {
        return error as? SettingError
      }
    }

    private static func proxy(_ values: Values) throws -> Proxy? {
      let base: Values = ["proxy.enabled": true, "proxy.host": "p.test", "proxy.port": 3128]
      let settings = try settings(base.merging(values) { $1 })
      guard case .fixed(let proxy, _) = settings.engine.proxy else { return nil }
      return proxy
    }

    @Test("without values, the settings are the defaults, or those that the caller passes")
    func defaults() throws {
      let settings = try Self.settings([:])
      #expect(settings.timeouts == Timeouts() && settings.redirects == RedirectRule())
      #expect(settings.engine.pool == PoolLimits() && settings.engine.proxy == .environment)
      #expect(settings.engine.resolver.overrides.isEmpty)
      var own = ClientSettings()
      own.timeouts.total = .seconds(9)
      own.redirects = nil
      own.engine.pool.idleMax = 5
      let reader = ConfigReader(provider: InMemoryProvider(values: ["timeout.writeMs": 7]))
      let changed = try ClientSettings(configReader: reader, defaults: own)
      #expect(changed.timeouts.total == .seconds(9) && changed.timeouts.send == .milliseconds(7))
      #expect(changed.redirects == nil && changed.engine.pool.idleMax == 5)
    }

    // MARK: Each key

    @Test("timeout.connectionMs limits each phase until a connection is ready, and no other")
    func connectionMs() throws {
      let (limits, defaults) = (try Self.settings(["timeout.connectionMs": 1_234]).timeouts, Timeouts())
      for limit in [limits.poolWait, limits.resolve, limits.connect, limits.proxy, limits.tls] {
        #expect(limit == .milliseconds(1_234))
      }
      #expect(limits.firstByte == defaults.firstByte && limits.idle == defaults.idle && limits.send == defaults.send)
    }

    @Test("timeout.readMs limits the wait for the first byte and the pauses of the response")
    func readMs() throws {
      let (limits, defaults) = (try Self.settings(["timeout.readMs": 1_234]).timeouts, Timeouts())
      #expect(limits.firstByte == .milliseconds(1_234) && limits.idle == .milliseconds(1_234))
      #expect(limits.connect == defaults.connect && limits.send == defaults.send && limits.total == nil)
    }

    @Test("timeout.writeMs limits the pauses of the request")
    func writeMs() throws {
      let limits = try Self.settings(["timeout.writeMs": 1_234]).timeouts
      #expect(limits.send == .milliseconds(1_234) && limits.firstByte == Timeouts().firstByte)
    }

    @Test("connectionPool.idleTimeoutMs sets the pool's idle time")
    func idleTimeoutMs() throws {
      #expect(try Self.settings(["connectionPool.idleTimeoutMs": 500]).engine.pool.idleTimeout == .milliseconds(500))
    }

    @Test("connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit limits the connections, all of which may be idle")
    func connections() throws {
      let key: AbsoluteConfigKey = "connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit"
      let few = try Self.settings([key: 3]).engine.pool
      #expect(few.connectionsPerOriginMax == 3 && few.idlePerOriginMax == 64)
      let many = try Self.settings([key: 100]).engine.pool
      #expect(many.connectionsPerOriginMax == 100 && many.idlePerOriginMax == 100)
    }

    @Test("connectionPool.preWarmedHTTP1ConnectionCount keeps connections ready, no more than may be open")
    func prewarmed() throws {
      let (key, limit): (AbsoluteConfigKey, AbsoluteConfigKey) = (
        "connectionPool.preWarmedHTTP1ConnectionCount", "connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit"
      )
      #expect(try Self.settings([key: 8, limit: 8]).engine.pool.readyPerOriginMin == 8)
      #expect(Self.error([key: 9, limit: 8])?.permitted == "an integer from 0 to 8")
    }

    @Test("connectionPool.retryConnectionEstablishment may only be false")
    func retry() throws {
      let key: AbsoluteConfigKey = "connectionPool.retryConnectionEstablishment"
      _ = try Self.settings([key: false])
      let error = Self.error([key: true])
      #expect(error?.key == "connectionPool.retryConnectionEstablishment" && error?.found == .value("true"))
      #expect(error?.permitted.hasPrefix("false, because") == true)
    }

    @Test("redirect.mode follows redirects or not")
    func mode() throws {
      #expect(try Self.settings(["redirect.mode": "follow"]).redirects == RedirectRule())
      #expect(try Self.settings(["redirect.mode": "disallow", "redirect.maxRedirects": 3]).redirects == nil)
      #expect(Self.error(["redirect.mode": "Follow"])?.permitted == "\"follow\" or \"disallow\"")
      #expect(Self.error(["redirect.mode": "disallow", "redirect.maxRedirects": -1])?.key == "redirect.maxRedirects")
    }

    @Test(
      "redirect.maxRedirects, allowCycles and retainHTTPMethodAndBodyOn301 and 302 set the redirect rule, also without a mode"
    )
    func redirects() throws {
      #expect(try Self.settings(["redirect.maxRedirects": 3]).redirects?.countMax == 3)
      for isSet in [false, true] {
        #expect(
          try Self.settings(["redirect.allowCycles": .init(.bool(isSet), isSecret: false)]).redirects?.allowsCycles
            == isSet)
      }
      let kept301 = try Self.settings(["redirect.retainHTTPMethodAndBodyOn301": true]).redirects
      #expect(kept301?.keepsPostAfter301 == true && kept301?.keepsPostAfter302 == false)
      let kept302 = try Self.settings(["redirect.retainHTTPMethodAndBodyOn302": true]).redirects
      #expect(kept302?.keepsPostAfter301 == false && kept302?.keepsPostAfter302 == true)
    }

    @Test("proxy.enabled: false uses no proxy, and no value leaves the proxy to the environment")
    func enabled() throws {
      #expect(try Self.settings(["proxy.enabled": false, "proxy.host": "p"]).engine.proxy == .none)
      #expect(try Self.settings(["proxy.host": "p", "proxy.port": 1]).engine.proxy == .environment)
    }

    @Test(
      "proxy.host, proxy.port and proxy.type select the proxy; socks means SOCKS 5 with names looked up by the proxy")
    func proxies() throws {
      let http = try Self.proxy([:])
      #expect(http?.description == "http://p.test:3128" && http?.user == nil && http?.authorization == nil)
      #expect(try Self.proxy(["proxy.type": "socks"])?.description == "socks5h://p.test:3128")
      let enabled: Values = ["proxy.enabled": true, "proxy.host": "p.test"]
      guard
        case .fixed(let socks, _) = try Self.settings(enabled.merging(["proxy.type": "socks"]) { $1 }).engine.proxy
      else {
        Issue.record("there is no proxy")
        return
      }
      #expect(socks.port == 1080)
      #expect(Self.error(enabled)?.key == "proxy.port" && Self.error(enabled)?.found == .nothing)
      #expect(Self.error(["proxy.enabled": true, "proxy.port": 1])?.key == "proxy.host")
      #expect(throws: SettingError.self) { try Self.proxy(["proxy.port": 65_536]) }
      #expect(throws: SettingError.self) { try Self.proxy(["proxy.host": "a b"]) }
      #expect(throws: SettingError.self) { try Self.proxy(["proxy.type": "ftp"]) }
    }

    @Test("proxy.authorization sends a login, encoded credentials or a token")
    func authorization() throws {
      let basic = try Self.proxy([
        "proxy.authorization.scheme": "basic", "proxy.authorization.username": "u", "proxy.authorization.password": "p",
      ])
      #expect(basic?.user == "u" && basic?.password == "p" && basic?.authorization == nil)
      let encoded = try Self.proxy([
        "proxy.authorization.scheme": "basic", "proxy.authorization.credentials": "dTpw",
      ])
      #expect(encoded?.authorization == "Basic dTpw" && encoded?.user == nil)
      let bearer = try Self.proxy(["proxy.authorization.scheme": "bearer", "proxy.authorization.token": "t0ken"])
      #expect(bearer?.authorization == "Bearer t0ken")
      let socks = try Self.proxy([
        "proxy.type": "socks", "proxy.authorization.scheme": "basic", "proxy.authorization.username": "u",
        "proxy.authorization.password": "p",
      ])
      #expect(socks?.user == "u")
    }

    @Test(
      "credentials that are missing or that the proxy can't get are refused, and the errors don't contain them",
      arguments: [
        (["scheme": "basic"], "credentials"), (["scheme": "bearer"], "token"), (["scheme": "digest"], "scheme"),
        (["scheme": "basic", "username": "a:b", "password": "s3cret"], "username"),
        (["scheme": "bearer", "token": "s3cret\r\nEvil: 1"], "token"), (["scheme": "bearer", "token": ""], "token"),
      ])
    func refusedAuthorization(values: [String: String], key: String) {
      var all: Values = [:]
      for (key, value) in values {
        all[AbsoluteConfigKey(["proxy", "authorization", key])] = .init(.string(value), isSecret: true)
      }
      let error = #expect(throws: SettingError.self) { try Self.proxy(all) }
      #expect(error?.key == "proxy.authorization.\(key)")
      #expect(error.map { !"\($0)".contains("s3cret") } == true)
    }

    @Test("proxy.connectHeaders are the fields for CONNECT, and HTTP proxies only get them")
    func connectHeaders() throws {
      let entries = ConfigValue(.stringArray(["X-Tenant: a:b ", "X-Empty:"]), isSecret: false)
      #expect(try Self.proxy(["proxy.connectHeaders": entries])?.connectFields == ["X-Tenant": "a:b", "X-Empty": ""])
      for entry in ["no colon s3cret", "bad name: s3cret", ": s3cret", "X: s3cret\r\nY: 1"] {
        let value = ConfigValue(.stringArray([entry]), isSecret: false)
        let error = #expect(throws: SettingError.self) { try Self.proxy(["proxy.connectHeaders": value]) }
        #expect(error?.found == .secret && "\(error.map { "\($0)" } ?? "")".contains("s3cret") == false)
      }
      #expect(throws: SettingError.self) {
        try Self.proxy(["proxy.connectHeaders": entries, "proxy.type": "socks"])
      }
    }

    @Test("dnsOverrides are numeric addresses of hosts, also several of one host")
    func overrides() throws {
      let entries = ConfigValue(.stringArray(["a.test:127.0.0.1", "b.test: ::1", "a.test:127.0.0.2"]), isSecret: false)
      let overrides = try Self.settings(["dnsOverrides": entries]).engine.resolver.overrides
      #expect(overrides.map(\.host) == ["a.test", "b.test"])
      #expect(overrides.map { $0.addresses.map(\.description) } == [["127.0.0.1:0", "127.0.0.2:0"], ["[::1]:0"]])
      for entry in ["a.test", ":127.0.0.1", "a.test:", "a.test:b.test"] {
        #expect(
          Self.error(["dnsOverrides": ConfigValue(.stringArray([entry]), isSecret: false)])?.found == .value(entry))
      }
    }

    @Test("maximumUsesPerConnection limits the requests of a connection, and httpVersion selects HTTP/1.1 only")
    func others() throws {
      #expect(try Self.settings(["maximumUsesPerConnection": 7]).engine.pool.usesPerConnectionMax == 7)
      #expect(Self.error(["maximumUsesPerConnection": 0])?.permitted == "an integer of at least 1")
      for version in ["automatic", "http1Only"] {
        _ = try Self.settings(["httpVersion": .init(.string(version), isSecret: false)])
      }
      #expect(Self.error(["httpVersion": "http2"])?.found == .value("http2"))
    }

    // MARK: All keys

    // In the environment, all values are strings.
    @Test(
      "a value of another type is refused instead of ignored, with its key, the value and what is permitted",
      arguments: [
        ("timeout.connectionMs", "TIMEOUT_CONNECTION_MS", "abc", "an integer from 1 to 604800000 (milliseconds)"),
        ("timeout.readMs", "TIMEOUT_READ_MS", "0", "an integer from 1 to 604800000 (milliseconds)"),
        ("timeout.writeMs", "TIMEOUT_WRITE_MS", "1.5", "an integer from 1 to 604800000 (milliseconds)"),
        (
          "connectionPool.idleTimeoutMs", "CONNECTION_POOL_IDLE_TIMEOUT_MS", "604800001",
          "an integer from 1 to 604800000 (milliseconds)"
        ),
        (
          "connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit",
          "CONNECTION_POOL_CONCURRENT_HTTP1CONNECTIONS_PER_HOST_SOFT_LIMIT", "0", "an integer of at least 1"
        ),
        (
          "connectionPool.preWarmedHTTP1ConnectionCount", "CONNECTION_POOL_PRE_WARMED_HTTP1CONNECTION_COUNT", "65",
          "an integer from 0 to 64"
        ),
        (
          "connectionPool.retryConnectionEstablishment", "CONNECTION_POOL_RETRY_CONNECTION_ESTABLISHMENT", "maybe",
          "true or false"
        ),
        ("redirect.mode", "REDIRECT_MODE", "never", "\"follow\" or \"disallow\""),
        ("redirect.maxRedirects", "REDIRECT_MAX_REDIRECTS", "1001", "an integer from 0 to 1000"),
        ("redirect.allowCycles", "REDIRECT_ALLOW_CYCLES", "2", "true or false"),
        (
          "redirect.retainHTTPMethodAndBodyOn301", "REDIRECT_RETAIN_HTTPMETHOD_AND_BODY_ON301", "x", "true or false"
        ),
        (
          "redirect.retainHTTPMethodAndBodyOn302", "REDIRECT_RETAIN_HTTPMETHOD_AND_BODY_ON302", "x", "true or false"
        ), ("proxy.enabled", "PROXY_ENABLED", "x", "true or false"),
        ("maximumUsesPerConnection", "MAXIMUM_USES_PER_CONNECTION", "many", "an integer of at least 1"),
        ("httpVersion", "HTTP_VERSION", "2", "\"automatic\" or \"http1Only\""),
      ])
    func anotherType(key: String, variable: String, value: String, permitted: String) throws {
      let reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: [variable: value]))
      do throws(SettingError) {
        _ = try ClientSettings(configReader: reader)
        Issue.record("the value was accepted")
      } catch {
        #expect(error.key == key && error.found == .value(value) && error.permitted == permitted)
        #expect(error.description == "the configuration's \(key) is \"\(value)\". Set it to \(permitted).")
      }
    }

    @Test("a value of another type in a typed configuration is refused too")
    func typed() {
      for value in [true, 1.5, "5000"] as [ConfigValue] {
        #expect(Self.error(["timeout.readMs": value])?.key == "timeout.readMs")
      }
      #expect(Self.error(["redirect.mode": 1])?.found == .value("1"))
      #expect(Self.error(["redirect.allowCycles": "true "])?.found == .value("true "))
      #expect(Self.error(["dnsOverrides": "a:127.0.0.1"])?.permitted == "an array of strings")
      #expect(Self.error(["proxy.enabled": true, "proxy.host": "p", "proxy.port": "1"])?.key == "proxy.port")
    }

    private final class Recorder: AccessReporter {
      let events = Mutex<[AccessEvent]>([])
      func report(_ event: AccessEvent) { events.withLock { $0.append(event) } }
    }

    @Test("the proxy's password, credentials, token and fields are secrets for access reporters, and nothing else is")
    func secrets() throws {
      let fields = ConfigValue(.stringArray(["X-Key: s3cret"]), isSecret: false)
      let variants: [Values] = [
        [
          "proxy.authorization.scheme": "basic", "proxy.authorization.username": "u",
          "proxy.authorization.password": "s",
        ],
        [
          "proxy.authorization.scheme": "basic", "proxy.authorization.credentials": "s", "proxy.connectHeaders": fields,
        ],
        ["proxy.authorization.scheme": "bearer", "proxy.authorization.token": "s"],
      ]
      var secrets: Set<String> = []
      for values in variants {
        let recorder = Recorder()
        let base: Values = ["proxy.enabled": true, "proxy.host": "p.test", "proxy.port": 3128, "timeout.readMs": 5]
        _ = try ClientSettings(
          configReader: ConfigReader(
            provider: InMemoryProvider(values: base.merging(values) { $1 }), accessReporter: recorder))
        for event in recorder.events.withLock({ $0 }) {
          guard case .success(let value?) = event.result, value.isSecret else { continue }
          secrets.insert(event.metadata.key.description)
        }
      }
      #expect(
        secrets == [
          "proxy.authorization.password", "proxy.authorization.credentials", "proxy.authorization.token",
          "proxy.connectHeaders",
        ])
    }
  }
#endif
