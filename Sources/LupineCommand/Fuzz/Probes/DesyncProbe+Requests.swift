// DesyncProbe+Requests: the probes. In their names, the first server of a chain uses the first framing, and the next server the
// second one: CL is Content-Length, TE is Transfer-Encoding, and 0 is no body.

internal import LupineEngine
internal import LupineRandom

extension DesyncProbe {
  /// Spellings of Transfer-Encoding beside Content-Length. A server must refuse the request, or close the connection after the
  /// response (RFC 9112 §6.1, §6.3).
  private static let codings = [
    "Transfer-Encoding: chunked", "Transfer-Encoding : chunked", "Transfer-Encoding: xchunked",
    "Transfer-Encoding:\tchunked", "Transfer-Encoding: \u{B}chunked", "Transfer-Encoding: chunked, identity",
    "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", "X-Lupine: x\nTransfer-Encoding: chunked",
  ]

  /// Spellings of Content-Length that a server must refuse (RFC 9112 §5.1, §6.3), so none may use the number.
  private static let lengths: [@Sendable (Int) -> String] = [
    { "Content-Length : \($0)" }, { "Content-Length: +\($0)" }, { "Content-Length: \($0), 0" },
    { "Content-Length: 0\r\nContent-Length: \($0)" },
  ]

  /// The number of probes in a run.
  static let count = 2 * codings.count + 6 + lengths.count + 3

  /// Returns the probes of a run. `good` is the request without mutations, which asks the server to close the connection.
  /// `marked` creates the marked request for a marker, without a Connection field.
  static func all(_ good: RequestShape, seed: UInt64, marked: (_ marker: String) -> RequestShape) -> [DesyncProbe] {
    var probes: [DesyncProbe] = []
    let last = good.bytes
    let first = good.keepingAlive
    func next() -> (String, RequestShape) {
      let marker = Self.marker(seed, probes.count)
      return (marker, marked(marker))
    }
    func firstRequest(_ fields: String, _ body: [UInt8], method: String? = nil) -> [UInt8] {
      var request = first
      request.method = method ?? (good.method == "GET" ? "POST" : good.method)
      request.remove("Content-Length")
      request.addLine(fields)
      request.body = body
      return request.bytes
    }
    func addBody(
      _ name: String, method: String? = nil, isValid: Bool = false,
      hiding: (_ hidden: [UInt8]) -> (fields: String, body: [UInt8])
    ) {
      let (marker, hidden) = next()
      let (fields, body) = hiding(hidden.bytes)
      let terms = Terms(marker: marker, isValid: isValid, place: "the content of the first request")
      let parts = [firstRequest(fields, body, method: method), last]
      probes.append(DesyncProbe(name: name, parts: parts, expected: [.any, .own], terms: terms))
    }

    for coding in codings {
      addBody("CL.TE: \(coding)") { hidden in
        let body = Array("0\r\n\r\n".utf8) + hidden
        return ("Content-Length: \(body.count)\r\n\(coding)", body)
      }
    }
    for coding in codings {
      addBody("TE.CL: \(coding)") { hidden in
        let (size, body) = hidden.asChunk
        return ("Content-Length: \(size)\r\n\(coding)", body)
      }
    }
    for method in ["POST", "GET", "OPTIONS"] {
      addBody("TE.0: \(method)", method: method, isValid: true) { ("Transfer-Encoding: chunked", $0.asChunk.body) }
    }
    for method in ["POST", "GET", "OPTIONS"] {
      addBody("CL.0: \(method) with content", method: method, isValid: true) { ("Content-Length: \($0.count)", $0) }
    }
    for length in lengths {
      // The last request contains the marked one. A server that uses the length takes the bytes before it for a body.
      let (marker, hidden) = next()
      var ending = good
      (ending.lines, ending.body) = ([], [])
      ending.addLine("X-Lupine: ")
      let prefix = Array(ending.bytes.dropLast(4))
      let spelling = length(prefix.count)
      let terms = Terms(
        marker: marker, isValid: false, showsMarker: true,
        place: "a part of the second request, after an invalid length")
      probes.append(
        DesyncProbe(
          name: "0.CL: \(spelling)", parts: [firstRequest(spelling, []) + prefix + hidden.closing.bytes],
          expected: [.any, .own], terms: terms))
    }
    func addPair(_ name: String, _ expected: [Answer], _ pair: (RequestShape) -> [[UInt8]]) {
      let (marker, shape) = next()
      let terms = Terms(marker: marker, isValid: true)
      probes.append(DesyncProbe(name: name, parts: pair(shape), expected: expected, terms: terms))
    }
    addPair("second request, at once", [.marked, .own]) { [$0.bytes + last] }
    addPair("second request, after the response", [.marked, .own]) { [$0.bytes, last] }
    addPair("second request, at once, in the other order", [.own, .marked]) { [first.bytes + $0.closing.bytes] }
    return probes
  }

  /// Returns the marker of a probe: sixteen hexadecimal digits, which depend on the seed of the run.
  static func marker(_ seed: UInt64, _ number: Int) -> String {
    // Mutated requests have smaller numbers.
    var random = SplitMix64(seed: seed, request: FuzzOptions.countMax + 1 + number)
    return random.next().hexDigits()
  }
}

extension RequestShape {
  /// The request without its Connection field, so that a server keeps the connection open.
  var keepingAlive: RequestShape {
    var copy = self
    copy.remove("Connection")
    return copy
  }

  /// The request with a Connection field that asks the server to close the connection.
  var closing: RequestShape {
    var copy = self
    copy.set("Connection", "close")
    return copy
  }

  /// Returns this request with another method and target, and without a body.
  func replaced(method: String, target: String) -> RequestShape {
    var copy = keepingAlive
    (copy.method, copy.target, copy.body) = (method, target, [])
    copy.remove("Content-Length")
    return copy
  }

  /// Adds a field line with any spelling.
  fileprivate mutating func addLine(_ text: String) { lines.append(Line(name: text, separator: "", value: "")) }
}

extension [UInt8] {
  /// The bytes as a chunked body with one chunk, and the size in bytes of its first line.
  fileprivate var asChunk: (lineByteCount: Int, body: [UInt8]) {
    let line = Array((String(count, radix: 16) + "\r\n").utf8)
    return (line.count, line + self + Array("\r\n0\r\n\r\n".utf8))
  }
}
