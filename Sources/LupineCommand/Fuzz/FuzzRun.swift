// FuzzRun: runs `lupine fuzz`: sends the requests of a run one by one and reports the server's behavior.

import LupineEngine

/// One run of `lupine fuzz`, which sends mutated requests to a server.
struct FuzzRun {
  private let options: FuzzOptions
  private let mutator: RequestMutator
  private let engine: Engine
  private let output = Output(path: nil)
  private var statuses: [Int: Int] = [:]
  private var counts: [String: Int] = [:]
  private var faultCount = 0
  private var sentCount = 0

  /// The number of requests after which the fuzzer checks whether the server still responds: 100.
  private static let checkInterval = 100

  /// Runs `lupine fuzz` with the arguments after `fuzz`, and returns the exit status.
  static func run(_ arguments: [String]) async throws(CommandError) -> ExitCode {
    var generator = SystemRandomNumberGenerator()
    // At most six digits, so that the seed is easy to remember.
    let seed = UInt64.random(in: 1...999_999, using: &generator)
    guard let options = try FuzzOptions.parse(arguments, randomSeed: seed) else {
      try Output(path: nil).write(FuzzHelp.text)
      return .success
    }
    var run = try FuzzRun(options)
    return try await run.go()
  }

  private init(_ options: FuzzOptions) throws(CommandError) {
    self.options = options
    mutator = RequestMutator(good: try RequestShape(options), seed: options.seed)
    do {
      engine = try Engine(configuration: EngineConfiguration(options))
    } catch {
      throw CommandError(
        .other, "the engine can't start (\(error)). Raise the descriptor and process limits (ulimit -n, -u).")
    }
  }

  private mutating func go() async throws(CommandError) -> ExitCode {
    if let number = options.only { return try await sendOne(mutator.request(number)) }
    try output.write("seed \(options.seed)\n")
    let first = await send(mutator.request(0))
    if case .unreachable(let reason) = first { throw CommandError(.notConnected, reason) }
    guard case .answered = first else {
      throw CommandError(.receiveFailed, "the server doesn't answer the request without mutations: \(first.text)")
    }
    let start = ContinuousClock.now
    for number in 1...options.count {
      await pause(until: start + .nanoseconds(1_000_000_000 / options.rate * (number - 1)))
      let request = mutator.request(number)
      let verdict = await send(request)
      try tell(verdict, of: request)
      if faultCount >= FuzzOptions.faultsMax {
        try output.write("the run stops after \(faultCount) faults\n")
        break
      }
      guard verdict.isSuspicious || number % Self.checkInterval == 0 else { continue }
      if try await !stillAnswers(behind: request) { break }
    }
    try output.write(summary)
    return faultCount > 0 ? .serverAtFault : .success
  }

  private func pause(until time: ContinuousClock.Instant) async {
    // Cancellation only ends the pause early, so its error is ignored.
    if time > .now { try? await Task.sleep(until: time, clock: .continuous) }
  }

  /// Sends the request without mutations, and returns whether the server responds. If it doesn't, reports this as a fault that
  /// `request` caused. The run then ends, because further results would be meaningless.
  private mutating func stillAnswers(behind request: MutatedRequest) async throws(CommandError) -> Bool {
    let verdict = await send(mutator.request(0))
    if case .answered = verdict { return true }
    try tell(.fault(.gone, verdict.text), of: request)
    return false
  }

  private mutating func sendOne(_ request: MutatedRequest) async throws(CommandError) -> ExitCode {
    if options.printsOnly {
      try output.write(request.bytes.span)
      return .success
    }
    try output.write("\(request.mutations.joined(separator: ", "))\n\(request.beginning)\n")
    let verdict = await send(request)
    try output.write("\(verdict.text)\n")
    if case .unreachable(let reason) = verdict { throw CommandError(.notConnected, reason) }
    return verdict.isFault ? .serverAtFault : .success
  }

  private func send(_ request: MutatedRequest) async -> FuzzVerdict {
    // A response may arrive in many pieces, each within the limit of its phase, so the total time is limited too.
    let timeouts = Timeouts(everyPhase: options.timeout, total: options.timeout * 4)
    // If the server may treat the request as HEAD, no body is awaited after the response head.
    let method = request.mayBeHead ? "HEAD" : "GET"
    let raw = RawRequest(to: options.uri.origin, request.bytes, method: method, timeouts: timeouts)
    do throws(EngineError) {
      return FuzzVerdict(.success(try await engine.send(raw)), to: request)
    } catch {
      return FuzzVerdict(.failure(error), to: request)
    }
  }

  // MARK: Reports

  private mutating func tell(_ verdict: FuzzVerdict, of request: MutatedRequest) throws(CommandError) {
    if verdict.fault != .gone { sentCount += 1 }
    switch verdict {
    case .answered(let status): statuses[status / 100, default: 0] += 1
    case .closed: counts["closed without a response", default: 0] += 1
    case .waits: counts["waited for more data", default: 0] += 1
    case .unreachable: counts["not sent", default: 0] += 1
    case .fault(let fault, let reason):
      faultCount += 1
      let mutations = request.mutations.joined(separator: ", ")
      let line = "#\(request.number) \(fault.rawValue): \(mutations): \(reason)".printable
      try output.write("\(line)\n  again: \(replay(request))\n")
    }
  }

  private func replay(_ request: MutatedRequest) -> String {
    let shaping = (options.shaping + [options.url]).map(\.shellWord).joined(separator: " ")
    let remote = options.isRemoteAllowed ? "--allow-remote " : ""
    return "lupine fuzz --seed \(options.seed) --only \(request.number) \(remote)\(shaping)"
  }

  private var summary: String {
    var parts = statuses.sorted { $0.key < $1.key }.map {
      $0.key == 0 ? "\($0.value) unchecked" : "\($0.value) \($0.key)xx"
    }
    parts += counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    return "\(sentCount) requests, \(faultCount) faults: \(parts.joined(separator: ", "))\n"
  }
}

extension FuzzVerdict {
  var fault: Fault? {
    if case .fault(let fault, _) = self { fault } else { nil }
  }

  var isFault: Bool { fault != nil }

  /// Whether the server may have stopped responding. If so, the fuzzer checks whether the server still responds to a request
  /// without mutations.
  var isSuspicious: Bool {
    switch self {
    case .fault, .unreachable: true
    case .answered, .closed, .waits: false
    }
  }

  /// The server's reaction as one line of text.
  var text: String {
    switch self {
    case .answered(0): "answered; the response can't be checked"
    case .answered(let status): "answered with \(status)"
    case .closed: "closed without a response"
    case .waits: "no response; the server may be waiting for more data"
    case .fault(let fault, let reason): "\(fault.rawValue): \(reason)".printable
    case .unreachable(let reason): "not sent: \(reason)".printable
    }
  }
}

extension MutatedRequest {
  /// The maximum number of bytes of a request that `beginning` shows: 2,000. Some requests are a hundred times longer.
  private static let shownBytesMax = 2_000

  /// The first bytes of the request as text. Unprintable bytes are escaped.
  var beginning: String {
    let left = bytes.count - Self.shownBytesMax
    let text: String = bytes.prefix(Self.shownBytesMax).reduce(into: "") { text, byte in
      switch byte {
      case 0x0A: text += "\\n\n"
      case 0x0D: text += "\\r"
      case 0x5C: text += "\\\\"
      case 0x20..<0x7F: text.unicodeScalars.append(Unicode.Scalar(byte))
      default: text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return left > 0 ? "\(text)\n… and \(left) more bytes; --print writes all of them" : text
  }
}

extension RequestShape {
  /// Creates the request without mutations, which is the one that `lupine` itself would send to the URL.
  init(_ options: FuzzOptions) throws(CommandError) {
    let method = options.method ?? (options.body.isEmpty ? "GET" : "POST")
    var lines = [Line(name: "Host", value: options.uri.origin.authority)]
    lines.append(Line(name: "User-Agent", value: "lupine/\(Help.version)"))
    lines.append(Line(name: "Accept", value: "*/*"))
    self.init(method: method, target: options.uri.target, lines: lines, body: options.body)
    for edit in options.edits {
      remove(edit.name)
      // Characters above ASCII are sent as UTF-8. Each byte becomes a scalar, because a shape sends each scalar as one
      // byte.
      if case .add(let name, let value) = edit {
        let bytes = String(String.UnicodeScalarView(value.utf8.map { Unicode.Scalar($0) }))
        self.lines.append(Line(name: name, value: bytes))
      }
    }
    if !options.body.isEmpty { set("Content-Length", "\(options.body.count)") }
    set("Connection", "close")
  }
}

extension EngineConfiguration {
  fileprivate init(_ options: FuzzOptions) {
    self.init()
    proxy = .none
    if options.skipsVerification { tls.verification = .none }
    let origin = options.uri.origin
    if FuzzOptions.isLocalName(origin.host) {
      let addresses = ["127.0.0.1", "::1"].compactMap { SocketAddress(numeric: $0, port: 0) }
      resolver.overrides = [HostOverride(host: origin.host, port: origin.port, addresses: addresses)]
    }
  }
}

extension String {
  /// The text as one word of a shell's command line, quoted if necessary.
  fileprivate var shellWord: String {
    let isPlain =
      !isEmpty && utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || "-_./:=,@%".utf8.contains($0) }
    return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}
