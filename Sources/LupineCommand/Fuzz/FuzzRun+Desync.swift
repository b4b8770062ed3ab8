// FuzzRun+Desync: sends the desync probes, and requests that were saved.

import LupineEngine

extension FuzzRun {
  /// Statuses that say nothing about the target of a request, so that a response with one of them can't be attributed to it.
  private static let vagueStatuses: Set = [400, 408, 413, 414, 421, 429, 431, 500, 502, 503, 504]

  /// Sends all desync probes, each on a new connection.
  mutating func probeDesync() async throws(CommandError) -> ExitCode {
    let (baseline, markedMethod) = try await measureBaseline()
    if !baseline.isDistinct {
      try report.write("the server answers each request with \(baseline.ownStatus), so some desyncs can't be seen")
    }
    let probes = DesyncProbe.all(mutator.good, seed: options.seed) { marked($0, markedMethod) }
    for (index, probe) in probes.enumerated() {
      await pause()
      let verdict = await confirmed(probe, baseline)
      countProbe(isFault: verdict.isFault)
      guard case .fault(let fault, let reason) = verdict else {
        count(verdict)
        continue
      }
      let finding = FuzzFinding(probe, number: index + 1, seed: options.seed, baseline, fault, reason)
      let words = options.shaping + options.sending.filter { $0 != "-k" } + [options.url]
      let command = "lupine fuzz --desync --seed \(options.seed) \(words.map(\.shellWord).joined(separator: " "))"
      let counts = DesyncProbe.awaitedCounts(probe.parts, probe.expected)
      try await add(finding, probe.parts, awaiting: counts, command: command)
    }
    return try end("probes")
  }

  /// Sends a probe. If the server seems to be at fault, sends it once more, and checks that the server still answers the request without
  /// mutations as before, because a request may have changed what the server serves.
  private func confirmed(_ probe: DesyncProbe, _ baseline: DesyncBaseline) async -> FuzzVerdict {
    let verdict = await send(probe.parts, probe.expected, probe.terms, baseline)
    guard let fault = verdict.fault else { return verdict }
    await pause()
    let second = await send(probe.parts, probe.expected, probe.terms, baseline)
    guard second.fault == fault else { return second.isFault ? .waits : second }
    let own = await hold([mutator.good.bytes], awaiting: [1])
    return own.responses.first?.status == baseline.ownStatus ? second : .waits
  }

  private func send(
    _ parts: [[UInt8]], _ expected: [DesyncProbe.Answer], _ terms: DesyncProbe.Terms, _ baseline: DesyncBaseline
  ) async -> FuzzVerdict {
    let conversation = await hold(parts, awaiting: DesyncProbe.awaitedCounts(parts, expected))
    return terms.verdict(conversation, expected: expected, baseline)
  }

  // MARK: Baseline

  private func marked(_ marker: String, _ method: String) -> RequestShape {
    mutator.good.replaced(method: method, target: "/lupine-\(marker)")
  }

  /// Sends the request without mutations and marked ones, each on its own connection, to find out how their responses differ. Returns
  /// the method of marked requests too: GET, or an unknown one if the server answers any target of GET alike.
  private func measureBaseline() async throws(CommandError) -> (DesyncBaseline, markedMethod: String) {
    let own = await hold([mutator.good.bytes], awaiting: [1])
    if case .unreachable(let reason) = own.ending { throw CommandError(.notConnected, reason) }
    guard let ownStatus = own.responses.first?.status else {
      throw CommandError(
        .receiveFailed, "the server doesn't answer the request without mutations. Check the URL and the server's log.")
    }
    var baseline = DesyncBaseline(ownStatus: ownStatus)
    let methods = ["GET", "LUPINE"]
    for (index, method) in methods.enumerated() {
      let marker = DesyncProbe.marker(options.seed, DesyncProbe.count + index)
      let request = marked(marker, method).closing.bytes
      guard let response = await hold([request], awaiting: [1]).responses.first else { continue }
      if response.status != ownStatus, !Self.vagueStatuses.contains(response.status) {
        baseline.markedStatus = response.status
      }
      let later = await hold([mutator.good.bytes], awaiting: [1]).responses.first
      baseline.echoes = response.contains(marker) && later?.contains(marker) == false
      if baseline.isDistinct { return (baseline, method) }
    }
    return (baseline, methods[0])
  }

  // MARK: Saved requests

  /// Sends a saved request, and reports whether the server is still at fault.
  mutating func replay(_ path: String) async throws(CommandError) -> ExitCode {
    let (parts, saved) = try FindingFolder.read(path)
    let bytes = Array(parts.joined())
    let request = MutatedRequest(
      number: saved?.number ?? 0, bytes: bytes, mutations: saved?.mutations ?? [path],
      mayBeUnfinished: saved?.mayBeUnfinished ?? !MutatedRequest.isWhole(bytes))
    var verdict: FuzzVerdict
    if let probe = saved?.probe {
      verdict = await send(parts, probe.expected, probe.terms, probe.baseline)
    } else {
      verdict = await judge(request)
    }
    if case .unreachable(let reason) = verdict { throw CommandError(.notConnected, reason) }
    if saved?.fault == FuzzVerdict.Fault.gone.rawValue, !verdict.isFault {
      let later = await judge(mutator.request(0))
      if case .answered = later {} else { verdict = .fault(.gone, later.text) }
    }
    countProbe(isFault: verdict.isFault)
    try report.write(verdict.text)
    if case .fault(let fault, let reason) = verdict {
      var finding = saved ?? FuzzFinding(request, seed: options.seed, fault, reason)
      (finding.fault, finding.reason, finding.command) = (fault.rawValue, reason, replayCommand(path))
      try report.add(finding, isPrinted: true)
    }
    count(verdict)
    return try end(nil)
  }
}
