// SimulatedReply: a simulated server's response as bytes, and the faults applied to it.

/// A simulated server's reply as bytes, and what the server does with the connection after sending it or a part of it.
struct SimulatedReply {
  enum Framing: CaseIterable {
    case none, length, chunked, untilClose
    /// The response has both Content-Length and chunked framing. The latter takes precedence.
    case ambiguous
    /// An HTTP/1.0 response with Content-Length.
    case old
    /// A response with status 101. The bytes after it belong to another protocol.
    case switched

    /// Whether the content extends to the end of the connection.
    var endsByClosing: Bool { self == .untilClose || self == .switched }
  }

  enum Ending: Equatable {
    /// The server keeps the connection open.
    case keep
    case close
    case reset
    /// The server sends nothing more, but doesn't close the connection.
    case stall
  }

  let status: Int
  let framing: Framing
  /// The length of the content in bytes. For HEAD, it is the length that the response to a GET would have.
  let bodyCount: Int
  let isMalformed: Bool
  let hasTrailer: Bool
  let bytes: [UInt8]
  /// The length of all heads, including interim ones, in bytes: the offset at which the content starts.
  let headEnd: Int
  /// Bytes that the server sends after the response, and that belong to no response.
  let surplus: [UInt8]
  /// The number of bytes that the server sends before `ending` takes effect.
  let sentCount: Int
  let ending: Ending
  /// The reason why the client must not reuse the connection after this response, or nil if it may.
  let finality: String?

  /// Creates a random reply to the request.
  init(
    to request: SimulatedRequest, attempt: Int, status: Int, _ world: World, _ random: inout Decisions
  ) {
    self.status = status
    framing = Self.framing(of: status, request.method, &random)
    bodyCount = framing == .none && request.method != "HEAD" ? 0 : random.byteCount()
    hasTrailer = framing == .chunked && random.chance(30)
    isMalformed = world.strikes(\.isMalformed, &random)

    var text = ""
    for _ in 0..<(random.chance(15) ? random.number(1...3) : 0) {
      text += "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    }
    let hasFlawInHead = isMalformed && framing != .chunked
    var flaw = isMalformed ? random.number(0...3) : -1
    // A client that has offered an upgrade accepts a 101 as its response.
    if flaw == 1, request.offersUpgrade { flaw = 0 }
    if hasFlawInHead, flaw == 0 { text += "HTTQ/1.1 200 OK\r\n\r\n" }
    if hasFlawInHead, flaw == 1 { text += "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n" }
    if hasFlawInHead, flaw == 2 { text += String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 17) }
    let says = Self.persistence(framing, &random)
    text +=
      "HTTP/1.\(framing == .old ? 0 : 1) \(status) Whatever\r\nRequest: \(request.number)\r\nAttempt: \(attempt)\r\n"
    if hasFlawInHead, flaw == 3 { text += "Malformed : x\r\n" }
    if framing == .length || framing == .old || framing == .ambiguous || request.method == "HEAD" {
      text += "Content-Length: \(bodyCount)\r\n"
    }
    if framing == .switched { text += "Connection: Upgrade\r\nUpgrade: other\r\n" }
    if framing == .chunked || framing == .ambiguous { text += "Transfer-Encoding: chunked\r\n" }
    if let says { text += "Connection: \(says)\r\n" }
    text += "\r\n"
    var bytes = Array(text.utf8)
    headEnd = bytes.count
    let content = SimulatedBytes.response(request.number, attempt, framing == .none ? 0 : bodyCount)
    switch framing {
    case .none: break
    case .length, .untilClose, .old, .switched: bytes += content
    case .chunked, .ambiguous:
      bytes += Self.chunks(content, isMalformed: isMalformed && !hasFlawInHead, &random)
      bytes += Array("0\r\n\(hasTrailer ? "Sum: \(request.number)\r\n" : "")\r\n".utf8)
    }
    self.bytes = bytes

    finality =
      if says == "close" { "its response declared close" } else if framing == .switched {
        "it switched protocols"
      } else if framing == .untilClose || framing == .ambiguous {
        "its response had no reliable end"
      } else if framing == .old, says == nil { "its response was HTTP/1.0" } else if request.asksForClose {
        "its request declared close"
      } else { nil }
    if world.strikes(\.isCut, &random) {
      sentCount = random.number(0...bytes.count - 1)
      ending = random.chance(50) ? .close : .reset
    } else if world.strikes(\.stalls, &random) {
      sentCount = random.number(0...bytes.count - 1)
      ending = .stall
    } else {
      sentCount = bytes.count
      ending = framing.endsByClosing ? .close : finality != nil && random.chance(70) ? .close : .keep
    }
    let hasSurplus = sentCount == bytes.count && !framing.endsByClosing && world.strikes(\.hasSurplus, &random)
    surplus = hasSurplus ? Array("surplus that is no response\r\n\r\n".utf8.prefix(random.number(1...31))) : []
  }

  private static func framing(of status: Int, _ method: String, _ random: inout Decisions) -> Framing {
    if status == 101 { return .switched }
    if method == "HEAD" || status == 204 || status == 304 { return .none }
    return random.pick([.length, .length, .length, .chunked, .chunked, .untilClose, .ambiguous, .old])
  }

  private static func persistence(_ framing: Framing, _ random: inout Decisions) -> String? {
    if framing == .old { return random.chance(50) ? "keep-alive" : nil }
    if framing == .switched { return nil }
    return random.chance(15) ? "close" : nil
  }

  private static func chunks(
    _ content: ArraySlice<UInt8>, isMalformed: Bool, _ random: inout Decisions
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = content
    while !rest.isEmpty {
      let chunk = rest.prefix(random.number(1...max(rest.count / 3, 10)))
      rest = rest.dropFirst(chunk.count)
      bytes += Array("\(String(chunk.count, radix: 16))\(random.chance(10) ? ";note=x" : "")\r\n".utf8)
      bytes += chunk
      bytes += [13, 10]
    }
    return isMalformed ? bytes + Array("zz\r\n".utf8) : bytes
  }
}

/// A request as a simulated server has parsed it.
struct SimulatedRequest {
  let number: Int
  let method: String
  let isExpecting: Bool
  let offersUpgrade: Bool
  let asksForClose: Bool
}

/// One arrival of a request at a simulated server, and the server's reply. A request that the client replays arrives several times.
final class Attempt {
  let request: SimulatedRequest
  let index: Int
  unowned let stream: SimulatedStream
  /// Whether the request was the first one on its connection.
  let isFirst: Bool
  /// The number of bytes that the client had read from the connection when the request arrived.
  let readCount: Int
  /// Whether the server has received the request completely.
  var isRead = false
  var reply: SimulatedReply?
  /// The number of the reply's bytes that have arrived at the client's socket. The connection may end before all have arrived.
  var arrivedCount = 0

  init(_ request: SimulatedRequest, index: Int, _ stream: SimulatedStream, isFirst: Bool) {
    self.request = request
    self.index = index
    self.stream = stream
    self.isFirst = isFirst
    readCount = stream.readCount
  }

  /// The number of content bytes if the client can regard the response as complete, and otherwise nil.
  var contentCount: Int? {
    guard let reply else { return nil }
    switch reply.framing {
    case .untilClose, .switched:
      return arrivedCount >= reply.headEnd && stream.isAtEnd ? arrivedCount - reply.headEnd : nil
    case .none: return arrivedCount == reply.bytes.count ? 0 : nil
    case .length, .chunked, .ambiguous, .old: return arrivedCount == reply.bytes.count ? reply.bodyCount : nil
    }
  }
}
