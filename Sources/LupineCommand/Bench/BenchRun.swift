// BenchRun: runs `lupine bench`, and `lupine bench search`, `compare` and `merge`.

#if Bench
  import LupineBench
  import LupineEngine

  /// The subcommands of `lupine bench`.
  enum BenchRun {
    /// Runs `lupine bench` with the arguments after `bench`, and returns the exit status.
    static func run(_ arguments: [String]) async throws(CommandError) -> ExitCode {
      if arguments.contains("--help") || arguments.first == "-h" {
        try Output(path: nil).write(BenchHelp.text)
        return .success
      }
      switch arguments.first {
      case "compare": return try compare(Array(arguments.dropFirst()))
      case "merge": return try merge(Array(arguments.dropFirst()))
      case "search": return try await search(Array(arguments.dropFirst()))
      default: return try await load(arguments)
      }
    }

    // MARK: Load

    private static func load(_ arguments: [String]) async throws(CommandError) -> ExitCode {
      let options = try BenchOptions(arguments)
      try options.check(isSearch: false)
      let setup = try Setup(options)
      let log = try options.paths[.hlog].map { path throws(CommandError) in try BenchLog(path) }
      if let (host, port) = options.locustMaster {
        let worker = try await Interruption.cancelling { () async throws(CommandError) in
          try await setup.work(for: host, port, ratePerUser: options.rate ?? 1, log)
        }
        return worker.isInterrupted ? .interrupted : .success
      }
      let display = options.isQuiet ? nil : BenchDisplay()
      // Until the load begins, the first signal ends the process, as usual.
      let test = await setup.test(options.plan)
      let (report, isInterrupted) = try await Interruption.cancelling { () async throws(CommandError) in
        log?.write(LoadProgress.histogramLogHeader(after: options.plan.warmUp))
        return try await setup.run(test) { progress in
          display?.show(progress)
          log?.write(progress.histogramLogLine)
        }
      }
      display?.end()
      try Output(path: nil).write(report.text)
      for (name, path) in options.paths where name != .hlog { try write(report, as: name, to: path, options, setup) }
      let violations = options.objectives.compactMap { $0.violation(in: report) }
      for violation in violations { try Output(path: nil).write("FAILED: \(violation)\n") }
      try log?.close()
      if isInterrupted { return .interrupted }
      // The figures of an invalid test don't describe the server, so its conditions may have been met without the server's fault.
      if report.invalidity != nil { return .generatorOverloaded }
      return violations.isEmpty ? .success : .objectiveMissed
    }

    private static func write(
      _ report: LoadReport, as name: BenchOptions.Name, to path: String, _ options: BenchOptions, _ setup: Setup
    ) throws(CommandError) {
      let output = Output(path: path == "-" ? nil : path)
      switch name {
      case .json: try output.write(report.json)
      case .csv: try output.write(report.csv)
      case .hgrm: try output.write(report.percentileDistribution)
      case .prometheus: try output.write(report.prometheus)
      case .otlp: try output.write(report.otlp)
      case .junit: try output.write(report.junit(options.objectives))
      case .html: try output.write(report.html(title: "lupine bench \(setup.title)"))
      default: preconditionFailure("\(name) is no format of a report")
      }
      try output.close()
    }

    /// The engine and the scenarios of a test, as the options describe them.
    private struct Setup {
      let title: String
      private let configuration: EngineConfiguration
      private let requests: BenchRequests
      private var engine: Engine
      private var scenarios: [Scenario]
      private let watchedProcess: Int32?
      /// The request whose origin gets connections before the test, or nil for none.
      private let prewarmed: EngineRequest?
      private let connectionsMax: Int

      /// The connections opened before an open loop suffice for the requests that are due within this time: 5 ms, the delay above which
      /// a request is late. Otherwise each short pause of the generator would open connections, which takes longer than the requests.
      private static let prewarmedTime = Duration.milliseconds(5)
      /// The number of connections that a loop begins to open in one iteration: 4, which take as long as about 20 requests. A loop
      /// without other work still begins tens of thousands per second.
      private static let openingsPerIterationMax = 4

      init(_ options: BenchOptions) throws(CommandError) {
        var rest = options.rest
        try MisleadingOptions.refuse(in: rest)
        let hasURL = CommandLineTokens.read(["lupine"] + rest).contains {
          if case .operand = $0 { true } else { false }
        }
        if !hasURL {
          // A file of requests needs no URL on the command line.
          guard options.requestsPath != nil || options.archivePath != nil else { throw .benchUsage("a URL is missing") }
          rest.append("http://localhost")
        }
        if let process = options.watchedProcess, ProcessUsage(of: process, now: .now) == nil {
          throw .benchUsage("--watch-pid \(process) names no process that runs here")
        }
        guard case .transfer(let uri, let request) = try OptionParser.parse(["lupine"] + rest) else {
          throw .benchUsage("a URL is missing")
        }
        title = options.requestsPath ?? options.archivePath ?? "\(uri)"
        watchedProcess = options.watchedProcess
        connectionsMax = options.connectionsMax ?? options.inFlightMax
        if let list = request.bypass { EngineConfiguration.replaceBypassVariable(by: list) }
        var configuration = try EngineConfiguration(request)
        configuration.loopCount = options.loopCount
        configuration.loopsPerOrigin = options.loopCount
        configuration.pool.allow(options.inFlight ?? options.inFlightMax, over: options.connectionsMax)
        configuration.pool.openingsPerIterationMax = Self.openingsPerIterationMax
        self.configuration = configuration
        engine = try .started(configuration)
        let base = try EngineRequest(request, to: uri)
        requests = try BenchRequests(options, base, RunAuthentication(request, of: Upload()))
        scenarios = try requests.scenarios(on: engine)
        let isOfFile = options.requestsPath != nil || options.archivePath != nil
        prewarmed = isOfFile || options.opensConnections || options.streams != nil ? nil : base
      }

      /// Ends the requests that a test has left unfinished, and closes the connections, so that they don't affect the next test.
      mutating func renewEngine() async throws(CommandError) {
        await engine.shutdown(isGraceful: false)
        engine = try .started(configuration)
        scenarios = try requests.scenarios(on: engine)
      }

      /// Works for a Locust master until it sends `quit`.
      func work(for host: String, _ port: UInt16, ratePerUser: Double, _ log: BenchLog?) async throws(CommandError) {
        let worker: LocustWorker
        do {
          worker = try LocustWorker(masterHost: host, port: port, scenarios, ratePerUser: ratePerUser)
        } catch {
          throw .benchUsage("--locust-master \(host) is no host (\(error))")
        }
        var run = worker
        run.onEvent = { StandardError.write("locust: \($0)\n".printableLines) }
        log?.write(LoadProgress.histogramLogHeader())
        run.onSecond = { progress in log?.write(progress.histogramLogLine) }
        do throws(SystemError) {
          try await run.run()
        } catch {
          throw CommandError(
            .other, "the worker can't start (\(error)). Raise the descriptor and process limits (ulimit -n, -u).")
        }
        try log?.close()
      }

      /// Returns a test, for which connections are opened if its rate is high.
      func test(_ plan: LoadPlan) async -> LoadTest {
        var test = LoadTest(plan, scenarios)
        test.watchedProcess = watchedProcess
        if case .open(let stages, _) = plan.loop, let prewarmed {
          let rate = stages.map(\.rate).max() ?? 0
          // Connections that can't be opened are the test's errors.
          let count = min(Int(rate * (Self.prewarmedTime / .seconds(1))), connectionsMax)
          let earlier = await engine.counters().total.created
          await engine.prewarm(prewarmed.uri.origin, count: count, timeouts: prewarmed.timeouts)
          test.connectionsOpenedInAdvance = await engine.counters().total.created - earlier
        }
        return test
      }

      func run(
        _ test: LoadTest, onSecond: @escaping @Sendable (LoadProgress) -> Void
      ) async throws(CommandError) -> LoadReport {
        var test = test
        test.onSecond = onSecond
        do throws(SystemError) {
          return try await test.run()
        } catch {
          throw CommandError(
            .other, "the thread that sends can't start (\(error)). Raise the process limit (ulimit -u).")
        }
      }
    }

    // MARK: Search

    private static func search(_ arguments: [String]) async throws(CommandError) -> ExitCode {
      let options = try BenchOptions(arguments)
      try options.check(isSearch: true)
      guard !options.objectives.isEmpty else { throw .benchUsage("search needs --fail-if CONDITION") }
      guard options.inFlight == nil, options.stages.isEmpty else {
        throw .benchUsage("search sets the rate itself; pass the first one with --rate")
      }
      let first = options.rate ?? 100
      guard first <= options.rateMax else { throw .benchUsage("--rate is above --up-to") }
      var setup = try Setup(options)
      let output = Output(path: nil)
      var search = KneeSearch(from: first, upTo: options.rateMax)
      while let rate = search.next {
        var trial = options
        trial.rate = rate
        let report = try await setup.run(await setup.test(trial.plan)) { _ in }
        let violation = report.invalidity ?? options.objectives.lazy.compactMap { $0.violation(in: report) }.first
        try output.write("\(rate.rounded()) per second: " + (violation ?? "met") + "\n")
        if report.invalidity != nil { return .generatorOverloaded }
        search.note(meetsObjectives: violation == nil)
        if search.next != nil { try await setup.renewEngine() }
      }
      guard let knee = search.passed else {
        try output.write("no rate met the objectives\n")
        return .objectiveMissed
      }
      try output.write("the highest rate that met the objectives is \(knee.rounded()) per second\n")
      return .success
    }

    // MARK: Files of earlier tests

    private static func compare(_ paths: [String]) throws(CommandError) -> ExitCode {
      guard paths.count == 2 else { throw .benchUsage("compare takes two files of --json") }
      var reports: [ReportFile] = []
      for path in paths {
        guard let report = ReportFile(json: try InputFile.contents(of: path)) else {
          throw CommandError(.unreadableInput, "\(path) isn't a report of lupine bench --json")
        }
        reports.append(report)
      }
      let comparison = Comparison(before: reports[0], after: reports[1])
      try Output(path: nil).write(comparison.text)
      return comparison.rows.contains(where: \.isWorse) ? .objectiveMissed : .success
    }

    private static func merge(_ paths: [String]) throws(CommandError) -> ExitCode {
      guard !paths.isEmpty else { throw .benchUsage("merge takes files of --hlog") }
      var logs: [String] = []
      for path in paths { logs.append(String(decoding: try InputFile.contents(of: path), as: UTF8.self)) }
      let merged: String
      do throws(HistogramLogError) {
        merged = try HistogramLogs.merge(logs)
      } catch {
        throw CommandError(
          .unreadableInput, "line \(error.line) of \(paths[error.log]) isn't an interval of lupine bench --hlog")
      }
      try Output(path: nil).write(merged)
      return .success
    }
  }

  extension PoolLimits {
    /// Raises the limits to this number of requests in flight, each on a separate connection unless `connections` is lower.
    fileprivate mutating func allow(_ inFlight: Int, over connections: Int?) {
      let count = connections ?? inFlight
      connectionsPerOriginMax = connections ?? max(connectionsPerOriginMax, count)
      idlePerOriginMax = max(idlePerOriginMax, count)
      connectionsMax = max(connectionsMax, count)
      idleMax = max(idleMax, count)
    }
  }
#endif
