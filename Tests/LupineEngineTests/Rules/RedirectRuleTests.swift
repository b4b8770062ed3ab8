// RedirectRuleTests: the request that follows a redirect, and the redirects that aren't followed.

import LupineWire
import Testing

@testable import LupineEngine

@Suite("RedirectRule")
struct RedirectRuleTests {
  private func request(_ uri: String, method: String = "GET", fields: [(String, String)] = []) throws -> EngineRequest {
    var all = Fields()
    for (name, value) in fields { all.append(name: name, value: value) }
    return EngineRequest(method: method, uri: try URI(uri), fields: all)
  }

  /// Returns the URI that the client requests after a redirect from `uri` with this Location field.
  private func target(_ location: String, from uri: String, rule: RedirectRule = RedirectRule()) throws -> URI? {
    try rule.next(after: try .redirect(302, to: location), to: try request(uri), count: 0)?.uri
  }

  // MARK: Method and body

  @Test(
    "a redirect's status code determines the method of the next request",
    arguments: [
      (301, ["GET", "HEAD", "GET", "PUT", "DELETE", "QUERY"]), (302, ["GET", "HEAD", "GET", "PUT", "DELETE", "QUERY"]),
      (303, ["GET", "HEAD", "GET", "GET", "GET", "GET"]), (307, ["GET", "HEAD", "POST", "PUT", "DELETE", "QUERY"]),
      (308, ["GET", "HEAD", "POST", "PUT", "DELETE", "QUERY"]),
    ])
  func method(status: Int, expected: [String]) throws {
    for (method, expected) in zip(["GET", "HEAD", "POST", "PUT", "DELETE", "QUERY"], expected) {
      var first = try request(
        "http://a/", method: method,
        fields: [
          ("Accept", "x"), ("Content-Type", "text/plain"), ("content-encoding", "gzip"), ("Content-Language", "en"),
          ("Content-Location", "/x"), ("Content-Length", "5"), ("Digest", "x"), ("Last-Modified", "x"),
          ("Expect", "100-continue"), ("content-digest", "sha-256=:x:"), ("Repr-Digest", "x"), ("Content-MD5", "x"),
        ])
      first.body = RequestBody("hello")
      let next = try #require(
        try RedirectRule().next(after: try .redirect(status, to: "/b"), to: first, count: 0), "\(status) \(method)")
      #expect(next.method == expected, "\(status) \(method)")
      let keepsBody = method == expected
      #expect(next.body.byteCount == (keepsBody ? 5 : 0), "\(status) \(method)")
      #expect(next.fields.map(\.name) == (keepsBody ? first.fields.map(\.name) : ["Accept"]), "\(status) \(method)")
    }
  }

  @Test("after a 307, the redirected request keeps the fields, the time limits and the other settings of the request")
  func keeps() throws {
    var first = try request("http://a/", method: "POST", fields: [("A", "1"), ("Authorization", "x"), ("Host", "h")])
    first.timeouts.total = .seconds(7)
    first.decodesContent = false
    first.bodyBytesMax = 99
    let next = try #require(try RedirectRule().next(after: try .redirect(307, to: "/b"), to: first, count: 0))
    #expect(next.fields == first.fields)
    #expect(next.timeouts == first.timeouts)
    #expect(!next.decodesContent)
    #expect(next.bodyBytesMax == 99)
  }

  @Test(
    "after a redirect, the client certificate is presented only to the first origin, or to https on the same host",
    arguments: [
      ("https://a/", "/b", true), ("https://a/", "https://A:443/b", true), ("http://a:8080/", "https://a/", true),
      ("https://a/", "https://b/", false), ("https://a/", "https://a:444/", false), ("http://a/", "https://b/", false),
      ("http://a/", "http://a:8080/", false), ("http+unix://%2Fa/", "https://localhost/", false),
    ])
  func identity(from: String, to: String, isPresented: Bool) throws {
    let head = try ResponseHead.redirect(302, to: to)
    var first = try request(from)
    #expect(first.presentsIdentity)
    #expect(try RedirectRule().next(after: head, to: first, count: 0)?.presentsIdentity == isPresented)
    // If the client certificate was withheld once, it isn't presented later in the chain of redirects.
    first.presentsIdentity = false
    #expect(try RedirectRule().next(after: head, to: first, count: 0)?.presentsIdentity == false)
  }

  @Test("a redirect to another origin removes the request's choice of a client certificate")
  func choices() throws {
    for (location, stays) in [("/b", true), ("http://A:80/b", true), ("http://b/", false), ("https://a/", false)] {
      var first = try request("http://a/")
      first.identityChoice = .anonymous
      // Only the request that was redirected needs an authenticated connection.
      first.connectionDemand = ConnectionDemand(group: 7)
      let next = try #require(try RedirectRule().next(after: try .redirect(302, to: location), to: first, count: 0))
      #expect((next.identityChoice != nil) == stays, "\(location)")
      #expect(next.connectionDemand == nil, "\(location)")
    }
    let socket = Origin(scheme: .https, socketPath: "/a")
    #expect(!RedirectRule.keepsIdentity(from: Origin(scheme: .http, host: "localhost", port: 80), to: socket))
  }

  @Test("a POST stays a POST with its body after 301 or 302 only if the rule says so", arguments: [301, 302, 303])
  func keptPost(status: Int) throws {
    for (after301, after302) in [(false, false), (true, false), (false, true), (true, true)] {
      var rule = RedirectRule()
      (rule.keepsPostAfter301, rule.keepsPostAfter302) = (after301, after302)
      var first = try request("http://a/")
      (first.method, first.body) = ("POST", RequestBody("text"))
      let next = try #require(try rule.next(after: try .redirect(status, to: "/b"), to: first, count: 0))
      let isKept = status == 301 ? after301 : status == 302 && after302
      #expect(next.method == (isKept ? "POST" : "GET") && next.body.byteCount == (isKept ? 4 : 0))
    }
  }

  // MARK: Responses that aren't redirects

  @Test(
    "the client doesn't follow a response with a status other than 301, 302, 303, 307 or 308 as a redirect",
    arguments: [200, 201, 300, 304, 305, 306, 309, 400, 999])
  func notRedirects(status: Int) throws {
    #expect(
      try RedirectRule().next(after: try .redirect(status, to: "/b"), to: try request("http://a/"), count: 0) == nil)
  }

  @Test(
    "the client doesn't follow a redirect without Location, and reports no error even at the limit of redirects",
    arguments: [301, 302, 303, 307, 308])
  func missingLocation(status: Int) throws {
    let head = try ResponseHead.redirect(status, to: nil)
    #expect(try RedirectRule().next(after: head, to: try request("http://a/"), count: 0) == nil)
    #expect(try RedirectRule().next(after: head, to: try request("http://a/"), count: 20) == nil)
  }

  @Test("the client follows redirects up to their limit", arguments: [0, 1, 20])
  func limit(countMax: Int) throws {
    var rule = RedirectRule()
    #expect(rule.countMax == 20)
    rule.countMax = countMax
    let (head, request) = (try ResponseHead.redirect(302, to: "/b"), try request("http://a/"))
    for count in 0..<countMax { #expect(try rule.next(after: head, to: request, count: count) != nil) }
    let error = #expect(throws: EngineError.self) { try rule.next(after: head, to: request, count: countMax) }
    #expect(error?.code == .tooManyRedirects)
    #expect(error?.progress == .responseBegan)
    #expect(error?.description.contains("more than \(countMax) times") == true)
  }

  // MARK: Targets

  @Test(
    "the client resolves the Location field against the URI of the request",
    arguments: [
      ("http://a/x/y?q", "/b", "http://a/b"), ("http://a/x/y?q", "b", "http://a/x/b"),
      ("http://a/x/y?q", "../b", "http://a/b"), ("http://a/x/y?q", "?r", "http://a/x/y?r"),
      ("http://a/x/y?q", "//b/c", "http://b/c"), ("https://a/", "//b:8443/c", "https://b:8443/c"),
      ("http://a:81/", "/b", "http://a:81/b"), ("http://a/", "https://b/c?d", "https://b/c?d"),
      ("http://a/", "http://B", "http://b/"), ("http://a/", "http://[::1]:8080/", "http://[::1]:8080/"),
      ("http://a/", "/b c", "http://a/b%20c"), ("http://a/", "/bé", "http://a/b%C3%A9"),
      // A Location without a fragment inherits the request's (RFC 9110 §10.2.2).
      ("http://a/#f", "/b", "http://a/b#f"), ("http://a/#f", "http://b/", "http://b/#f"),
      ("http://a/#f", "//b/", "http://b/#f"), ("http://a/#f", "/b#g", "http://a/b#g"),
      ("http://a/#f", "http://b/#g", "http://b/#g"), ("http://a/#f", "/b#", "http://a/b#"),
    ])
  func targets(_ uri: String, _ location: String, _ expected: String) throws {
    #expect(try target(location, from: uri)?.description == expected)
  }

  @Test(
    "the client percent-encodes the bytes of a Location that isn't UTF-8, so that the server receives the same bytes",
    arguments: [
      ("/caf\u{E9}?\u{FF}", "http://a/caf%E9?%FF"), ("/\u{C3}", "http://a/%C3"),
      ("http://b/%20\u{80}", "http://b/%20%80"), ("/\u{C3}\u{A9}", "http://a/%C3%A9"),
    ])
  func otherCharset(location: String, expected: String) throws {
    // Each character stands for one byte.
    let head = try ResponseHead.redirect(toBytes: location.unicodeScalars.map { UInt8($0.value) })
    #expect(try RedirectRule().next(after: head, to: try request("http://a/"), count: 0)?.uri.description == expected)
  }

  @Test("the client refuses a redirect to a host whose name isn't UTF-8")
  func hostInOtherCharset() throws {
    let head = try ResponseHead.redirect(toBytes: Array("http://caf".utf8) + [0xE9] + Array("/".utf8))
    let error = #expect(throws: EngineError.self) {
      try RedirectRule().next(after: head, to: try request("http://a/"), count: 0)
    }
    #expect(error?.code == .malformedResponse)
  }

  @Test("the client doesn't send credentials that a redirect's Location field contains")
  func userInfo() throws {
    let next = try RedirectRule().next(
      after: try .redirect(302, to: "http://user:secret@b/"), to: try request("http://a/"), count: 0)
    #expect(next?.uri.userInfo == nil)
    #expect(next?.head?.fields.map(\.name) == ["Host"])
  }

  @Test(
    "a redirect whose Location can't be requested causes an error",
    arguments: [
      ("/a\tb", URIError.forbiddenByte(0x09)), ("ftp://b/", .unsupportedScheme("ftp")),
      ("javascript:alert(1)", .unsupportedScheme("javascript")), ("file:///etc/passwd", .unsupportedScheme("file")),
      ("http://", .malformedHost("")), ("http://b:0/", .malformedPort("0")),
      ("http://b:99999/", .malformedPort("99999")),
      ("http://b c/", .malformedHost("b c")), ("//", .malformedHost("")), (#"http://a\@b/"#, .malformedHost(#"a\@b"#)),
    ])
  func unusable(location: String, cause: URIError) throws {
    let error = #expect(throws: EngineError.self) { try target(location, from: "http://a/") }
    #expect(error?.code == .malformedResponse)
    guard case .uri(cause) = error?.cause else {
      Issue.record("\(String(describing: error?.cause))")
      return
    }
  }

  @Test(
    "the parser refuses a head whose Location field contains a control character other than HTAB",
    arguments: [0x00, 0x01, 0x0B, 0x1B, 0x7F] as [UInt8])
  func controlBytes(byte: UInt8) {
    #expect(throws: WireError.self) { try ResponseHead.redirect(302, to: "/a\(Character(Unicode.Scalar(byte)))b") }
  }

  // MARK: Origins

  private let secrets = [
    "Authorization", "cookie", "Cookie2", "HOST", "proxy-authenticate", "Proxy-Authorization", "Www-Authenticate",
  ]

  @Test(
    "after a redirect to another origin, the client doesn't send fields such as Authorization and Cookie",
    arguments: [
      ("http://b/", true), ("http://a:81/", true), ("https://a/", true), ("http://sub.a/", true), ("//b/", true),
      ("/x", false), ("http://a/x", false), ("http://A:80/", false), ("//a/", false),
    ])
  func secrets(location: String, isDropped: Bool) throws {
    let fields = secrets.flatMap { [($0, "1"), ($0, "2")] } + [("Accept", "x")]
    let next = try #require(
      try RedirectRule().next(
        after: try .redirect(302, to: location), to: try request("http://a/", fields: fields), count: 0))
    #expect(next.fields.map(\.name) == (isDropped ? ["Accept"] : fields.map(\.0)))
    #expect(next.head?.fields.first("Host") == (isDropped ? next.uri.origin.authority : "1"))
  }

  @Test("when a redirect to another origin removes fields, the client compares field names case-insensitively")
  func boundToOrigin() {
    var rule = RedirectRule()
    for name in secrets {
      for spelling in [name, name.lowercased(), name.uppercased()] {
        #expect(rule.isBoundToOrigin(spelling), "\(spelling)")
      }
    }
    for name in ["Accept", "X-Authorization", "X-Api-Key", ""] { #expect(!rule.isBoundToOrigin(name), "\(name)") }
    rule.secretFields = ["X-Api-Key"]
    for name in ["x-api-key", "X-API-KEY", "Cookie"] { #expect(rule.isBoundToOrigin(name), "\(name)") }
    #expect(!rule.isBoundToOrigin("Accept"))
  }

  @Test(
    "a redirect to another origin removes the fields named in secretFields, and a redirect back doesn't restore them")
  func secretFields() throws {
    var rule = RedirectRule()
    rule.secretFields = ["x-api-KEY", "X-Absent"]
    var next = try request("http://a/", fields: [("X-Api-Key", "1"), ("Accept", "x"), ("X-API-Key", "2")])
    let expected = [["X-Api-Key", "Accept", "X-API-Key"], ["Accept"], ["Accept"]]
    for (count, location) in ["/1", "http://b/2", "http://a/3"].enumerated() {
      next = try #require(try rule.next(after: try .redirect(307, to: location), to: next, count: count))
      #expect(next.fields.map(\.name) == expected[count], "\(location)")
    }
  }

  @Test("a redirect to another origin removes the credentials of the URI, and a redirect back doesn't restore them")
  func wayBack() throws {
    var next = try request("http://user:secret@a/", fields: [("Cookie", "c")])
    #expect(next.fields.map(\.name) == ["Cookie", "Authorization"])
    for (count, location) in ["/1", "http://b/2", "http://a/3"].enumerated() {
      next = try #require(try RedirectRule().next(after: try .redirect(302, to: location), to: next, count: count))
      #expect(next.fields.isEmpty == (count > 0))
      #expect(next.uri.userInfo == nil)
    }
    #expect(next.uri.description == "http://a/3")
    #expect(next.head?.fields.map(\.name) == ["Host"])
  }

  @Test("the client refuses a redirect from https to http unless the caller allows such redirects")
  func downgrade() throws {
    let error = #expect(throws: EngineError.self) { try target("http://a/", from: "https://a/") }
    #expect(error?.code == .redirectRefused)
    var rule = RedirectRule()
    rule.allowsDowngrade = true
    #expect(try target("http://a/", from: "https://a/", rule: rule)?.description == "http://a/")
    #expect(try target("https://b/", from: "https://a/")?.description == "https://b/")
    #expect(try target("https://a/", from: "http://a/")?.description == "https://a/")
    #expect(try target("//b/", from: "https://a/")?.description == "https://b/")
  }
}
