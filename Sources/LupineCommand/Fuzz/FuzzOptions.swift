// FuzzOptions: the options of `lupine fuzz`. They have a separate table, because they share few options with other commands.

import LupineEngine

/// The settings of a run of `lupine fuzz`.
struct FuzzOptions {
  /// The maximum number of requests in a run of the fuzzer: a million, which take hours at any reasonable rate.
  static let countMax = 1_000_000
  /// The maximum rate of the fuzzer in requests per second: 400. Each request uses a new connection, and a client has enough ports
  /// for about 28,000 connections per minute to one server.
  static let rateMax = 400
  /// The number of requests with which a saved finding is reduced, unless --minimize sets it: 100. They take one second at the default
  /// rate.
  static let savedMinimizingRequests = 100
  /// The number of server faults after which the fuzzer stops: 100, because more faults don't help the user.
  static let faultsMax = 100

  let uri: URI
  /// The server's URL as the user wrote it. The fuzzer prints it in the command line that repeats one request.
  let url: String
  var seed: UInt64
  var count = 1_000
  var rate = 100
  /// The number of the only request to send, or nil to send all requests of the run.
  var only: Int?
  var printsOnly = false
  var timeout = Duration.seconds(5)
  var isRemoteAllowed = false
  var method: String?
  var edits: [FieldEdit] = []
  var body: [UInt8] = []
  var skipsVerification = false
  /// The server to which the same bytes are sent, to compare the framing. Nil without --against.
  var against: URI?
  var probesDesync = false
  var savePath: String?
  /// The maximum number of requests with which each finding is reduced. Nil without --minimize.
  var minimizingRequests: Int?
  var corpusPath: String?
  var replayPath: String?
  var jsonPath: String?
  var junitPath: String?
  /// The given options of `sendingNames`, with their values.
  var sending: [String] = []
  /// The given options of `shapingNames`, with their values. The fuzzer prints them in the command line that repeats one request.
  var shaping: [String] = []

  /// The options that are also needed to send saved requests again.
  private static let sendingNames: [Name] = [.timeout, .against, .allowRemote, .insecure]
  /// The options that change the requests.
  private static let shapingNames: [Name] = [.request, .header, .data, .insecure]

  enum Name: String, CaseIterable {
    case seed, count, rate, only, print, timeout
    case desync, against, corpus, save, minimize, replay, json, junit
    case allowRemote = "allow-remote"
    case request, header, data, insecure, help

    var form: OptionName.Form {
      switch self {
      case .seed: .init(nil, "NUMBER", "the seed of the run, to repeat it; random by default, and printed")
      case .count: .init(nil, "NUMBER", "the number of requests, 1 to 1000000; 1000 by default")
      case .rate: .init(nil, "NUMBER", "the maximum number of requests per second, 1 to 400; 100 by default")
      case .only: .init(nil, "NUMBER", "sends only this request of the run, and shows its first bytes")
      case .print: .init(nil, nil, "writes the bytes of the request of --only, and sends nothing")
      case .timeout: .init(nil, "SECONDS", "the time without received bytes that counts as a hang; 5 by default")
      case .desync: .init(nil, nil, "probes for request smuggling, with several requests on one connection")
      case .against: .init(nil, "URL2", "sends the same bytes to two servers, and reports where their framing differs")
      case .corpus: .init(nil, "FOLDER", "a folder of requests that are sent and mutated, one per file")
      case .save: .init(nil, "FOLDER", "saves each finding: its request, its response, and how to send it again")
      case .minimize: .init(nil, "NUMBER", "the requests with which a finding is reduced, 0 to 1000; 100 with --save")
      case .replay: .init(nil, "FILE", "sends a saved finding or any file with a request, and judges the response")
      case .json: .init(nil, "FILE", "writes findings as lines of JSON; - writes them to standard output")
      case .junit: .init(nil, "FILE", "writes findings as failed test cases for a build server")
      case .allowRemote: .init(nil, nil, "allows other hosts; get their owners' permission first")
      case .request: .init("X", "METHOD", "the method of the request to mutate; GET, or POST with --data")
      case .header: .init("H", "'NAME: VALUE'", "a field of the request to mutate")
      case .data: .init("d", "DATA", "the body of the request to mutate")
      case .insecure: .init("k", nil, "accepts any certificate")
      case .help: .init("h", nil, "shows this help")
      }
    }
  }

  /// Parses the arguments after `lupine fuzz`. Returns nil for --help.
  static func parse(_ arguments: [String], randomSeed: UInt64) throws(CommandError) -> FuzzOptions? {
    var values: [(Name, String)] = []
    var operands: [String] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("-"), argument.count > 1 else {
        operands.append(argument)
        continue
      }
      let (name, value) = try Self.option(argument, &rest)
      if name == .help { return nil }
      values.append((name, value))
    }
    guard let url = operands.first else { throw .fuzzUsage("a URL is missing") }
    guard operands.count == 1 else { throw .fuzzUsage("only one URL is allowed, not \(operands.count)") }
    var options = FuzzOptions(uri: try OptionParser.uri(url), url: url, seed: randomSeed)
    for (name, value) in values {
      try options.apply(name, value)
      let option = name.form.letter.map { "-\($0)" } ?? "--\(name.rawValue)"
      let words = name.form.valueName == nil ? [option] : [option, value]
      if Self.shapingNames.contains(name) { options.shaping += words }
      if Self.sendingNames.contains(name) { options.sending += words }
    }
    if options.printsOnly, options.only == nil { throw .fuzzUsage("--print requires --only NUMBER") }
    try options.checkModes()
    try options.checkHost(options.uri)
    if let against = options.against { try options.checkHost(against) }
    return options
  }

  private static func option(
    _ argument: String, _ rest: inout ArraySlice<String>
  ) throws(CommandError) -> (Name, String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let name =
      argument.hasPrefix("--")
      ? Name(rawValue: String(parts[0].dropFirst(2)))
      : Name.allCases.first { $0.form.letter.map { "-\($0)" } == argument }
    guard let name else { throw .fuzzUsage("\(parts[0]) isn't an option") }
    let given = argument.hasPrefix("--") && parts.count > 1 ? parts[1] : nil
    guard name.form.valueName != nil else {
      guard given == nil else { throw .fuzzUsage("\(parts[0]) takes no value") }
      return (name, "")
    }
    guard let value = given ?? rest.popFirst() else { throw .fuzzUsage("\(parts[0]) needs a value") }
    return (name, value)
  }

  private mutating func apply(_ name: Name, _ value: String) throws(CommandError) {
    switch name {
    case .seed:
      guard let number = UInt64(value) else { throw .fuzzUsage("--seed takes a whole number, not \"\(value)\"") }
      seed = number
    case .count: count = try Self.number(value, 1...Self.countMax, name)
    case .rate: rate = try Self.number(value, 1...Self.rateMax, name)
    case .only: only = try Self.number(value, 0...Self.countMax, name)
    case .print: printsOnly = true
    case .timeout: timeout = try OptionValue.seconds(value, of: .maxTime)
    case .desync: probesDesync = true
    case .against: against = try OptionParser.uri(value)
    case .corpus: corpusPath = value
    case .save: savePath = value
    case .minimize: minimizingRequests = try Self.number(value, 0...RequestMinimizer.requestsMax, name)
    case .replay: replayPath = value
    case .json: jsonPath = value
    case .junit: junitPath = value
    case .allowRemote: isRemoteAllowed = true
    case .request: method = value
    case .header: edits.append(try FieldEdit(value))
    case .data: body = Array(value.utf8)
    case .insecure: skipsVerification = true
    case .help: preconditionFailure("the parser handles this option")
    }
  }

  private static func number(_ text: String, _ range: ClosedRange<Int>, _ name: Name) throws(CommandError) -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw .fuzzUsage("--\(name.rawValue) takes \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
    }
    return number
  }

  private func checkModes() throws(CommandError) {
    let modes = [
      (Name.desync, probesDesync), (.only, only != nil), (.replay, replayPath != nil),
    ].filter { $0.1 }.map { "--\($0.0.rawValue)" }
    guard modes.count < 2 else { throw .fuzzUsage("\(modes.joined(separator: " and ")) can't be combined") }
    guard probesDesync else { return }
    if against != nil { throw .fuzzUsage("--desync and --against can't be combined") }
    if corpusPath != nil { throw .fuzzUsage("--desync and --corpus can't be combined") }
    if let method, ["HEAD", "CONNECT"].contains(method) {
      throw .fuzzUsage("--desync can't use \(method), whose responses have no content")
    }
  }

  // MARK: Target

  private func checkHost(_ uri: URI) throws(CommandError) {
    guard !isRemoteAllowed, !printsOnly, !Self.isLoopback(uri.origin) else { return }
    throw .fuzzUsage("\(uri.origin.host) isn't this machine; pass --allow-remote if its operator agrees")
  }

  /// Returns whether requests to the origin stay on this machine: the origin is a Unix socket, a loopback address, or a local
  /// name (RFC 6761 §6.3), for which the engine gets fixed addresses.
  static func isLoopback(_ origin: Origin) -> Bool {
    if origin.socketPath != nil || isLocalName(origin.host) { return true }
    guard let address = SocketAddress(numeric: origin.host, port: origin.port) else { return false }
    return address.isIPv6 ? address.host == "::1" : address.host.hasPrefix("127.")
  }

  static func isLocalName(_ host: String) -> Bool { host == "localhost" || host.hasSuffix(".localhost") }
}

extension CommandError {
  fileprivate static func fuzzUsage(_ what: String) -> CommandError {
    CommandError(.usage, "\(what): see lupine fuzz --help")
  }
}
