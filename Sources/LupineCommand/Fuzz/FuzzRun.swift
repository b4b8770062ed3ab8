// FuzzRun: runs `lupine fuzz`: sends the requests of a run one by one and reports the server's behavior.

import LupineEngine

/// One run of `lupine fuzz`, which sends mutated requests to a server.
struct FuzzRun {
  let options: FuzzOptions
  let mutator: RequestMutator
  let engine: Engine
  var report: FuzzReport
  private let folder: FindingFolder?
  private(set) var totals: FuzzTotals
  private var statuses: [Int: Int] = [:]
  private var counts: [String: Int] = [:]

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
    let shape = try RequestShape(options)
    let corpus = try options.corpusPath.map { path throws(CommandError) in try Corpus.read(path) }
    // When servers are compared, another request follows on the connection.
    mutator = RequestMutator(
      good: options.against == nil ? shape : shape.keepingAlive, seed: options.seed, corpus: corpus ?? [])
    totals = FuzzTotals(seed: options.seed)
    engine = try .started(EngineConfiguration(options))
    folder = try options.savePath.map { path throws(CommandError) in try FindingFolder(path) }
    report = try FuzzReport(json: options.jsonPath, junit: options.junitPath)
  }

  private mutating func go() async throws(CommandError) -> ExitCode {
    if let path = options.replayPath { return try await replay(path) }
    if let number = options.only { return try await sendOne(mutator.request(number)) }
    try report.write("seed \(options.seed)")
    if options.probesDesync { return try await probeDesync() }
    try await checkFirst()
    let start = ContinuousClock.now
    for number in 1...options.count {
      await pause(until: start + .nanoseconds(1_000_000_000 / options.rate * (number - 1)))
      let request = mutator.request(number)
      let verdict = await judge(request)
      try await tell(verdict, of: request)
      if totals.faults >= FuzzOptions.faultsMax {
        try report.write("the run stops after \(totals.faults) faults")
        break
      }
      guard verdict.isSuspicious || number % Self.checkInterval == 0 else { continue }
      if try await !stillAnswers(behind: request) { break }
    }
    return try end()
  }

  /// Sends the request without mutations, and throws an error unless the server answers it.
  private func checkFirst() async throws(CommandError) {
    let first = await judge(mutator.request(0))
    switch first {
    case .answered: return
    case .unreachable(let reason): throw CommandError(.notConnected, reason)
    case .fault(.framing, let reason):
      throw CommandError(
        .receiveFailed, "the servers already differ for the request without mutations: \(reason). Choose another path.")
    default:
      throw CommandError(.receiveFailed, "the server doesn't answer the request without mutations: \(first.text)")
    }
  }

  /// Writes the summary of the requests or probes, if `noun` names them, and returns the exit status.
  mutating func end(_ noun: String? = "requests") throws(CommandError) -> ExitCode {
    for (status, count) in statuses { totals.outcomes[status == 0 ? "unchecked" : "\(status)xx"] = count }
    totals.outcomes.merge(counts) { $1 }
    try report.end(totals, summary: noun.map(summary) ?? "")
    return totals.faults > 0 ? .serverAtFault : .success
  }

  /// Waits for as long as one request takes at the rate of the run.
  func pause() async { await pause(until: .now + .nanoseconds(1_000_000_000 / options.rate)) }

  private func pause(until time: ContinuousClock.Instant) async {
    // Cancellation only ends the pause early, so its error is ignored.
    if time > .now { try? await Task.sleep(until: time, clock: .continuous) }
  }

  /// Sends the request without mutations, and returns whether the server responds. If it doesn't, reports this as a fault that
  /// `request` caused. The run then ends, because further results would be meaningless.
  private mutating func stillAnswers(behind request: MutatedRequest) async throws(CommandError) -> Bool {
    let verdict = await judge(mutator.request(0))
    if case .answered = verdict { return true }
    try await tell(.fault(.gone, verdict.text), of: request)
    return false
  }

  private mutating func sendOne(_ request: MutatedRequest) async throws(CommandError) -> ExitCode {
    let output = Output(path: nil)
    if options.printsOnly {
      try output.write(request.bytes.span)
      return .success
    }
    try output.write("\(request.mutations.joined(separator: ", "))\n\(request.beginning)\n")
    let verdict = await judge(request)
    try output.write("\(verdict.text)\n")
    if case .unreachable(let reason) = verdict { throw CommandError(.notConnected, reason) }
    return verdict.isFault ? .serverAtFault : .success
  }

  /// Sends the request, and judges the response, or compares two servers.
  func judge(_ request: MutatedRequest) async -> FuzzVerdict {
    guard let other = options.against else { return await send(request) }
    // It is unknown whether the responses have bodies, or heads.
    if request.mayBeHead || request.looksLike09 { return .answered(status: 0) }
    let verdict = await compare(request, with: other.origin)
    // A difference must occur twice, because a server that is slow once seems to wait for more data.
    return verdict.isFault ? await compare(request, with: other.origin) : verdict
  }

  /// Sends a request to both servers, and compares their framing.
  private func compare(_ request: MutatedRequest, with other: Origin) async -> FuzzVerdict {
    // The request without mutations asks the servers to close the connection.
    let parts = [request.bytes + mutator.good.closing.bytes]
    async let first = hold(parts, awaiting: [2], with: options.uri.origin)
    async let second = hold(parts, awaiting: [2], with: other)
    return Framing.compare(await first, await second)
  }

  func hold(_ parts: [[UInt8]], awaiting counts: [Int], with origin: Origin? = nil) async -> Conversation {
    await Conversation.hold(
      parts, awaiting: counts, method: mutator.good.method, with: origin ?? options.uri.origin, on: engine,
      timeout: options.timeout)
  }

  private func send(_ request: MutatedRequest) async -> FuzzVerdict {
    // A response may arrive in many pieces, each within the limit of its phase, so the total time is limited too.
    let timeouts = Timeouts(everyPhase: options.timeout, total: options.timeout * 4)
    // If the server may treat the request as HEAD, no body is awaited after the response head.
    let method = request.mayBeHead ? "HEAD" : "GET"
    let raw = RawRequest(to: options.uri.origin, request.bytes, method: method, timeouts: timeouts)
    do throws(EngineError) {
      return .answered(status: try await engine.send(raw).head.status)
    } catch {
      return .judge(error, request)
    }
  }

  // MARK: Reports

  private mutating func tell(_ verdict: FuzzVerdict, of request: MutatedRequest) async throws(CommandError) {
    if verdict.fault != .gone { totals.requests += 1 }
    guard case .fault(let fault, let reason) = verdict else { return count(verdict) }
    totals.faults += 1
    var (smallest, newest) = (request, reason)
    if fault != .gone { await minimize(&smallest, fault, &newest) }
    var finding = FuzzFinding(smallest, seed: options.seed, fault, newest)
    if smallest.bytes.count < request.bytes.count { finding.originalSize = request.bytes.count }
    try await add(finding, [smallest.bytes], awaiting: [1], command: replayCommand(request))
  }

  /// Counts an outcome that isn't a fault.
  mutating func count(_ verdict: FuzzVerdict) {
    switch verdict {
    case .answered(let status): statuses[status / 100, default: 0] += 1
    case .closed: counts["closed without a response", default: 0] += 1
    case .waits: counts["waited for more data", default: 0] += 1
    case .unreachable: counts["not sent", default: 0] += 1
    case .fault: break
    }
  }

  /// Counts a request or a probe, and a fault of the server.
  mutating func countProbe(isFault: Bool) {
    totals.requests += 1
    if isFault { totals.faults += 1 }
  }

  /// Reduces a request while it causes the same fault, and replaces the reason by that of the reduced request.
  private func minimize(_ request: inout MutatedRequest, _ fault: FuzzVerdict.Fault, _ reason: inout String) async {
    let countMax = options.minimizingRequests ?? (folder == nil ? 0 : FuzzOptions.savedMinimizingRequests)
    var minimizer = RequestMinimizer(request.bytes, countMax: countMax)
    let end = ContinuousClock.now + RequestMinimizer.duration
    while .now < end, let bytes = minimizer.next() {
      await pause()
      let attempt = MutatedRequest(
        number: request.number, bytes: bytes, mutations: request.mutations, leavesOpen: request.mayBeUnfinished)
      let verdict = await judge(attempt)
      guard case .fault(fault, let newReason) = verdict, fault != .framing || newReason == reason else {
        minimizer.note(isSame: false)
        continue
      }
      minimizer.note(isSame: true)
      (request, reason) = (attempt, newReason)
    }
  }

  /// Reports a finding. With --save, sends its request once more to record the response, and saves both.
  mutating func add(
    _ finding: FuzzFinding, _ parts: [[UInt8]], awaiting counts: [Int], command: String
  ) async throws(CommandError) {
    var finding = finding
    finding.command = command
    if let folder {
      let response = await hold(parts, awaiting: counts).bytes
      finding = try folder.save(finding, request: Array(parts.joined()), response: response, command: replayCommand)
    }
    try report.add(finding)
  }

  /// The command that creates the request again and sends it. It contains the fields and the body that the user passed.
  private func replayCommand(_ request: MutatedRequest) -> String {
    let corpus = options.corpusPath.map { ["--corpus", $0] } ?? []
    let against = options.against == nil ? [] : options.sending.drop { $0 != "--against" }.prefix(2)
    let shaping = (corpus + against + options.shaping + [options.url]).map(\.shellWord).joined(separator: " ")
    let remote = options.isRemoteAllowed ? "--allow-remote " : ""
    return "lupine fuzz --seed \(options.seed) --only \(request.number) \(remote)\(shaping)"
  }

  /// The command that sends a saved request. It contains no part of the request, and of the URL only the origin.
  func replayCommand(_ path: String) -> String {
    let words = ["--replay", path] + options.sending + [options.uri.origin.description]
    return "lupine fuzz " + words.map(\.shellWord).joined(separator: " ")
  }

  private func summary(_ noun: String) -> String {
    var parts = statuses.sorted { $0.key < $1.key }.map {
      $0.key == 0 ? "\($0.value) unchecked" : "\($0.value) \($0.key)xx"
    }
    parts += counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    return "\(totals.requests) \(noun), \(totals.faults) faults: \(parts.joined(separator: ", "))\n"
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
      default: text += "\\x" + byte.hexDigits()
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
  var shellWord: String {
    let isPlain =
      !isEmpty && utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || "-_./:=,@%".utf8.contains($0) }
    return isPlain ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}
