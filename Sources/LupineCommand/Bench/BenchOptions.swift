// BenchOptions: the options of `lupine bench`. All other options are those of a single request.

#if Bench
  import LupineBench
  import LupineEngine

  /// The settings of a run of `lupine bench URL` or `lupine bench search URL`.
  struct BenchOptions {
    /// The range of rates in requests per second: to a million, which is more than one machine sends.
    static let rates = 0.001...1_000_000
    static let inFlights = 1...100_000
    static let loopCounts = 1...64

    enum Name: String, CaseIterable {
      case rate, duration, stages, poisson
      case inFlight = "in-flight"
      case inFlightMax = "in-flight-max"
      case warmUp = "warm-up"
      case requests, loops, connections, fresh, from, feed, har
      case sse, lines, webSocket = "ws", message, every, hold
      case watch = "watch-pid"
      case json, csv, hgrm, hlog, prometheus, otlp, junit, html
      case failIf = "fail-if"
      case upTo = "up-to"
      case locust = "locust-master"
      case quiet

      var form: OptionName.Form {
        switch self {
        case .rate: .init(nil, "NUMBER", "requests per second, whether or not responses arrive; 100 by default")
        case .duration: .init(nil, "TIME", "the length of the test, such as 500ms, 10s or 5m; 10s by default")
        case .stages: .init(nil, "TIME:RATE,...", "changes the rate linearly to each RATE within its TIME")
        case .poisson: .init(nil, "SEED", "random distances between requests, as of independent users")
        case .inFlight: .init(nil, "NUMBER", "a closed loop with this many requests in flight, instead of a rate")
        case .inFlightMax: .init(nil, "NUMBER", "the number of requests in flight at which no more are sent; 10000")
        case .warmUp: .init(nil, "TIME", "a time at the start that isn't measured, within the duration")
        case .requests: .init(nil, "NUMBER", "ends the test after this number of measured requests")
        case .loops: .init(nil, "NUMBER", "the number of event loops, one core each; 1 by default")
        case .connections:
          .init(
            nil, "NUMBER", "the most connections, for which requests then wait; one per request in flight by default")
        case .fresh: .init(nil, nil, "opens a connection for each request")
        case .sse: .init(nil, nil, "opens event streams, and measures the first event and the gaps between events")
        case .lines: .init(nil, nil, "reads bodies as lines, and measures the first line and the gaps between lines")
        case .webSocket: .init(nil, nil, "opens WebSockets, sends messages, and measures the server's answers to them")
        case .message: .init(nil, "TEXT", "the message to send with --ws; lupine by default")
        case .every: .init(nil, "TIME", "the time between the messages of a connection; 1s by default")
        case .hold: .init(nil, "TIME", "closes each stream after this time, and all at the end of the duration")
        case .from:
          .init(
            nil, "FILE", "sends the requests of a file in turn, one JSON object per line with url, and",
            "optionally name, method, fields, body and weight; {{column}} is filled from --feed")
        case .feed: .init(nil, "FILE", "a CSV file whose rows fill the placeholders, in turn")
        case .har: .init(nil, "FILE", "sends the requests of an HTTP archive in turn")
        case .watch: .init(nil, "PID", "reports the processor time and memory of a local process")
        case .json: .init(nil, "FILE", "writes the report as JSON, for lupine bench compare")
        case .csv: .init(nil, "FILE", "writes a line for each second")
        case .hgrm: .init(nil, "FILE", "writes HdrHistogram's percentile distribution, in milliseconds")
        case .hlog: .init(nil, "FILE", "writes HdrHistogram's log, one histogram for each second")
        case .prometheus: .init(nil, "FILE", "writes Prometheus's text format")
        case .otlp:
          .init(nil, "FILE", "writes OpenTelemetry metrics as OTLP/JSON, for the path /v1/metrics of a collector")
        case .junit: .init(nil, "FILE", "writes the conditions of --fail-if as test cases")
        case .html: .init(nil, "FILE", "writes a page with diagrams")
        case .failIf:
          .init(
            nil, "CONDITION", "fails if, for example, 'p99>50ms', 'errors>0.1%', 'rate<900'; for streams also",
            "'gap-p99>200ms', 'echo-p99>20ms', 'cut>0', 'events<5000'; repeatable")
        case .upTo: .init(nil, "NUMBER", "the highest rate of lupine bench search; 100000 by default")
        case .locust:
          .init(
            nil, "HOST:PORT", "works for a Locust master: each of its users is --rate requests per second, 1 by",
            "default")
        case .quiet: .init(nil, nil, "shows no progress")
        }
      }
    }

    var rate: Double?
    var duration = Duration.seconds(10)
    var stages: [RateStage] = []
    var spacing = Spacing.even
    var inFlight: Int?
    var inFlightMax = LoadPlan.inFlightMaxDefault
    var warmUp = Duration.zero
    var requestsMax: Int?
    var loopCount = 1
    /// The limit on connections, or nil for one connection for each request in flight.
    var connectionsMax: Int?
    var opensConnections = false
    /// The streams to open, or nil for requests.
    var streams: StreamKind?
    var message: String?
    var messageInterval: Duration?
    var hold: Duration?
    var requestsPath: String?
    var feedPath: String?
    var archivePath: String?
    var watchedProcess: Int32?
    var paths: [Name: String] = [:]
    var objectives: [Objective] = []
    var rateMax = 100_000.0
    /// The host and the port of a Locust master, or nil for a test of this process.
    var locustMaster: (host: String, port: UInt16)?
    var isQuiet = false
    /// The options that the arguments contain.
    private var given: Set<Name> = []
    /// The arguments that aren't options of `lupine bench`: the URL and the options of its request.
    var rest: [String] = []

    /// Parses the arguments after `lupine bench`.
    init(_ arguments: [String]) throws(CommandError) {
      var queue = arguments[...]
      while let argument = queue.popFirst() {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard argument.hasPrefix("--"), let name = Name(rawValue: String(parts[0].dropFirst(2))) else {
          // Single letters would be read, such as -d of -duration.
          if argument.hasPrefix("-"), let name = Name(rawValue: String(parts[0].dropFirst())) {
            throw .benchUsage("\(parts[0]) has one dash too few; write --\(name.rawValue)")
          }
          rest.append(argument)
          continue
        }
        guard name.form.valueName != nil else {
          guard parts.count == 1 else { throw .benchUsage("\(parts[0]) takes no value") }
          try apply(name, "")
          continue
        }
        guard let value = parts.count > 1 ? parts[1] : queue.popFirst() else {
          throw .benchUsage("\(parts[0]) needs a value")
        }
        try apply(name, value)
      }
      if inFlight != nil, rate != nil || !stages.isEmpty {
        throw .benchUsage("--in-flight is a closed loop, which has no --rate and no --stages")
      }
      if rate != nil, !stages.isEmpty { throw .benchUsage("--stages contains the rates; leave out --rate") }
      try refuseOptionsWithoutEffect()
      guard warmUp < plan.duration else { throw .benchUsage("--warm-up must be shorter than the test") }
      if streams != .webSocket, message != nil || messageInterval != nil {
        throw .benchUsage("--message and --every require --ws")
      }
      if hold != nil, streams == nil { throw .benchUsage("--hold requires --sse, --lines or --ws") }
      if streams != nil, locustMaster != nil {
        throw .benchUsage("--locust-master has no figures for streams; remove --\(streams?.rawValue ?? "")")
      }
      if streams == .webSocket, opensConnections { throw .benchUsage("--ws always opens connections; remove --fresh") }
    }

    private func refuseOptionsWithoutEffect() throws(CommandError) {
      if !stages.isEmpty, given.contains(.duration) {
        throw .benchUsage("--stages contains the times; leave out --duration")
      }
      if inFlight != nil, let other = firstGiven(of: [.poisson, .inFlightMax]) {
        throw .benchUsage("--in-flight is a closed loop; remove --\(other.rawValue)")
      }
      if feedPath != nil, requestsPath == nil, archivePath == nil {
        throw .benchUsage("--feed fills the requests of a file; add --from FILE")
      }
      if locustMaster != nil, let other = firstGiven(of: Self.namesOfTest) {
        throw .benchUsage("a Locust master controls the load and reports it; remove --\(other.rawValue)")
      }
    }

    /// The options that a worker of a Locust master ignores. It writes a log.
    private static let namesOfTest: [Name] =
      [.duration, .stages, .poisson, .inFlight, .warmUp, .requests, .watch, .failIf]
      + reportNames.filter { $0 != .hlog }
    /// The options that name a file of results.
    private static let reportNames: [Name] = [.json, .csv, .hgrm, .hlog, .prometheus, .otlp, .junit, .html]

    private func firstGiven(of names: [Name]) -> Name? { names.first { given.contains($0) } }

    /// Throws an error if an option has no effect in a search, or in `lupine bench` without it.
    func check(isSearch: Bool) throws(CommandError) {
      if !isSearch, given.contains(.upTo) {
        throw .benchUsage("--up-to limits lupine bench search; write search before the options, or remove it")
      }
      if isSearch, let other = firstGiven(of: Self.reportNames + [.locust, .watch]) {
        throw .benchUsage("search finds a rate, and writes no report; remove --\(other.rawValue)")
      }
    }

    /// The content of a test's streams.
    enum StreamKind: String {
      case events = "sse"
      case lines
      case webSocket = "ws"
    }

    /// The format of the test's streams, or nil for requests.
    var streamFormat: StreamFormat? {
      switch streams {
      case .events: .events
      case .lines: .lines
      case .webSocket: .echoes(of: message ?? "lupine", every: messageInterval ?? .seconds(1))
      case nil: nil
      }
    }

    private mutating func apply(_ name: Name, _ value: String) throws(CommandError) {
      given.insert(name)
      switch name {
      case .rate: rate = try Self.rate(value, name)
      case .duration: duration = try Self.time(value, name)
      case .stages: stages = try Self.stages(value)
      case .poisson:
        guard let seed = UInt64(value) else { throw .benchUsage("--poisson takes a whole number, not \"\(value)\"") }
        spacing = .poisson(seed: seed)
      case .inFlight: inFlight = try Self.number(value, Self.inFlights, name)
      case .inFlightMax: inFlightMax = try Self.number(value, Self.inFlights, name)
      case .warmUp: warmUp = try Self.time(value, name)
      case .requests: requestsMax = try Self.number(value, 1...1_000_000_000, name)
      case .loops: loopCount = try Self.number(value, Self.loopCounts, name)
      case .connections: connectionsMax = try Self.number(value, Self.inFlights, name)
      case .fresh: opensConnections = true
      case .sse, .lines, .webSocket:
        guard streams == nil else { throw .benchUsage("only one of --sse, --lines and --ws is possible") }
        streams = StreamKind(rawValue: name.rawValue)
        // The request asks for an event stream, and the URL of a WebSocket has no body, as without bench.
        if name != .lines { rest.append("--\(name.rawValue)") }
      case .message: message = value
      case .every: messageInterval = try Self.time(value, name)
      case .hold: hold = try Self.time(value, name)
      case .from: requestsPath = value
      case .feed: feedPath = value
      case .har: archivePath = value
      case .watch: watchedProcess = Int32(try Self.number(value, 1...Int(Int32.max), name))
      case .json, .csv, .hgrm, .hlog, .prometheus, .otlp, .junit, .html: paths[name] = value
      case .failIf:
        guard let objective = Objective(value) else {
          throw .benchUsage("--fail-if takes a condition such as 'p99>50ms' or 'errors>0.1%', not \"\(value)\"")
        }
        objectives.append(objective)
      case .upTo: rateMax = try Self.rate(value, name)
      case .locust: locustMaster = try Self.address(value)
      case .quiet: isQuiet = true
      }
    }

    /// The load that the options describe.
    var plan: LoadPlan {
      let stages = stages.isEmpty ? [RateStage(duration: duration, rate: rate ?? 100)] : stages
      var plan = LoadPlan(inFlight.map { .closed(inFlight: $0, duration) } ?? .open(stages, spacing))
      (plan.warmUp, plan.requestsMax, plan.inFlightMax) = (warmUp, requestsMax, inFlightMax)
      return plan
    }

    // MARK: Values

    private static func number(_ text: String, _ range: ClosedRange<Int>, _ name: Name) throws(CommandError) -> Int {
      guard let number = Int(text), range.contains(number) else {
        throw .benchUsage("--\(name.rawValue) takes \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
      }
      return number
    }

    /// Parses HOST or HOST:PORT. The port is 5557 by default, as in Locust.
    private static func address(_ text: String) throws(CommandError) -> (host: String, port: UInt16) {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
      guard let port = parts.count == 2 ? UInt16(parts[1]) : 5557, parts.count <= 2, !parts[0].isEmpty, port > 0 else {
        throw .benchUsage("--locust-master takes HOST:PORT, not \"\(text)\"")
      }
      return (parts[0], port)
    }

    private static func rate(_ text: String, _ name: Name) throws(CommandError) -> Double {
      guard let number = Double(text), rates.contains(number) else {
        throw .benchUsage("--\(name.rawValue) takes a rate up to 1000000 requests per second, not \"\(text)\"")
      }
      return number
    }

    /// Parses a time such as `500ms`, `10s`, `5m` or `1h`. A number without a unit is in seconds.
    private static func time(_ text: String, _ name: Name) throws(CommandError) -> Duration {
      let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      let factors = ["ms": 0.001, "s": 1, "": 1, "m": 60, "h": 3_600]
      guard let number = Double(digits), let factor = factors[String(text.dropFirst(digits.count))],
        (0.001...1_000_000).contains(number * factor)
      else { throw .benchUsage("--\(name.rawValue) takes a time such as 500ms, 10s, 5m or 1h, not \"\(text)\"") }
      return .seconds(number * factor)
    }

    private static func stages(_ text: String) throws(CommandError) -> [RateStage] {
      var stages: [RateStage] = []
      for stage in text.split(separator: ",") {
        let parts = stage.split(separator: ":").map(String.init)
        // A stage may end at 0: the load then fades out.
        guard parts.count == 2, let rate = Double(parts[1]), rate == 0 || rates.contains(rate) else {
          throw .benchUsage("--stages takes TIME:RATE, separated by commas, not \"\(stage)\"")
        }
        stages.append(RateStage(duration: try time(parts[0], .stages), rate: rate))
      }
      guard !stages.isEmpty else { throw .benchUsage("--stages needs a stage") }
      return stages
    }
  }

  extension CommandError {
    static func benchUsage(_ what: String) -> CommandError {
      CommandError(.usage, "\(what): see lupine bench --help")
    }
  }
#endif
