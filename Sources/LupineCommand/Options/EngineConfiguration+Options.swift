// EngineConfiguration+Options: converts the options to the engine's configuration. The conversion reads the client certificate.

import LupineEngine
import LupineLibc

extension EngineConfiguration {
  /// Creates the engine's configuration from the command's options. Throws a `CommandError` with the code `.unusableIdentity` if
  /// the client certificate can't be used.
  init(_ options: Options) throws(CommandError) {
    self.init()
    tls = try TLSConfiguration(options)
    proxy = options.proxy
    if case .fixed(let given, _) = options.proxy { proxy = .fixed(given, bypass: ProxyBypass(Self.bypassVariable)) }
    if options.skipsProxyVerification { proxyVerification = .none }
    resolver.overrides = options.overrides.inOrderOfPrecedence
    socket = options.socket
    socketPath = options.socketPath
    if options.showsTrace {
      let start = Instant.now
      tracer = { StandardError.write(TraceReport.line($0, since: start)) }
    }
  }

  /// Sets the environment variable `no_proxy` to this list of hosts. Must be called before the engine starts, because the engine
  /// reads the variable only then.
  static func replaceBypassVariable(by list: String) {
    unsetenv("NO_PROXY")
    setenv("no_proxy", list, 1)
  }

  // As in curl, the exceptions in the environment also apply to a proxy that an option names.
  private static var bypassVariable: String {
    let names = ["no_proxy", "NO_PROXY"]
    let values = Environment.values(of: names)
    return names.compactMap { values[$0] }.first { !$0.isEmpty } ?? ""
  }
}

extension Engine {
  /// Starts an engine. Throws a `CommandError` if the system has no descriptors or threads left.
  static func started(_ configuration: EngineConfiguration) throws(CommandError) -> Engine {
    do {
      return try Engine(configuration: configuration)
    } catch {
      throw CommandError(
        .other, "the engine can't start (\(error)). Raise the descriptor and process limits (ulimit -n, -u).")
    }
  }
}

extension TLSConfiguration {
  /// Creates the TLS configuration from the command's options. Throws a `CommandError` with the code `.unusableIdentity` if the
  /// client certificate can't be used.
  init(_ options: Options) throws(CommandError) {
    self = options.tls
    let sources = [
      options.trustRootsPath.map { TrustSource.file($0) }, options.trustRootsFolder.map { TrustSource.directory($0) },
    ].compactMap(\.self)
    if !sources.isEmpty { trustRoots = sources }
    if options.skipsVerification { verification = .none }
    identity = try options.identity.load()
    // Browsers and curl honor this variable; Lupine's library ignores it.
    let variable = "SSLKEYLOGFILE"
    keyLogFile = Environment.values(of: [variable])[variable].flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension [HostOverride] {
  /// The address overrides of --resolve in the engine's order of precedence. The engine uses the first match. In curl, later
  /// options override earlier ones, and "*" applies only to hosts without another override.
  fileprivate var inOrderOfPrecedence: [HostOverride] {
    reversed().filter { $0.host != "*" } + reversed().filter { $0.host == "*" }
  }
}
