// Command: runs the command, from its arguments to its exit status.

import LupineEngine

enum Command {
  /// Runs the command `lupine` and returns its exit status, after all output has been written. The first argument is the program's
  /// name.
  static func run(_ arguments: [String]) async -> ExitCode {
    do throws(CommandError) {
      if arguments.count > 2, arguments[1] == "fuzz" { return try await FuzzRun.run(Array(arguments.dropFirst(2))) }
      if arguments.count > 1, arguments[1] == "bench" { return try await bench(Array(arguments.dropFirst(2))) }
      switch try OptionParser.parse(arguments) {
      case .generate(let file): try Output(path: nil).write(file.text)
      case .help: try Output(path: nil).write(Help.text)
      case .version: try Output(path: nil).write("lupine \(Help.version)\n")
      case .transfer(let uri, let options): try await transfer(uri, options)
      }
      return .success
    } catch {
      if let line = error.line { StandardError.write(line) }
      return error.code
    }
  }

  private static func bench(_ arguments: [String]) async throws(CommandError) -> ExitCode {
    #if Bench
      return try await BenchRun.run(arguments)
    #else
      throw CommandError(
        .usage,
        "this program was built without `lupine bench`. Install it with: make install BENCH=1"
      )
    #endif
  }

  private static func transfer(_ uri: URI, _ options: Options) async throws(CommandError) {
    let upload = Upload()
    let request = try EngineRequest(options, to: uri, of: upload)
    let authentication = try RunAuthentication(options, of: upload)
    let output = Output(path: options.outputPath)
    do throws(CommandError) {
      let cache = try options.cacheFolder.map { folder throws(CommandError) in try CommandCache(folder: folder) }
      try await follow(request, options, authentication, output, on: try engine(options), cache)
      try output.close()
    } catch {
      guard let message = error.message, let remains = output.remains else { throw error }
      throw CommandError(error.code, "\(message) \(remains)")
    }
  }

  private static func follow(
    _ first: EngineRequest, _ options: Options, _ authentication: RunAuthentication, _ output: Output,
    on engine: Engine, _ cache: CommandCache?
  ) async throws(CommandError) {
    var request = authentication.begin(first, via: engine.proxy(for: first))
    var chain = RedirectChain(options.followsRedirects ? RedirectRule() : nil, total: options.maxTime)
    let socket = options.isWebSocket ? SocketRun(options, output: output) : nil
    // Keeps the engine alive, because an engine that is released shuts down and ends its requests.
    defer { withExtendedLifetime(engine) {} }
    while true {
      let proxy = engine.proxy(for: request)
      var unprepared = request
      socket?.prepare(&unprepared)
      var sent = try authentication.prepare(unprepared, via: proxy)
      if options.isVerbose {
        sent.onBegin = { StandardError.write(VerboseReport.connection($0, isVerified: !options.skipsVerification)) }
      }
      let usableCache = cache.flatMap { CommandCache.isUsable(for: sent, options, engine) ? $0 : nil }
      if options.isVerbose, cache != nil, usableCache == nil {
        StandardError.write("* cache: \(CacheReport.unused)\n")
      }
      // With a cache, the request isn't printed here, because the cache may answer it or add conditions to it.
      if options.isVerbose, usableCache == nil { StandardError.write(VerboseReport.request(sent)) }
      let fetch = Fetch(request, as: sent, via: proxy, options, chain, authentication, output: output, socket: socket)
      let outcome = await fetch.run(on: engine, usableCache)
      authentication.note(outcome.metrics)
      report(outcome, of: sent, options)
      switch try outcome.result.get() {
      case nil: return
      case .redirect(let next)?:
        if options.isVerbose { StandardError.write(VerboseReport.redirect(to: next)) }
        let target = engine.proxy(for: next)
        let redirected = authentication.redirected(next, from: request.uri.origin, via: target)
        request = chain.follow(redirected, from: request, after: outcome.metrics)
      case .resend(let next)?:
        if options.isVerbose { StandardError.write(VerboseReport.resend) }
        request = chain.resend(next, after: outcome.metrics)
      }
    }
  }

  private static func report(_ outcome: Fetch.Outcome, of request: EngineRequest, _ options: Options) {
    // The connection of a request that was sent has been shown before the response.
    if options.isVerbose, outcome.metrics.requestStart == nil {
      StandardError.write(VerboseReport.connection(outcome.metrics, isVerified: !options.skipsVerification))
    }
    if options.showsTiming { StandardError.write(TimingTable.text(outcome.metrics, of: request)) }
  }

  private static func engine(_ options: Options) throws(CommandError) -> Engine {
    if let list = options.bypass { EngineConfiguration.replaceBypassVariable(by: list) }
    return try .started(try EngineConfiguration(options))
  }
}
