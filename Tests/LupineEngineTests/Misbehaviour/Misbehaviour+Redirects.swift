// Misbehaviour+Redirects: servers that misuse redirects, by the target, the fields or the content that they send.

import LupineCoding
import LupineEngine
import LupineOrigin
import Testing

/// A redirect between two servers, "here" and "there", with its expected outcome. The first request asks "here" for "/main".
struct Detour: Sendable, CustomTestStringConvertible {
  enum Outcome: Sendable {
    /// The client follows the redirects. The string is the body of the final response, which describes the last request.
    case arrives(String)
    /// The request fails with this error code, and the error's description contains `quote`.
    case fails(EngineError.Code, quote: String)
  }

  let name: String
  /// Whether the server "here" uses TLS. The server "there" never uses TLS.
  var isSecure = false
  let outcome: Outcome
  var prepare: @Sendable (inout EngineRequest) -> Void = { _ in }
  /// Runs on the server after it has sent a redirect.
  var then: @Sendable (Peer) throws -> Void = { _ in }
  /// Returns the head of the redirect that answers a request, or nil to answer with a description of the request.
  ///
  /// In the head, `{here}` and `{there}` are replaced by the servers' URLs, and `{port}` by the port of "there".
  let redirect: @Sendable (ReceivedRequest) -> String?

  var testDescription: String { name }
}

extension Detour {
  static let all = refused + loops + bent + origins + methods + bodies

  private static func head(_ location: String, status: Int = 302) -> String {
    "HTTP/1.1 \(status) X\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
  }

  /// Returns a test case in which the server redirects "/main" to `location`, and no other path.
  private static func to(
    _ name: String, _ location: String, status: Int = 302, _ outcome: Outcome,
    _ prepare: @escaping @Sendable (inout EngineRequest) -> Void = { _ in }
  ) -> Detour {
    Detour(
      name: name, outcome: outcome, prepare: prepare,
      redirect: { $0.target == "/main" ? head(location, status: status) : nil })
  }

  private static func refused(_ name: String, _ location: String, quote: String) -> Detour {
    to(name, location, .fails(.malformedResponse, quote: quote))
  }

  private static let refused: [Detour] = [
    refused("to file:", "file:///etc/passwd", quote: "\"file\""),
    refused("to ftp:", "ftp://127.0.0.1/", quote: "\"ftp\""),
    refused("to javascript:", "javascript:alert(1)", quote: "\"javascript\""),
    refused("to a host with a space", "http://a b/", quote: "a b"),
    refused("to a host after a backslash", #"http://a\@b/"#, quote: "host"),
    refused("to port 65536", "http://127.0.0.1:65536/", quote: "65536"),
    refused("to a Location with a tab", "/a\tb", quote: "9"),
    refused("to a Location with a NUL", "/a\0b", quote: "0x00"),
    refused("to a Location with an escape sequence", "/\u{1B}[2J", quote: "0x1B"),
    refused("to a Location with a bare CR", "/a\rEvil: 1", quote: "0x0D"),
    refused("to a host with terminal control characters", "http://a\u{9B}2J\u{2028}/", quote: "host"),
    refused("to a Location of 70,000 bytes", "/" + String(repeating: "a", count: 70_000), quote: "65536 bytes"),
    Detour(name: "from https to http", isSecure: true, outcome: .fails(.redirectRefused, quote: "https to http")) {
      $0.target == "/main" ? head("{there}/a") : nil
    },
    to("to a port without a listener", "http://127.0.0.1:1/", .fails(.connectionRefused, quote: "no server listens")),
  ]

  private static let loops: [Detour] = [
    Detour(name: "to itself", outcome: .fails(.tooManyRedirects, quote: "20 times")) {
      $0.target == "/main" ? head("/main") : nil
    },
    Detour(name: "to an empty Location", outcome: .fails(.tooManyRedirects, quote: "20 times")) {
      $0.target == "/main" ? head("") : nil
    },
    Detour(name: "back and forth between two servers", outcome: .fails(.tooManyRedirects, quote: "20 times")) {
      $0.target == "/main" ? head("{there}/back") : $0.path == "/back" ? head("{here}/main") : nil
    },
    Detour(name: "21 times", outcome: .fails(.tooManyRedirects, quote: "20 times")) { hop($0, countMax: 21) },
    Detour(name: "20 times", outcome: .arrives("here: GET /20")) { hop($0, countMax: 20) },
  ]

  /// Returns a redirect from "/main" to "/1", from "/1" to "/2" and so on, or nil after `countMax` redirects.
  private static func hop(_ request: ReceivedRequest, countMax: Int) -> String? {
    let count = request.path == "/main" ? 0 : Int(request.path.dropFirst()) ?? countMax
    return count < countMax ? head("/\(count + 1)") : nil
  }

  private static let bent: [Detour] = [
    Detour(name: "without a Location", outcome: .arrives("")) {
      $0.target == "/main" ? "HTTP/1.1 302 X\r\nContent-Length: 0\r\n\r\n" : nil
    },
    to("with two Locations", "/a\r\nLocation: /b", .arrives("here: GET /a")),
    to("with a line end in its Location", "/a\r\nSet-Cookie: evil=1", .arrives("here: GET /a")),
    to("to a Location that is only a query", "?a=b", .arrives("here: GET /main?a=b")),
    to("to a path with dot segments", "../../a/./b/../c", .arrives("here: GET /a/c")),
    to("to a Location with unescaped characters", "/ä b", .arrives("here: GET /%C3%A4%20b")),
    to("to //host", "//127.0.0.1:{port}/a", .arrives("there: GET /a")),
  ]

  private static func bringSecrets(_ request: inout EngineRequest) {
    request.fields = ["Authorization": "a", "Cookie": "c", "Proxy-Authorization": "p", "X-Own": "x"]
  }

  private static let origins: [Detour] = [
    // Only proxies receive Proxy-Authorization, so the client doesn't send it even to the first server.
    to("with secrets to the same server", "/a", .arrives("here: GET /a, Authorization, Cookie, X-Own"), bringSecrets),
    to("with secrets to another server", "{there}/a", .arrives("there: GET /a, X-Own"), bringSecrets),
    Detour(
      name: "with secrets to another server and back", outcome: .arrives("here: GET /b, X-Own"), prepare: bringSecrets,
      redirect: { $0.target == "/main" ? head("{there}/a") : $0.target == "/a" ? head("{here}/b") : nil }),
    to("to a URL with a user and password", "http://me:pw@127.0.0.1:{port}/a", .arrives("there: GET /a")),
    Detour(
      name: "to another server despite the caller's Host", outcome: .arrives("there: GET /a"),
      prepare: { $0.fields = ["Host": "made-up.example"] },
      redirect: { $0.fields.first("Host") == "made-up.example" ? head("{there}/a") : nil }),
    to("with a fragment", "/a", .arrives("here: GET /a#of-the-caller"), addFragment),
    to("to a fragment", "/a#of-the-server", .arrives("here: GET /a#of-the-server"), addFragment),
  ]

  private static func addFragment(_ request: inout EngineRequest) {
    do {
      request.uri = try URI("\(request.uri)#of-the-caller")
    } catch {
      preconditionFailure("A fragment can't be added to a URI: \(error)")
    }
  }

  private static let methods: [Detour] =
    [301, 302, 303].map { status in
      to("with \(status) in answer to POST", "/a", status: status, .arrives("here: GET /a")) {
        $0.carry("POST", RequestBody("content"))
      }
    }
    + [307, 308].map { status in
      to("with \(status) in answer to POST", "{there}/a", status: status, .arrives("there: POST /a, content")) {
        $0.carry("POST", RequestBody("content"))
      }
    } + [
      to("with 303 in answer to PUT", "/a", status: 303, .arrives("here: GET /a")) {
        $0.carry("PUT", RequestBody("x"))
      },
      to("with 303 in answer to HEAD", "/a", status: 303, .arrives("")) { $0.method = "HEAD" },
      to("with 304 and a Location", "/a", status: 304, .arrives("")),
      to("with 307 and a body that can't be sent again", "/a", status: 307, .fails(.bodyNotReplayable, quote: "again"))
      {
        $0.carry("POST", RequestBody { try await $0.write([1]) })
      },
    ]

  /// Returns a test case in which the redirect to "/a" has these additional fields and this body.
  private static func carrying(
    _ name: String, _ rest: String, then: @escaping @Sendable (Peer) throws -> Void = { _ in }
  ) -> Detour {
    Detour(
      name: name, outcome: .arrives("here: GET /a"), then: then,
      redirect: { $0.target == "/main" ? "HTTP/1.1 302 X\r\nLocation: /a\r\n\(rest)" : nil })
  }

  private static let bodies: [Detour] = [
    carrying("with a body", "Content-Length: 2\r\n\r\nno"),
    carrying("with a truncated body", "Content-Length: 9\r\n\r\nno") { $0.close() },
    carrying("with a reset within its body", "Content-Length: 9\r\n\r\nno") { $0.reset() },
    carrying("with malformed chunks", "Transfer-Encoding: chunked\r\n\r\nno\r\n"),
    carrying(
      "with a second response after it", "Content-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"),
    carrying("with an unknown content coding", "Content-Encoding: lz4\r\nContent-Length: 2\r\n\r\nno"),
    carrying("with a body that never arrives", "Content-Length: 9\r\n\r\n") { _ = try $0.awaitClose() },
    carrying("with an endless body", "Transfer-Encoding: chunked\r\n\r\n") { peer in
      while true { try peer.chunk([UInt8](repeating: 0, count: 65_536)) }
    },
    carrying("with a gzip bomb", "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n") { peer in
      try peer.chunk(bomb)
      try peer.endChunked()
    },
    carrying("with a body that ends by closing", "\r\nno") { $0.close() },
    carrying("that announces close but keeps the connection open", "Connection: close\r\nContent-Length: 0\r\n\r\n"),
  ]

  /// A decompression bomb: 50 MB of zeros, compressed by gzip to about 50 KB.
  private static let bomb = Misbehaviour.encode([UInt8](repeating: 0, count: 50_000_000), .gzip)
}
