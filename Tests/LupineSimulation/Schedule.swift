// Schedule: the complete input of one simulated run, drawn from a single seed.

@testable import LupineEngine
@testable import LupineReactor
@testable import LupineWire

/// The input of one simulated run: the engine's settings, the origins, the requests, and the probability of each fault.
struct Schedule {
  let seed: UInt64
  let configuration: EngineConfiguration
  let proxy: Proxy?
  let faults: Faults
  let origins: [SimulatedOrigin]
  let requests: [PlannedRequest]
  /// The time at which the engine is shut down, measured from the start, even if requests are in flight. Nil if it isn't shut down.
  let shutDownTime: Duration?
  /// The random generator from which the simulated world takes its decisions.
  let random: Decisions

  static let proxyHost = "proxy.test"
  static let proxyUser = "user"
  static let proxyPassword = "secret"

  init(seed: UInt64, tape: DecisionTape? = nil) {
    var random = Decisions(seed: seed, tape: tape)
    self.seed = seed
    let isBenign = random.chance(15)
    faults = isBenign ? Faults() : Faults(&random)
    let origins = (0..<random.number(1...4)).map { SimulatedOrigin($0, &random) }
    let proxy = Self.proxy(&random)
    configuration = Self.configuration(proxy, &random)
    requests = (0..<random.number(1...random.pick([4, 12, 30]))).map {
      PlannedRequest(number: $0, originCount: origins.count, isBenign: isBenign, &random)
    }
    self.origins = origins
    self.proxy = proxy
    shutDownTime = !isBenign && random.chance(10) ? random.duration(3_000) : nil
    self.random = random.fork()
  }

  /// Whether the schedule has no faults. Every request of such a schedule must succeed.
  var isBenign: Bool { faults == Faults() }

  private static func proxy(_ random: inout Decisions) -> Proxy? {
    guard random.chance(40) else { return nil }
    let scheme = random.pick([Proxy.Scheme.http, .http, .socks5, .socks5h])
    let hasCredentials = random.chance(50)
    do {
      return try Proxy(
        scheme, host: proxyHost, port: 1080, user: hasCredentials ? proxyUser : nil,
        password: hasCredentials ? proxyPassword : "")
    } catch {
      preconditionFailure("\(error)")
    }
  }

  private static func configuration(_ proxy: Proxy?, _ random: inout Decisions) -> EngineConfiguration {
    var configuration = EngineConfiguration()
    configuration.pool.connectionsPerOriginMax = random.number(1...3)
    configuration.pool.idlePerOriginMax = random.number(0...3)
    configuration.pool.idleTimeout = random.pick([.milliseconds(5), .milliseconds(300), .seconds(60)])
    configuration.drainedBytesMax = random.pick([0, 40, 1_000, 65_536])
    configuration.proxy = .none
    if let proxy {
      // Sometimes one of the origins bypasses the proxy.
      configuration.proxy = .fixed(proxy, bypass: random.chance(30) ? ProxyBypass(SimulatedOrigin.host(0)) : .none)
    }
    return configuration
  }
}

extension Schedule: CustomStringConvertible {
  var description: String {
    """
    Faults: \(isBenign ? "none" : "\(faults)")
    Origins: \(origins.map { "\($0.origin) at \($0.addresses.joined(separator: ", "))" }.joined(separator: "; "))
    Proxy: \(proxy?.description ?? "none"), connections for each origin: \(configuration.pool.connectionsPerOriginMax), \
    idle ones: \(configuration.pool.idlePerOriginMax) for \(configuration.pool.idleTimeout)
    """
  }
}

/// The probability of each fault in percent. All are 0 in a schedule without faults.
struct Faults: Equatable {
  // Name resolution.
  var lookUpFails = 0
  var lookUpNeverEnds = 0
  // Connecting.
  var outOfDescriptors = 0
  var cantBeWatched = 0
  var isRefused = 0
  var isUnreachable = 0
  var neverConnects = 0
  var proxyFails = 0
  // A server's connections and replies.
  var closesUnasked = 0
  var neverReads = 0
  var closesWhileIdle = 0
  var speaksWhileIdle = 0
  var isCut = 0
  var stalls = 0
  var isMalformed = 0
  var hasSurplus = 0

  init() {}

  /// Draws the probabilities at random. Only a few are above 0, so that most operations succeed.
  init(_ random: inout Decisions) {
    func draw(_ percents: [Int]) -> Int { random.chance(35) ? random.pick(percents) : 0 }
    lookUpFails = draw([5, 40])
    lookUpNeverEnds = draw([5, 20])
    outOfDescriptors = draw([5, 40])
    cantBeWatched = draw([5, 30])
    isRefused = draw([5, 40, 90])
    isUnreachable = draw([5, 40])
    neverConnects = draw([5, 30])
    proxyFails = draw([5, 40])
    closesUnasked = draw([5, 40])
    neverReads = draw([5, 20])
    closesWhileIdle = draw([10, 60])
    speaksWhileIdle = draw([5, 40])
    isCut = draw([5, 40])
    stalls = draw([5, 20])
    isMalformed = draw([5, 40])
    hasSurplus = draw([5, 40])
    // A schedule without any fault would require that every request succeeds.
    if self == Faults() { isCut = 5 }
  }
}

/// A simulated origin, and the addresses of its host.
struct SimulatedOrigin {
  let origin: Origin
  let addresses: [String]

  /// Returns the host name of the origin with this index.
  static func host(_ index: Int) -> String { "h\(index).test" }

  init(_ index: Int, _ random: inout Decisions) {
    let addresses = (0..<random.number(1...3)).map {
      random.chance(30) ? "fd00::\(index + 1):\($0 + 1)" : "10.0.\(index).\($0)"
    }
    self.addresses = addresses
    // Some origins have a numeric address as their host and need no lookup. The first one has a name, so that a bypass list can
    // contain the name.
    let isNumeric = index > 0 && random.chance(25)
    origin = Origin(scheme: .http, host: isNumeric ? addresses[0] : Self.host(index), port: 80)
  }
}
