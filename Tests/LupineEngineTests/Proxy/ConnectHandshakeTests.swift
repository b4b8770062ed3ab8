// ConnectHandshakeTests: the CONNECT request, and the meaning of proxies' replies, split at every position.

import LupineWire
import Testing

@testable import LupineEngine

@Suite("ConnectHandshake")
struct ConnectHandshakeTests {
  private func handshake(
    _ proxy: String = "http://p:3128", to uri: String = "https://h", limits: Limits = Limits()
  ) throws -> ConnectHandshake {
    try ConnectHandshake(try Proxy(proxy), to: try URI(uri).origin, limits: limits)
  }

  /// Returns the number of bytes of the proxy's reply that the CONNECT handshake consumes, or the handshake's error.
  private func outcome(
    _ reply: String, split: Int = 0, proxy: String = "http://p:3128", limits: Limits = Limits()
  ) throws -> Result<Int, ProxyError> {
    var handshake = try handshake(proxy, limits: limits)
    let bytes = Array(reply.utf8)
    var cursor = 0
    do throws(ProxyError) {
      let first = try handshake.receive(Array(bytes[..<split]).span, at: &cursor)
      if first == .done { return .success(cursor) }
      #expect(first == .needMoreBytes && cursor == split)
      guard try handshake.receive(bytes.span, at: &cursor) == .done else { return .failure(handshake.receiveEnd()) }
      return .success(cursor)
    } catch {
      return .failure(error)
    }
  }

  private func cause(_ reply: String, proxy: String = "http://p:3128", limits: Limits = Limits()) throws
    -> ProxyError.Cause?
  {
    switch try outcome(reply, proxy: proxy, limits: limits) {
    case .success: nil
    case .failure(let error): error.cause
    }
  }

  // MARK: The request

  @Test(
    "the CONNECT request contains the destination with its port, and Host as its only field",
    arguments: [
      ("https://h/secret?path", "h:443"), ("https://h:8443", "h:8443"), ("http://H", "h:80"),
      ("https://[2001:DB8::1]", "[2001:db8::1]:443"), ("https://user:secret@h", "h:443"),
    ])
  func request(uri: String, authority: String) throws {
    let text = String(decoding: try handshake(to: uri).opening, as: UTF8.self)
    #expect(text == "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n")
  }

  @Test("the first CONNECT request already contains the proxy's credentials")
  func credentials() throws {
    let text = String(decoding: try handshake("http://user:pass@p").opening, as: UTF8.self)
    #expect(
      text == "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nProxy-Authorization: Basic dXNlcjpwYXNz\r\n\r\n")
  }

  @Test(
    "the CONNECT request contains the proxy's own authorization and fields, except for those that frame or route it")
  func ownFields() throws {
    var proxy = try Proxy("http://user:pass@p")
    proxy.authorization = "Bearer t0ken"
    proxy.connectFields = [
      "X-Tenant": "a", "Host": "evil", "Content-Length": "5", "transfer-encoding": "chunked",
      "Proxy-Authorization": "x",
      "Proxy-Connection": "close", "x-tenant": "b",
    ]
    let handshake = try ConnectHandshake(proxy, to: try URI("https://h").origin, limits: Limits())
    #expect(
      String(decoding: handshake.opening, as: UTF8.self)
        == "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nProxy-Authorization: Bearer t0ken\r\nX-Tenant: a\r\nx-tenant: b\r\n\r\n"
    )
    #expect(!String(reflecting: proxy).contains("t0ken") && !"\(proxy)".contains("X-Tenant"))
    proxy.connectFields = ["X-Tenant": "a\r\nEvil: 1"]
    let origin = try URI("https://h").origin
    do throws(ProxyError) {
      _ = try ConnectHandshake(proxy, to: origin, limits: Limits())
      Issue.record("the field was serialized")
    } catch {
      #expect(error.description.contains("the CONNECT request is invalid"))
    }
  }

  @Test(
    "a CONNECT destination host that can't occur in a URI causes an error, but no trap",
    arguments: ["a b", "a\r\nEvil: 1", "ä"])
  func impossibleHost(host: String) throws {
    let (proxy, origin) = (try Proxy("http://p"), Origin(scheme: .https, host: host, port: 443))
    do throws(ProxyError) {
      _ = try ConnectHandshake(proxy, to: origin, limits: Limits())
      Issue.record("CONNECT \(host) was serialized")
    } catch {
      #expect(error.description.contains("the CONNECT request is invalid"))
    }
  }

  // MARK: The reply

  @Test(
    "any 2xx response to CONNECT opens the tunnel after its head, even if its fields announce a body",
    arguments: [
      "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200\r\n\r\n",
      "HTTP/1.1 299 X\r\nContent-Length: 5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 204 X\nConnection: close\n\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nVia: x\r\n\r\n",
    ])
  func tunnels(reply: String) throws {
    for split in 0...reply.utf8.count {
      #expect(try outcome(reply + "\u{16}\u{3}\u{1}", split: split) == .success(reply.utf8.count), "split at \(split)")
    }
  }

  @Test(
    "any response to CONNECT other than 2xx and 407 causes an error",
    arguments: [300, 301, 302, 400, 401, 403, 404, 405, 500, 502, 503, 504, 999])
  func refusals(status: Int) throws {
    let reply = "HTTP/1.1 \(status) X\r\nContent-Length: 3\r\nLocation: http://h/\r\n\r\nabc"
    #expect(try cause(reply) == .refused(status: status))
    #expect("\(ProxyError(.refused(status: status), "p"))".contains("\(status)"))
  }

  @Test(
    "the error for a 407 response to CONNECT lists the authentication schemes that the proxy offers",
    arguments: [
      (["Basic realm=\"x\""], ["Basic"]), (["Negotiate"], ["Negotiate"]), ([], []), ([""], []), ([","], []),
      (["Negotiate", "NTLM", "Basic realm=\"a, Digest b\""], ["Negotiate", "NTLM", "Basic"]),
      (["Digest realm=\"x\", qop=\"auth,auth-int\", nonce=abc , algorithm = MD5, Basic realm=y"], ["Digest", "Basic"]),
      (["Digest realm=\"a\\\", Fake b\", BASIC"], ["Digest", "BASIC"]),
      (["Negotiate oRswGaADCg==,Basic"], ["Negotiate", "Basic"]),
      (["Basic realm=\"unfinished, Digest x"], ["Basic"]), (["Basic, Basic"], ["Basic"]),
      (["\"quoted\", Basic"], ["Basic"]),
      (
        [String(repeating: "x", count: 33) + ", " + String(repeating: "y", count: 32)],
        [String(repeating: "y", count: 32)]
      ),
      (["a,b,c,d,e,f,g,h,i,j"], ["a", "b", "c", "d", "e", "f", "g", "h"]),
    ])
  func authentication(fields: [String], schemes: [String]) throws {
    let lines = fields.map { "Proxy-Authenticate: \($0)\r\n" }.joined()
    let reply = "HTTP/1.1 407 X\r\n\(lines)Content-Length: 0\r\n\r\n"
    #expect(try cause(reply) == .credentialsRequired(schemes: schemes, hadCredentials: false))
    #expect(
      try cause(reply, proxy: "http://u:secret@p") == .credentialsRequired(schemes: schemes, hadCredentials: true))
  }

  @Test("if the credentials of the proxy's URL were withheld, a 407 response isn't reported as their refusal")
  func withheldCredentials() throws {
    var handshake = try ConnectHandshake(
      try Proxy("http://u:secret@p"), to: try URI("https://h").origin, authorization: ProxyAuthorization(nil),
      limits: Limits())
    #expect(!String(decoding: handshake.opening, as: UTF8.self).contains("Authorization"))
    let reply = Array("HTTP/1.1 407 X\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n".utf8)
    var cursor = 0
    do throws(ProxyError) {
      let step = try handshake.receive(reply.span, at: &cursor)
      Issue.record("The 407 led to \(step).")
    } catch {
      #expect(error.cause == .credentialsRequired(schemes: ["Basic"], hadCredentials: false))
    }
  }

  @Test("each error about a proxy's credentials states a remedy")
  func authenticationTexts() {
    func text(_ schemes: [String], _ hadCredentials: Bool) -> String {
      "\(ProxyError(.credentialsRequired(schemes: schemes, hadCredentials: hadCredentials), "http://p:1"))"
    }
    #expect(text(["basic"], false).hasPrefix("http://p:1: the proxy requires credentials (407). It offers basic."))
    #expect(text(["Basic"], true).contains("refused the credentials"))
    #expect(text(["Bearer"], false).contains("Enable Basic"))
    #expect(text([], false).contains("names no scheme"))
  }

  // MARK: Several messages

  /// Returns a CONNECT handshake with simulated credentials. They answer each token `n` with `n+1`, and don't trust a 2xx response
  /// without a token.
  private func negotiation() throws -> ConnectHandshake {
    let react: @Sendable (ResponseHead) -> ProxyAuthorization.Reaction = { head in
      let token = head.fields.first("Proxy-Authenticate").flatMap { Int($0.dropFirst(2)) }
      guard head.status == 407 else { return token == nil ? .distrust : .accept }
      return token.map { .send("X \($0 + 1)") } ?? .accept
    }
    let authorization = ProxyAuthorization("X 0") { react }
    return try ConnectHandshake(
      try Proxy("http://u:p@p"), to: try URI("https://h").origin, authorization: authorization, limits: Limits())
  }

  @Test(
    "after a 407 response and its body, split anywhere, the client sends another CONNECT with the next token",
    arguments: ["Content-Length: 4\r\n\r\nevil", "Transfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n"])
  func answered(rest: String) throws {
    let refusal = Array("HTTP/1.1 407 X\r\nProxy-Authenticate: X 1\r\n\(rest)".utf8)
    let next = ProxyStep.send(Array("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nProxy-Authorization: X 2\r\n\r\n".utf8))
    for split in 0..<refusal.count {
      var handshake = try negotiation()
      #expect(String(decoding: handshake.opening, as: UTF8.self).hasSuffix("Proxy-Authorization: X 0\r\n\r\n"))
      var cursor = 0
      #expect(try handshake.receive(Array(refusal[..<split]).span, at: &cursor) == .needMoreBytes)
      #expect(try handshake.receive(refusal.span, at: &cursor) == next && cursor == refusal.count, "split at \(split)")
      cursor = 0
      let granted = Array("HTTP/1.1 200 X\r\nProxy-Authenticate: X 3\r\n\r\n".utf8)
      #expect(try handshake.receive(granted.span, at: &cursor) == .done)
    }
  }

  @Test("every proxy connection starts the authentication anew, even if connections share their credentials")
  func separateStates() throws {
    let authorization = ProxyAuthorization("X 0") {
      var count = 0
      return { _ in
        count += 1
        return .send("X \(count)")
      }
    }
    for _ in 0..<2 {
      var handshake = try ConnectHandshake(
        try Proxy("http://p"), to: try URI("https://h").origin, authorization: authorization, limits: Limits())
      var cursor = 0
      let refusal = Array("HTTP/1.1 407 X\r\nContent-Length: 0\r\n\r\n".utf8)
      guard case .send(let next) = try handshake.receive(refusal.span, at: &cursor) else {
        Issue.record("The 407 wasn't answered.")
        continue
      }
      #expect(String(decoding: next, as: UTF8.self).hasSuffix("Proxy-Authorization: X 1\r\n\r\n"))
    }
  }

  @Test(
    "proxy authentication fails if the proxy closes, repeats tokens, sends a long body or doesn't prove its identity",
    arguments: [
      ("HTTP/1.1 407 X\r\nProxy-Authenticate: X 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 1),
      ("HTTP/1.0 407 X\r\nProxy-Authenticate: X 1\r\nContent-Length: 0\r\n\r\n", 1),
      ("HTTP/1.1 407 X\r\nProxy-Authenticate: X 1\r\nProxy-Connection: close\r\nContent-Length: 0\r\n\r\n", 1),
      ("HTTP/1.1 407 X\r\nProxy-Authenticate: X 1\r\n\r\n", 1),
      ("HTTP/1.1 407 X\r\nProxy-Authenticate: X\r\nContent-Length: 0\r\n\r\n", 1),
      ("HTTP/1.1 407 X\r\nProxy-Authenticate: X 1\r\nContent-Length: 0\r\n\r\n", ConnectHandshake.requestsMax),
      (
        "HTTP/1.1 407 X\r\nProxy-Authenticate: X 1\r\nContent-Length: 100000\r\n\r\n"
          + String(repeating: "x", count: ConnectHandshake.skippedBytesMax + 1), 1
      ),
      ("HTTP/1.1 200 X\r\n\r\n", 1),
    ])
  func negotiationFails(reply: String, count: Int) throws {
    var handshake = try negotiation()
    for number in 1...count {
      var cursor = 0
      do throws(ProxyError) {
        _ = try handshake.receive(Array(reply.utf8).span, at: &cursor)
        #expect(number < count)
      } catch {
        #expect(number == count)
        let isRefusal = error.cause == .credentialsRequired(schemes: ["X"], hadCredentials: true)
        #expect(reply.contains("407") ? isRefusal && error.challenges.count == 1 : error.cause == .identityUnproven)
      }
    }
  }

  @Test("the client skips the body of each 407 response to CONNECT up to a limit, however small the body's pieces are")
  func skippedBodies() throws {
    let limit = ConnectHandshake.skippedBytesMax
    let piece = [UInt8](repeating: 46, count: limit / 4)
    func head(_ length: Int) -> [UInt8] {
      Array("HTTP/1.1 407 X\r\nProxy-Authenticate: X 1\r\nContent-Length: \(length)\r\n\r\n".utf8)
    }
    var handshake = try negotiation()
    for _ in 0..<2 {
      var cursor = 0
      #expect(try handshake.receive(head(limit).span, at: &cursor) == .needMoreBytes)
      for number in 1...4 {
        cursor = 0
        let step = try handshake.receive(piece.span, at: &cursor)
        #expect((step == .needMoreBytes) == (number < 4))
      }
    }
    var refused = try negotiation()
    var cursor = 0
    _ = try refused.receive(head(limit + 1).span, at: &cursor)
    for _ in 1...4 {
      cursor = 0
      #expect(try refused.receive(piece.span, at: &cursor) == .needMoreBytes)
    }
    cursor = 0
    do throws(ProxyError) {
      _ = try refused.receive([46].span, at: &cursor)
      Issue.record("A body beyond the limit was skipped.")
    } catch {
      #expect(error.cause == .credentialsRequired(schemes: ["X"], hadCredentials: true))
    }
  }

  @Test("a CONNECT request fails if the proxy sends more interim responses than the limit")
  func informational() throws {
    var limits = Limits()
    limits.informationalMax = 2
    let interim = "HTTP/1.1 100 Continue\r\n\r\n"
    #expect(try cause(interim + interim + "HTTP/1.1 200 X\r\n\r\n", limits: limits) == nil)
    #expect(try cause(interim + interim + interim, limits: limits) == .wire(.tooManyInformational(limit: 2)))
  }

  @Test("a response to CONNECT that isn't HTTP, or exceeds a limit, causes an error")
  func malformed() throws {
    #expect(try cause("SSH-2.0-OpenSSH\r\n") == .wire(.notHTTP(prefix: "SSH-2.0-OpenSSH")))
    #expect(try cause("\u{5}\u{0}") == .wire(.notHTTP(prefix: "??")))
    #expect(try cause("HTTP/1.1 200 X\r\na b: c\r\n\r\n") == .wire(.spaceBeforeColon(offset: 17)))
    #expect(try cause("HTTP/1.1 101 X\r\n\r\n") == .wire(.unexpectedUpgrade))
    var limits = Limits()
    limits.headBytesMax = 64
    let endless = "HTTP/1.1 200 X\r\nA: " + String(repeating: "x", count: 100)
    #expect(try cause(endless, limits: limits) == .wire(.headTooLarge(limit: 64)))
  }

  @Test("the error for a truncated response to CONNECT states the number of received bytes")
  func truncations() throws {
    let reply = "HTTP/1.1 100 X\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n"
    for length in 0..<reply.utf8.count {
      let bytes = Array(reply.utf8.prefix(length))
      var handshake = try handshake()
      var cursor = 0
      #expect(try handshake.receive(bytes.span, at: &cursor) == .needMoreBytes)
      #expect(handshake.receiveEnd() == ProxyError(.truncated(received: length), "http://p:3128"))
    }
  }
}

@Suite("ProxyHandshake")
struct ProxyHandshakeTests {
  private func opening(_ proxy: String, address: String? = nil) throws -> [UInt8] {
    let origin = try URI("https://h.example").origin
    let handshake = try Proxy(proxy).handshake(to: origin, address: address, limits: Limits())
    return handshake.opening
  }

  @Test("the scheme of the proxy's URL determines the first bytes of the proxy handshake")
  func openings() throws {
    #expect(try opening("http://p").starts(with: "CONNECT h.example:443 ".utf8))
    #expect(try opening("socks5://p") == [5, 1, 0])
    #expect(try opening("socks5h://u:p@p") == [5, 2, 0, 2])
  }

  @Test("a proxy handshake that has already failed reports truncation if its connection then ends")
  func errors() throws {
    for (proxy, reply) in [("http://p", "SSH-"), ("socks5://p", "SSH-")] {
      var handshake = try Proxy(proxy).handshake(to: try URI("https://h").origin, address: nil, limits: Limits())
      var cursor = 0
      let bytes = Array(reply.utf8)
      var wasRefused = false
      do { _ = try handshake.receive(bytes.span, at: &cursor) } catch { wasRefused = true }
      #expect(wasRefused)
      guard case .truncated = handshake.receiveEnd().cause else {
        Issue.record("The cause isn't .truncated.")
        return
      }
    }
  }

  @Test("a SOCKS proxy receives the host's address if the engine resolves the name, and otherwise the name")
  func addresses() throws {
    func request(_ address: String?) throws -> [UInt8]? {
      var handshake = try Proxy("socks5://p").handshake(
        to: try URI("https://h.example").origin, address: address, limits: Limits())
      var cursor = 0
      guard case .send(let bytes) = try handshake.receive([5, 0].span, at: &cursor) else { return nil }
      return bytes
    }
    #expect(try request("10.0.0.1") == [5, 1, 0, 1, 10, 0, 0, 1, 1, 187])
    #expect(try request(nil) == [5, 1, 0, 3, 9] + "h.example".utf8 + [1, 187])
  }
}
