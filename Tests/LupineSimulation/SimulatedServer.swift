// SimulatedServer: the server's end of one connection. It reads and checks requests and sends randomly drawn replies.

@testable import LupineEngine
@testable import LupineReactor
@testable import LupineWire

/// The server's end of one simulated connection. The server is an origin, or a proxy that also answers in place of the origins.
final class SimulatedServer {
  private enum State {
    case socks(SimulatedSOCKS)
    case head
    /// The server expects this number of further body bytes.
    case length(Int)
    case chunked
    /// The connection has switched to another protocol, to which all further bytes belong.
    case switched
    /// The server reads nothing more from the connection.
    case deaf
  }

  private unowned let stream: SimulatedStream
  private unowned let world: World
  /// The index of the origin that this server plays, directly or at the end of a tunnel. Nil if the server is a forwarding proxy.
  private var origin: Int?
  private let isForwarding: Bool
  private var state = State.head
  private var received: [UInt8] = []
  /// The number of body bytes of the current request that the server has received.
  private var bodyCount = 0
  private var attempt: Attempt?
  private var isReplying = false
  private var attemptCount = 0
  private var hasSentContinue = false

  init(_ stream: SimulatedStream, host: Int?) {
    self.stream = stream
    world = stream.world
    origin = host
    let proxy = host == nil ? world.schedule.proxy : nil
    isForwarding = proxy?.scheme == .http
    if let proxy, !isForwarding { state = .socks(SimulatedSOCKS(isLocal: proxy.scheme == .socks5, world.schedule)) }
  }

  /// Whether the server is neither receiving a request nor sending a response.
  var isAtRest: Bool {
    if case .head = state { received.isEmpty && !isReplying } else { false }
  }

  func begin() {
    if world.strikes(\.neverReads, &stream.random) { state = .deaf }
    guard world.strikes(\.closesUnasked, &stream.random) else { return }
    finish(stream.random.chance(50) ? .close : .reset, after: stream.random.duration(500))
  }

  func clientClosed() {
    state = .deaf
    received = []
  }

  // MARK: Reading

  func bytesArrived() {
    if case .deaf = state { return }
    guard !stream.outgoing.isEmpty else { return }
    let countMax = stream.random.chance(60) ? Int.max : stream.random.number(1...2_000)
    received += stream.takeOutgoing(countMax)
    while parse() {}
    if !stream.outgoing.isEmpty {
      world.agenda.after(stream.random.duration(stream.random.chance(5) ? 500 : 20)) { self.bytesArrived() }
    }
  }

  /// Parses the next part of a request. Returns whether the received bytes may contain another part.
  private func parse() -> Bool {
    switch state {
    case .deaf: return false
    case .socks(let dialogue): return proceed(dialogue)
    case .head:
      guard let end = Self.end(of: "\r\n\r\n", in: received) else { return false }
      let lines = String(decoding: received[..<(end - 4)], as: UTF8.self).split(separator: "\r\n").map(String.init)
      received.removeFirst(end)
      readHead(lines)
      return true
    case .length(let missing):
      let count = min(missing, received.count)
      readBody(received.prefix(count))
      received.removeFirst(count)
      state = .length(missing - count)
      if missing == count { readEnd() }
      return missing == count
    case .switched:
      readBody(received[...])
      received = []
      return false
    case .chunked:
      guard let lineEnd = Self.end(of: "\r\n", in: received) else { return false }
      guard let size = Int(String(decoding: received[..<(lineEnd - 2)], as: UTF8.self), radix: 16) else {
        world.violate("\(stream.name): a chunk of the request has no valid size")
        state = .deaf
        return false
      }
      guard received.count >= lineEnd + size + 2 else { return false }
      readBody(received[lineEnd..<lineEnd + size])
      received.removeFirst(lineEnd + size + 2)
      if size == 0 { readEnd() }
      return true
    }
  }

  private static func end(of mark: String, in bytes: [UInt8]) -> Int? {
    let mark = Array(mark.utf8)
    guard bytes.count >= mark.count else { return nil }
    for start in 0...bytes.count - mark.count where bytes[start] == mark[0] {
      if bytes[start..<start + mark.count].elementsEqual(mark) { return start + mark.count }
    }
    return nil
  }

  private func readHead(_ lines: [String]) {
    let words = lines.first?.split(separator: " ").map(String.init) ?? []
    func value(_ name: String) -> String? {
      lines.first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }
    let path = words.count == 3 ? words[1].split(separator: "/").map(String.init) : []
    guard let number = path.last.flatMap({ Int($0) }), world.schedule.requests.indices.contains(number) || world.isCalm
    else {
      world.violate("\(stream.name): the request \(lines) wasn't submitted")
      state = .deaf
      return
    }
    let plan = world.schedule.requests.indices.contains(number) ? world.schedule.requests[number] : nil
    let request = SimulatedRequest(
      number: number, method: words[0], isExpecting: value("Expect") != nil,
      offersUpgrade: value("Upgrade") != nil, asksForClose: value("Connection") == "close")
    check(request, plan, target: words[1], host: value("Host"), credentials: value("Proxy-Authorization"))
    arrive(request)
    bodyCount = 0
    hasSentContinue = false
    if let length = value("Content-Length").flatMap({ Int($0) }) {
      state = .length(length)
    } else {
      state = value("Transfer-Encoding") == "chunked" ? .chunked : .length(0)
    }
    respondEarly(request)
  }

  private func check(
    _ request: SimulatedRequest, _ plan: PlannedRequest?, target: String, host: String?, credentials: String?
  ) {
    let rule = { (text: String) in "\(self.stream.name): request \(request.number) \(text)" }
    world.note("\(stream.name): server reads \(request.method) \(target)")
    world.require(!isReplying, rule("arrived before the previous response had ended"))
    if let finality = stream.finality { world.violate(rule("reused a connection that was over: \(finality)")) }
    guard let plan else { return }
    world.require(request.method == plan.method, rule("has the method \(request.method)"))
    let ownOrigin = world.schedule.origins[plan.origin].origin
    world.require(isForwarding || origin == plan.origin, rule("reached a wrong origin"))
    world.require(target == (isForwarding ? "\(ownOrigin)" : "") + "/r/\(plan.number)", rule("targets \(target)"))
    world.require(host == ownOrigin.authority, rule("has the Host \(host ?? "none")"))
    let expected = isForwarding ? world.schedule.proxy?.authorizationValue : nil
    world.require(credentials == expected, rule("has wrong credentials for the proxy"))
  }

  private func arrive(_ request: SimulatedRequest) {
    let earlier = world.ledger.attempts[request.number] ?? []
    if let last = earlier.last, !(last.reply?.status == 417 && last.request.isExpecting) {
      let rule = { (text: String) in "\(self.stream.name): request \(request.number) was replayed \(text)" }
      let plan = world.schedule.requests[request.number]
      world.require(plan.isIdempotent, rule("but isn't idempotent"))
      world.require(!last.isFirst || last.stream.hasBeenIdle, rule("after failing on a fresh connection"))
      world.require(last.stream.wasCut, rule("although its connection wasn't lost"))
      world.require(last.stream.readCount == last.readCount, rule("although a response had begun"))
    }
    let attempt = Attempt(request, index: earlier.count, stream, isFirst: attemptCount == 0)
    attemptCount += 1
    self.attempt = attempt
    world.ledger.attempts[request.number, default: []].append(attempt)
  }

  private func readBody(_ bytes: ArraySlice<UInt8>) {
    guard let attempt, !bytes.isEmpty, world.schedule.requests.indices.contains(attempt.request.number) else { return }
    let plan = world.schedule.requests[attempt.request.number]
    let rest = plan.bodyBytes.dropFirst(bodyCount)
    world.require(
      rest.starts(with: bytes), "\(stream.name): request \(plan.number) has wrong body bytes at offset \(bodyCount)")
    if attempt.request.isExpecting, !hasSentContinue, plan.timeouts.awaitContinue == nil {
      world.violate("\(stream.name): the body of request \(plan.number) arrived without a 100")
    }
    bodyCount += bytes.count
  }

  private func readEnd() {
    state = .head
    guard let attempt else { return }
    let number = attempt.request.number
    if world.schedule.requests.indices.contains(number) {
      let plan = world.schedule.requests[number]
      // After a 101 the body would belong to the other protocol.
      world.require(
        bodyCount == (plan.offersUpgrade ? 0 : plan.bodyBytes.count),
        "\(stream.name): request \(number) has a body of \(bodyCount) bytes")
    }
    attempt.isRead = true
    if attempt.reply == nil { respond(attempt, status: nil) }
  }

  // MARK: Answering

  private func respondEarly(_ request: SimulatedRequest) {
    guard let attempt else { return }
    if case .length(0) = state { return }
    guard request.isExpecting else {
      if stream.random.chance(8) { respond(attempt, status: nil) }
      return
    }
    switch stream.random.number(0...9) {
    case 0..<5: sendContinue(attempt)
    case 5: respond(attempt, status: 417)
    case 6, 7: respond(attempt, status: nil)
    default: break  // The server ignores the expectation and waits for the body.
    }
  }

  private func sendContinue(_ attempt: Attempt) {
    hasSentContinue = true
    world.agenda.after(stream.random.duration(300)) { [self] in
      guard attempt.reply == nil else { return }
      stream.deliver(ArraySlice("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
  }

  private func respond(_ attempt: Attempt, status: Int?) {
    let isSwitching = attempt.request.offersUpgrade && stream.random.chance(60)
    let status = status ?? (isSwitching ? 101 : stream.random.pick([200, 200, 200, 200, 404, 204, 304, 500]))
    let reply = SimulatedReply(to: attempt.request, attempt: attempt.index, status: status, world, &stream.random)
    attempt.reply = reply
    isReplying = true
    world.agenda.after(stream.random.duration(stream.random.chance(20) ? 2_000 : 50)) { [self] in
      stream.responseEnds.append(stream.arrivedCount + reply.bytes.count)
      if !reply.surplus.isEmpty { stream.hasSpokenUnasked = true }
      if reply.framing == .switched { switchProtocols(attempt) }
      transmit(attempt, reply, (reply.bytes[..<reply.sentCount] + reply.surplus)[...], reply.surplus.count)
    }
  }

  private func switchProtocols(_ attempt: Attempt) {
    guard case .head = state else { return }
    world.require(
      received.isEmpty && stream.outgoing.isEmpty,
      "\(stream.name): request \(attempt.request.number) sent the other protocol's bytes before the 101")
    state = .switched
  }

  private func transmit(
    _ attempt: Attempt, _ reply: SimulatedReply, _ rest: ArraySlice<UInt8>, _ surplusCount: Int
  ) {
    // If bytes of one response arrived late, they would appear in the next one, which no client could detect.
    guard self.attempt === attempt || self.attempt?.reply == nil else { return }
    let style = stream.random.number(0...99)
    let count =
      style < 50
      ? rest.count
      : style < 80 || rest.count > 300
        ? stream.random.number(1...max(rest.count, 1)) : min(rest.count, stream.random.number(1...12))
    let left = rest.dropFirst(count)
    if !stream.wasCut { attempt.arrivedCount = reply.sentCount - max(left.count - surplusCount, 0) }
    stream.deliver(rest.prefix(count))
    // For the client, the response ends when its last byte arrives, even if surplus bytes follow.
    if isReplying, left.count <= surplusCount { endReply(reply) }
    if left.isEmpty {
      if reply.ending != .keep { finish(reply.ending, after: stream.random.duration(50)) }
    } else {
      world.agenda.after(stream.random.duration(rest.count > 1_000 ? 2 : 100)) { [self] in
        transmit(attempt, reply, left, surplusCount)
      }
    }
  }

  private func endReply(_ reply: SimulatedReply) {
    guard reply.sentCount == reply.bytes.count else { return }
    isReplying = false
    stream.finality = stream.finality ?? reply.finality
    guard reply.ending == .keep else { return }
    if world.strikes(\.closesWhileIdle, &stream.random) {
      finish(stream.random.chance(70) ? .close : .reset, after: stream.random.duration(2_000))
    }
    if world.strikes(\.speaksWhileIdle, &stream.random) {
      world.agenda.after(stream.random.duration(2_000)) { [self] in
        // During another response, the client would treat these bytes as a part of that response.
        guard isAtRest && attempt?.reply?.framing != .untilClose || attempt?.reply == nil else { return }
        stream.hasSpokenUnasked = true
        stream.idleSpeechStart = stream.idleSpeechStart ?? stream.arrivedCount
        stream.deliver(ArraySlice("nobody asked\r\n".utf8))
      }
    }
    while parse() {}
  }

  private func finish(_ ending: SimulatedReply.Ending, after duration: Duration) {
    world.agenda.after(duration) { [self] in
      switch ending {
      case .close: stream.end()
      case .reset: stream.reset()
      case .keep, .stall: return
      }
      state = .deaf
    }
  }

  // MARK: SOCKS

  private func proceed(_ dialogue: SimulatedSOCKS) -> Bool {
    var dialogue = dialogue
    guard let step = dialogue.receive(&received, world) else { return false }
    state = .socks(dialogue)
    var answer = step.answer
    if world.strikes(\.proxyFails, &stream.random) {
      world.ledger.hasProxyFailed = true
      switch stream.random.number(0...3) {
      case 0: answer = [5, 0xFF, 0]
      case 1: answer = [4, 0]
      case 2:
        answer = Array(answer.prefix(1))
        finish(.close, after: stream.random.duration(50))
      default: answer = []
      }
      state = .deaf
    } else if let origin = step.origin {
      self.origin = origin
      state = .head
    }
    // Sends the answer in one piece or byte by byte.
    send(answer[...], stream.random.chance(50) ? answer.count : 1)
    return true
  }

  private func send(_ bytes: ArraySlice<UInt8>, _ pieceCount: Int) {
    guard !bytes.isEmpty else { return }
    world.agenda.after(stream.random.duration(20)) { [self] in
      stream.deliver(bytes.prefix(pieceCount))
      send(bytes.dropFirst(pieceCount), pieceCount)
    }
  }
}
