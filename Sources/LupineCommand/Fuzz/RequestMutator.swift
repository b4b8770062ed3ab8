// RequestMutator: creates requests that no well-behaved client sends, each determined by a seed and a number.

internal import LupineRandom

/// Creates mutated versions of one valid HTTP request for the fuzzer.
struct RequestMutator {
  /// A kind of mutation, which changes one part of an HTTP request.
  struct Mutation: Sendable {
    let name: String
    /// Whether a server may wait for further bytes of the mutated request, because the request looks incomplete.
    var leavesOpen = false
    let apply: @Sendable (inout RequestShape, inout SplitMix64) -> Void
  }

  let good: RequestShape
  let seed: UInt64
  /// Requests that are mutated instead of `good`, if there are any.
  var corpus: [CorpusRequest] = []

  private static let all = Mutation.ofRequestLine + Mutation.ofFields + Mutation.ofFraming

  /// Returns the mutated request with this number. One to three mutations change its request line, fields or framing. In a quarter
  /// of the requests, another mutation changes the serialized bytes. Number 0 is the request without mutations. With a corpus, the
  /// first numbers are its requests without mutations, and the others mutate one of these.
  func request(_ number: Int) -> MutatedRequest {
    guard number > 0 else {
      return MutatedRequest(number: 0, bytes: good.bytes, mutations: [], mayBeUnfinished: false)
    }
    if number <= corpus.count {
      let request = corpus[number - 1]
      return MutatedRequest(number: number, bytes: request.bytes, mutations: ["\(request.name) of the corpus"])
    }
    var random = SplitMix64(seed: seed, request: number)
    let start = corpus.isEmpty ? nil : random.pick(corpus)
    if let start, start.shape == nil { return damaged(start, number, &random) }
    var shape = start?.shape ?? good
    var names: [String] = []
    var leavesOpen = false
    for _ in 0..<random.pick([1, 1, 1, 2, 2, 3]) {
      let mutation = random.pick(Self.all)
      mutation.apply(&shape, &random)
      names.append(mutation.name)
      leavesOpen = leavesOpen || mutation.leavesOpen
    }
    var bytes = shape.bytes
    if random.number(0...3) == 0 { names.append(Self.damage(&bytes, &random)) }
    return MutatedRequest(number: number, bytes: bytes, mutations: names, leavesOpen: leavesOpen)
  }

  /// Returns a request of the corpus whose bytes are changed one to three times.
  private func damaged(_ start: CorpusRequest, _ number: Int, _ random: inout SplitMix64) -> MutatedRequest {
    var bytes = start.bytes
    var names: [String] = []
    for _ in 0..<random.pick([1, 1, 1, 2, 2, 3]) { names.append(Self.damage(&bytes, &random)) }
    return MutatedRequest(number: number, bytes: bytes, mutations: names)
  }

  private static func damage(_ bytes: inout [UInt8], _ random: inout SplitMix64) -> String {
    let index = random.number(0...bytes.count - 1)
    let end = min(bytes.count, index + random.number(1...16))
    switch random.number(0...4) {
    case 0:
      bytes[index] ^= 1 << UInt8(random.number(0...7))
      return "a flipped bit"
    case 1:
      bytes[index] = random.pick(Array("\r\n\t\0 :;,\u{7F}".utf8) + [0x80, 0xFF])
      return "a changed byte"
    case 2 where bytes.count > end - index:
      bytes.removeSubrange(index..<end)
      return "bytes removed"
    case 3:
      bytes.insert(contentsOf: bytes[index..<end], at: index)
      return "bytes repeated"
    default:
      bytes.removeSubrange(min(max(index, 1), bytes.count)...)
      return "truncated"
    }
  }
}

extension RequestMutator.Mutation {
  static let ofRequestLine: [Self] = [
    Self(name: "a method in lowercase") { shape, _ in shape.method = shape.method.lowercased() },
    Self(name: "a method of 8,000 letters") { shape, _ in shape.method = String(repeating: "M", count: 8_000) },
    Self(name: "a control character in the method") { shape, _ in shape.method += "\u{1}" },
    Self(name: "no method") { shape, _ in shape.method = "" },
    Self(name: "a different method") { shape, random in
      shape.method = random.pick(["HEAD", "OPTIONS", "TRACE", "DELETE", "BREW", "G!#$%&'*+-.^_`|~T"])
    },
    Self(name: "the target in absolute form") { shape, random in
      let scheme = random.pick(["http", "https", "ftp", "HTTP"])
      shape.target = "\(scheme)://\(random.pick([shape.first("Host") ?? "", "other.test", "", "a@b"]))\(shape.target)"
    },
    Self(name: "a target of 20,000 bytes") { shape, _ in shape.target += String(repeating: "/long", count: 4_000) },
    Self(name: "a control character in the target") { shape, random in
      shape.target += random.pick(["\0", "\u{1}", "\u{7F}", "\u{B}", "\r", "\t"])
    },
    Self(name: "bytes above ASCII in the target") { shape, random in
      shape.target += random.pick(["\u{FF}", "\u{C3}\u{A9}", "\u{C0}\u{AF}", "\u{ED}\u{A0}\u{80}"])
    },
    Self(name: "dot segments") { shape, random in
      shape.target += random.pick(["/../../..", "/%2e%2e/%2E./x", "/..%2f..%5c", "/./.", "/%252e%252e/"])
    },
    Self(name: "an odd escape in the target") { shape, random in
      shape.target += random.pick(["%00", "%", "%4", "%zz", "%u0041", "%0d%0aX: y"])
    },
    Self(name: "an invalid target") { shape, random in
      shape.target = random.pick(["", "*", "x", "?", "#", "//", "///", "\\", "/#a", "@", ":80"])
    },
    Self(name: "a different version") { shape, random in
      shape.version = random.pick([
        "HTTP/1.0", "HTTP/1.9", "HTTP/2.0", "HTTP/0.9", "HTTP/1.1x", "HTTP/1.1 x", "http/1.1", "HTTP/01.1", "HTTP/1.",
        "HTTP/1", "HTTP/", "HTTP/1.99999999999", "HTP/1.1",
      ])
    },
    Self(name: "no version") { shape, _ in shape.version = "" },
    Self(name: "different white space in the request line") { shape, random in
      shape.space = random.pick(["  ", "\t", " \t ", "\u{B}", "\u{A0}"])
    },
    Self(name: "empty lines before the request") { shape, random in
      shape.front = Array(String(repeating: random.pick(["\r\n", "\n"]), count: random.pick([1, 2, 500])).utf8)
    },
    Self(name: "different line ends") { shape, random in shape.lineEnd = random.pick(["\n", "\r", "\r\r\n", "\n\r"]) },
  ]

  static let ofFields: [Self] = [
    Self(name: "white space before a colon") { shape, random in
      change(&shape, &random) { $0.separator = " : " }
    },
    Self(name: "a folded field") { shape, random in change(&shape, &random) { $0.value += "\r\n\t folded" } },
    Self(name: "a field without a colon") { shape, _ in
      shape.lines.append(RequestShape.Line(name: "No-Colon", separator: "", value: ""))
    },
    Self(name: "a field without a name") { shape, _ in shape.add("", "x") },
    Self(name: "an odd byte in a field's name") { shape, random in
      let odd = random.pick(["\0", " ", "\u{E9}", "\"", "(", "\u{7F}", "@"])
      shape.add("X\(odd)Y", "x")
    },
    Self(name: "a control character in a value") { shape, random in
      let odd = random.pick(["\0", "\r", "\u{1}", "\u{7F}", "\u{B}"])
      shape.add("X-Odd", "a\(odd)b")
    },
    Self(name: "a field of 100,000 bytes") { shape, _ in
      shape.add("X-Long", String(repeating: "l", count: 100_000))
    },
    Self(name: "1,000 fields") { shape, _ in
      for index in 0..<1_000 { shape.add("X-\(index)", "x") }
    },
    Self(name: "no Host") { shape, _ in shape.remove("Host") },
    Self(name: "two Hosts") { shape, _ in shape.add("Host", "other.test") },
    Self(name: "an invalid Host") { shape, random in
      shape.set("Host", random.pick(["", "a b", "a/b", "[::", "a:99999", "a,b", "\u{FF}", "a@b", "..", "%00"]))
    },
    Self(name: "a repeated field") { shape, random in
      guard !shape.lines.isEmpty else { return }
      let line = random.pick(shape.lines)
      shape.lines += Array(repeating: line, count: random.number(1...50))
    },
    Self(name: "an odd value of a known field") { shape, random in
      let name = random.pick([
        "Range", "If-Modified-Since", "Accept-Encoding", "Cookie", "Connection", "Expect", "Authorization", "Accept",
        "TE",
        "If-None-Match", "Content-Type", "Upgrade", "Trailer", "Max-Forwards",
      ])
      let value = random.pick([
        "", ",", ",,,,", "bytes=0-,-1,5-2", "bytes=\(String(repeating: "0-0,", count: 2_000))", "\"", "\\", ";;=;",
        "Basic", "Basic ====", "close, keep-alive", "100-continue, x", "gzip;q=9999999999", "*;q=-1", "lupine/0",
        "Sun, 99 Nov 9999 99:99:99 GMT", "-1", "\u{FF}\u{FE}", "multipart/form-data; boundary=",
      ])
      shape.set(name, value)
    },
  ]

  /// Calls `body` with a field line of the request, chosen at random, and stores the changed line.
  private static func change(
    _ shape: inout RequestShape, _ random: inout SplitMix64, _ body: (inout RequestShape.Line) -> Void
  ) {
    guard !shape.lines.isEmpty else { return }
    body(&shape.lines[random.number(0...shape.lines.count - 1)])
  }
}

extension SplitMix64 {
  /// Creates the random number generator for the fuzzer's request `number`, so that the request can be repeated without creating
  /// the earlier requests.
  init(seed: UInt64, request number: Int) {
    var first = SplitMix64(seed: seed)
    self.init(seed: first.next() ^ (UInt64(number) &* 0xD6E8_FEB8_6659_FD93))
  }
}
