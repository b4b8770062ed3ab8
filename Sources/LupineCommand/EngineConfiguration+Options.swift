// The options as an engine's configuration. Client certificates are read here, before anything goes out.

import Glibc
import LupineEngine

extension EngineConfiguration {
  /// Makes the configuration. Throws if the client's certificate can't be used.
  init(_ options: Options) throws(CommandError) {
    self.init()
    tls = try TLSConfiguration(options)
    proxy = options.proxy
    if case .fixed(let given, _) = options.proxy { proxy = .fixed(given, bypass: ProxyBypass(Self.bypassVariable)) }
    resolver.overrides = options.overrides.inOrderOfPrecedence
    socket = options.socket
    socketPath = options.socketPath
    if options.showsTrace {
      let start = Instant.now
      tracer = { StandardError.write(TraceReport.line($0, since: start)) }
    }
  }

  /// Puts a list in the place of what NO_PROXY says, for the engine to read. To be called before it starts.
  static func replaceBypassVariable(by list: String) {
    unsetenv("NO_PROXY")
    setenv("no_proxy", list, 1)
  }

  // As in curl, the environment's exceptions hold for a proxy that was given by option, too.
  private static var bypassVariable: String {
    let names = ["no_proxy", "NO_PROXY"]
    let values = Environment.values(of: names)
    return names.compactMap { values[$0] }.first { !$0.isEmpty } ?? ""
  }
}

extension TLSConfiguration {
  /// Makes the configuration. Throws if the client's certificate can't be used.
  init(_ options: Options) throws(CommandError) {
    self = options.tls
    let sources = [
      options.trustRootsPath.map { TrustSource.file($0) }, options.trustRootsFolder.map { TrustSource.directory($0) },
    ].compactMap(\.self)
    if !sources.isEmpty { trustRoots = sources }
    if options.skipsVerification { verification = .none }
    identity = try options.identity.load()
    // As browsers and curl have it; the library itself never looks at it.
    let variable = "SSLKEYLOGFILE"
    keyLogFile = Environment.values(of: [variable])[variable].flatMap { $0.isEmpty ? nil : $0 }
  }
}

extension [HostOverride] {
  /// The engine takes the first that fits; in curl a later one replaces an earlier one, and "*" is for the rest.
  fileprivate var inOrderOfPrecedence: [HostOverride] {
    reversed().filter { $0.host != "*" } + reversed().filter { $0.host == "*" }
  }
}
