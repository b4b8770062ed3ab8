// SimulatedChain: a front end and a back end that may frame requests differently, as a server for the desync probes.

import LupineOrigin

/// How a server finds the end of a request.
enum RequestFraming {
  /// Refuses each request whose framing is invalid or ambiguous, as a correct server.
  case strict
  /// Uses Transfer-Encoding, and closes the connection after a request that also has Content-Length, as a correct server.
  case chunkedThenClose
  /// Uses Content-Length with any spelling, and ignores Transfer-Encoding.
  case length
  /// Uses any Transfer-Encoding that contains "chunked", and otherwise Content-Length.
  case chunked
  /// Takes a request with Transfer-Encoding for one without a body.
  case neverChunked
  /// Takes each request for one without a body.
  case noBody
  /// Ignores a Content-Length with an invalid spelling.
  case validLength
}

/// One request as a server has framed it.
private struct FramedRequest {
  var bytes: [UInt8]
  var head: String
  var isRefused = false
  var closes = false
}

/// The bytes of a connection, from which a server takes requests.
private struct RequestBuffer {
  let framing: RequestFraming
  var bytes: [UInt8] = []

  /// Removes and returns the next complete request. Returns nil if it is incomplete.
  mutating func next() -> FramedRequest? {
    // Servers skip empty lines before a request.
    bytes = Array(bytes.drop { $0 == 13 || $0 == 10 })
    let end = Array("\r\n\r\n".utf8)
    guard let index = bytes.indices.first(where: { bytes[$0...].starts(with: end) }) else { return nil }
    let head = String(decoding: bytes[..<index], as: UTF8.self)
    var request = FramedRequest(bytes: [], head: head, closes: head.contains("Connection: close"))
    let line = head.split(whereSeparator: \.isNewline).first ?? ""
    guard line.split(separator: " ").count == 3, line.hasSuffix(" HTTP/1.1"), !refuses(head) else {
      (request.isRefused, request.closes) = (true, true)
      bytes = []
      return request
    }
    if framing == .chunkedThenClose, coding(head), length(head) != nil { request.closes = true }
    let rest = bytes[(index + 4)...]
    guard let bodyCount = bodyCount(head, rest), bodyCount <= rest.count else { return nil }
    request.bytes = Array(bytes.prefix(index + 4 + bodyCount))
    bytes.removeFirst(index + 4 + bodyCount)
    return request
  }

  private func lines(_ head: String, named name: String) -> [(name: String, value: String)] {
    head.split(whereSeparator: \.isNewline).dropFirst().compactMap { line in
      let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
      guard parts.count == 2, parts[0].lowercased().trimmed == name else { return nil }
      return (parts[0], parts[1])
    }
  }

  private func coding(_ head: String) -> Bool {
    lines(head, named: "transfer-encoding").contains { $0.value.contains("chunked") }
  }

  /// The last number in the Content-Length lines, or nil without such a line.
  private func length(_ head: String) -> Int? {
    lines(head, named: "content-length").last.map { line in
      let digits = line.value.drop { !$0.isNumber }.prefix { $0.isNumber }
      // A number beyond 64 bits never arrives, so the request stays incomplete.
      return digits.isEmpty ? 0 : Int(digits) ?? .max
    }
  }

  private func hasOddLength(_ head: String) -> Bool {
    let found = lines(head, named: "content-length")
    return found.count > 1
      || found.contains { line in line.name != line.name.trimmed || !line.value.trimmed.allSatisfy(\.isNumber) }
  }

  private func refuses(_ head: String) -> Bool {
    let codings = lines(head, named: "transfer-encoding")
    let isOdd = codings.contains { $0.name != $0.name.trimmed || $0.value != " chunked" }
    switch framing {
    case .strict: return isOdd || hasOddLength(head) || (!codings.isEmpty && length(head) != nil)
    case .chunkedThenClose: return isOdd || hasOddLength(head)
    default: return false
    }
  }

  private func bodyCount(_ head: String, _ rest: ArraySlice<UInt8>) -> Int? {
    switch framing {
    case .noBody: return 0
    case .neverChunked where coding(head): return 0
    case .strict, .chunked, .chunkedThenClose, .validLength:
      if coding(head) { return chunkedCount(Array(rest)) }
      return framing == .validLength && hasOddLength(head) ? 0 : length(head) ?? 0
    case .length, .neverChunked: return length(head) ?? 0
    }
  }

  /// Returns the size of a chunked body without trailers.
  private func chunkedCount(_ bytes: [UInt8]) -> Int? {
    var index = 0
    while let end = bytes[index...].firstIndex(of: 10) {
      // An invalid size, and one beyond the received bytes, means that the request is incomplete.
      let text = String(decoding: bytes[index..<end], as: UTF8.self).trimmed
      guard let size = Int(text, radix: 16), (0...bytes.count).contains(size) else { return nil }
      index = end + 1 + size + 2
      if index > bytes.count { return nil }
      if size == 0 { return index }
    }
    return nil
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}

/// Serves a connection as a front end, which sends each request to a back end on one connection, and takes the back end's next response
/// for the response to it.
enum SimulatedChain {
  static func server(front: RequestFraming, back: RequestFraming) throws -> OriginServer {
    try OriginServer { peer in
      var (front, back) = (RequestBuffer(framing: front), RequestBuffer(framing: back))
      // The requests whose responses the client awaits, and the responses that the back end has sent.
      var (awaited, responses): ([FramedRequest], [(text: String, closes: Bool)]) = ([], [])
      while true {
        let bytes = try peer.receive()
        guard !bytes.isEmpty else { return }
        front.bytes += bytes
        while let request = front.next() {
          if request.isRefused { responses.append((response(to: request), true)) }
          back.bytes += request.bytes
          awaited.append(request)
          while let received = back.next() { responses.append((response(to: received), received.isRefused)) }
          while !awaited.isEmpty, !responses.isEmpty {
            let (response, mustClose) = responses.removeFirst()
            try peer.send(response)
            guard awaited.removeFirst().closes || mustClose else { continue }
            peer.finishSending()
            _ = try peer.awaitClose()
            return
          }
        }
      }
    }
  }

  private static func response(to request: FramedRequest) -> String {
    if request.isRefused { return "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" }
    let isKnown = request.head.split(separator: " ").dropFirst().first == "/"
    return isKnown
      ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" : "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"
  }
}
