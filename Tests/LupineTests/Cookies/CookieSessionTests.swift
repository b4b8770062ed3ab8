// Cookies of sessions: stored from every response and sent with every request, separately for each redirect.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineCookies
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct CookieSessionTests {
  private struct ReceivedCookies: Decodable {
    var cookies: [String: String]
  }

  /// Requests the URL from httpbin, and checks that httpbin receives exactly these cookies.
  private func expect(
    _ cookies: [String: String], at url: String, _ session: Session, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let seen = try await session.request(url).serializingDecodable(ReceivedCookies.self).value.cookies
    #expect(seen == cookies, sourceLocation: sourceLocation)
  }

  @Test(
    "a session sends the cookies that httpbin has set back to httpbin, also after a redirect, until httpbin deletes them"
  )
  func httpbin() async throws {
    let base = try await TestServers.httpbin
    try await withSession { session in
      try await expect([:], at: base + "/cookies", session)
      try await expect(["a": "1", "b": "2"], at: base + "/cookies/set?a=1&b=2", session)
      try await expect(["a": "1", "b": "3"], at: base + "/cookies/set/b/3", session)
      try await expect(["a": "1", "b": "3"], at: base + "/cookies", session)
      try await expect(["b": "3"], at: base + "/cookies/delete?a", session)
      let kept = session.sessionConfiguration.httpCookieStorage?.cookies?.map { "\($0.name)=\($0.value) \($0.path)" }
      #expect(kept == ["b=3 /"])
    }
  }

  /// A server's reply whose body contains the request's Cookie fields. The query determines the rest: `set=COOKIE` adds a
  /// Set-Cookie line, `status=CODE` sets the status code, and `to=URL` redirects with 307.
  @Sendable private static func answer(_ request: ReceivedRequest) -> Reply {
    var reply = Reply.text(request.fields.all("Cookie").joined(separator: "|"), status: 200)
    for item in request.query {
      switch item.name {
      case "set": reply.fields.append(name: "Set-Cookie", value: item.value)
      case "status": reply.status = Int(item.value) ?? 200
      case "to":
        reply.status = 307
        reply.fields.append(name: "Location", value: item.value)
      default: break
      }
    }
    return reply
  }

  private func withAnswers(
    tls: ServerIdentity? = nil, _ configure: (URLSessionConfiguration) -> Void = { _ in },
    _ body: (OriginServer, Session) async throws -> Void
  ) async throws {
    try await withServer(tls: tls, Self.answer) { origin in
      try await withSession {
        if let tls { $0.engine.tls.trustRoots = [.pem(tls.authorityPEM)] }
        configure($0)
      } _: { session in
        try await body(origin, session)
      }
    }
  }

  private func get(_ url: String, _ session: Session, headers: HTTPHeaders? = nil) async throws -> String {
    try await session.request(url, headers: headers).serializingString(emptyResponseCodes: [200, 401]).value
  }

  /// Requests the URL, and checks that the server receives exactly these Cookie fields.
  private func expect(
    _ cookies: String, at url: String, _ session: Session, headers: HTTPHeaders? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let seen = try await get(url, session, headers: headers)
    #expect(seen == cookies, sourceLocation: sourceLocation)
  }

  private func query(_ items: (String, String)...) -> String {
    var components = URLComponents()
    components.queryItems = items.map { URLQueryItem(name: $0.0, value: $0.1) }
    return "?" + (components.percentEncodedQuery ?? "")
  }

  @Test("several Set-Cookie lines with commas, quotes and attributes are parsed separately")
  func lines() async throws {
    try await withAnswers { origin, session in
      _ = try await get(
        origin.url
          + query(
            ("set", "a=1,2; Expires=Fri, 01 Jan 2100 00:00:00 GMT"), ("set", "b=x, c=y"),
            ("set", "d=\"q\"; Max-Age=99"),
            ("set", "e"), ("set", "f=1; Domain=example.com"), ("set", "g=1; Path=/elsewhere")), session)
      try await expect("a=1,2; b=x, c=y; d=\"q\"; e", at: origin.url, session)
      try await expect("g=1; a=1,2; b=x, c=y; d=\"q\"; e", at: origin.url + "/elsewhere/x", session)
      try await expect("a=1,2; b=x, c=y; d=\"q\"; e", at: origin.url + "/elsewherex", session)
    }
  }

  @Test(
    "a session stores the cookies of responses with any status code",
    arguments: [200, 201, 304, 401, 403, 404, 407, 500, 503])
  func statuses(status: Int) async throws {
    try await withAnswers { origin, session in
      _ = await session.request(origin.url + query(("set", "a=1"), ("status", "\(status)"))).outcome()
      try await expect("a=1", at: origin.url, session)
    }
  }

  @Test("a proxy's 407 response to a forwarded request sets no cookies for the origin")
  func proxyRefusal() async throws {
    try await withServer { request in
      let status = request.target.split(separator: "/").last.flatMap { Int($0) } ?? 200
      let reply = Reply.text(request.fields.first("Cookie") ?? "none", status: status)
      return status == 200 ? reply : reply.with("Set-Cookie", "a=\(status); Path=/")
    } _: { proxy in
      let settings = try Proxy(.http, host: "127.0.0.1", port: proxy.port)
      try await withSession {
        $0.engine.proxy = .fixed(settings)
      } _: { session in
        // Only a 407 is known to be the proxy's response.
        for (status, cookie) in [(407, "none"), (403, "a=403"), (407, "a=403")] {
          _ = await session.request("http://h.example/\(status)").outcome()
          try await expect(cookie, at: "http://h.example/", session)
        }
      }
    }
  }

  @Test("bytes of a cookie that aren't UTF-8 are sent back unchanged")
  func bytes() async throws {
    let value: [UInt8] = [0xFF, 0x22, 0xE9, 0x22, 0x80]
    let sent = Recorder<[UInt8]?>()
    try await withOrigin { peer in
      while let request = try peer.readRequest() {
        sent.record(request.fields.valueBytes("Cookie"))
        try peer.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=".utf8) + value)
        try peer.send("\r\n\r\n")
      }
    } _: { origin in
      try await withSession { session in
        for _ in 0..<2 { #expect(await session.request(origin.url).outcome().error == nil) }
        #expect(await sent.first(2) == [nil, Array("a=".utf8) + value])
      }
    }
  }

  // MARK: Redirects

  @Test("each request in a chain of redirects sends only its host's cookies")
  func otherHost() async throws {
    try await withAnswers { origin, session in
      let other = origin.url.replacing("127.0.0.1", with: "localhost")
      _ = try await get(other + query(("set", "theirs=1")), session)
      let back = origin.url + "/back"
      let there = other + "/there" + query(("set", "late=1"), ("to", back))
      let request = session.request(origin.url + query(("set", "ours=1"), ("to", there)), headers: ["Cookie": "own=1"])
      // A redirect to another host removes the Cookie field that the caller has set, with or without a cookie storage.
      #expect(try await request.serializingString().value == "ours=1")
      try await expect("theirs=1; late=1", at: other, session)
      try await expect("ours=1", at: other + query(("to", origin.url)), session)
      try await expect("theirs=1; late=1", at: origin.url + query(("to", other)), session, headers: ["Cookie": "own=1"])
      // performedRequests don't contain the cookies from the storage.
      #expect(request.performedRequests.allSatisfy { $0.headers["Cookie"] == nil })
    }
  }

  @Test("after a redirect within a host, the request sends its explicit Cookie field and the cookies set meanwhile")
  func sameHost() async throws {
    try await withAnswers { origin, session in
      let url = origin.url + query(("set", "a=1"), ("set", "own=2"), ("to", "/next"))
      try await expect("own=1; a=1", at: url, session, headers: ["Cookie": "own=1"])
      try await expect("a=1; own=2", at: origin.url, session)
    }
  }

  @Test("all ports of a host share cookies, but a redirect to another port drops the request's explicit Cookie field")
  func otherPort() async throws {
    try await withServer(Self.answer) { other in
      try await withAnswers { origin, session in
        let url = origin.url + query(("set", "a=1"), ("to", other.url))
        try await expect("a=1", at: url, session, headers: ["Cookie": "own=1"])
      }
    }
  }

  // MARK: Secure cookies

  @Test("a Secure cookie is set and sent only over https, and can't be replaced over http")
  func secure() async throws {
    let identity = try ServerIdentity.throwaway()
    try await withServer(Self.answer) { plain in
      let plainURL = plain.url.replacing("127.0.0.1", with: "localhost")
      try await withAnswers(tls: identity) { origin, session in
        _ = try await get(plainURL + query(("set", "a=plain; Secure"), ("set", "__Host-b=1; Path=/")), session)
        try await expect("", at: plainURL, session)
        try await expect("", at: origin.url, session)
        _ = try await get(origin.url + query(("set", "a=safe; Secure"), ("set", "__Host-b=1; Path=/; Secure")), session)
        try await expect("a=safe; __Host-b=1", at: origin.url, session)
        _ = try await get(plainURL + "/x/y" + query(("set", "a=evil"), ("set", "a=evil; Path=/; Max-Age=0")), session)
        try await expect("", at: plainURL + "/x/y", session)
        // After a redirect from http to https, the cookies that weren't sent over http are sent.
        try await expect("a=safe; __Host-b=1", at: plainURL + query(("to", origin.url)), session)
      }
    }
  }

  // MARK: Settings

  @Test("a session without a cookie storage stores no cookies")
  func noStorage() async throws {
    try await withAnswers {
      $0.httpCookieStorage = nil
    } _: { origin, session in
      try await expect("", at: origin.url + query(("set", "a=1"), ("to", "/")), session)
      try await expect("own=1", at: origin.url, session, headers: ["Cookie": "own=1"])
    }
  }

  @Test("if httpShouldSetCookies is false, a session stores the cookies of responses, but sends none")
  func notSet() async throws {
    try await withAnswers {
      $0.httpShouldSetCookies = false
    } _: { origin, session in
      try await expect("", at: origin.url + query(("set", "a=1"), ("to", "/")), session)
      #expect(session.sessionConfiguration.httpCookieStorage?.cookies?.map(\.name) == ["a"])
      let request = session.request(origin.url, headers: ["Cookie": "own=2"])
      #expect(await request.outcome().error == nil)
      let command = request.cURLDescription()
      #expect(command.contains(#"-H "Cookie: own=2""#) && !command.contains("a=1"), "\(command)")
    }
  }

  @Test("with the cookie accept policy never, a session stores no new cookies, but sends those already stored")
  func noneAccepted() async throws {
    let storage = HTTPCookieStorage()
    try await withAnswers {
      $0.httpCookieAcceptPolicy = .never
      $0.httpCookieStorage = storage
    } _: { origin, session in
      let cookie = HTTPCookie(properties: [.name: "a", .value: "1", .path: "/", .originURL: origin.url])
      storage.setCookie(try #require(cookie))
      try await expect("a=1", at: origin.url + query(("set", "b=1")), session)
      #expect(storage.cookies?.map(\.name) == ["a"])
    }
  }

  @Test("if httpShouldHandleCookies is false, a request neither sends nor stores cookies, even after a redirect")
  func notHandled() async throws {
    try await withAnswers { origin, session in
      _ = try await get(origin.url + query(("set", "a=1")), session)
      let request = session.request(origin.url + query(("set", "b=1"), ("to", "/"))) {
        $0.httpShouldHandleCookies = false
      }
      #expect(try await request.serializingString(emptyResponseCodes: [200]).value == "")
      #expect(!request.cURLDescription().contains("a=1"))
      try await expect("a=1", at: origin.url, session)
    }
  }

  @Test("a session stores no cookies from a response if the request's mainDocumentURL is at another site")
  func mainDocument() async throws {
    try await withAnswers { origin, session in
      let elsewhere = try "https://example.com/".asURL()
      _ = await session.request(origin.url + query(("set", "a=1"))) { $0.mainDocumentURL = elsewhere }.outcome()
      let here = try origin.url.asURL()
      _ = await session.request(origin.url + query(("set", "b=1"))) { $0.mainDocumentURL = here }.outcome()
      try await expect("b=1", at: origin.url, session)
    }
  }

  @Test("sessions with the same cookie storage share its cookies")
  func shared() async throws {
    let storage = HTTPCookieStorage()
    try await withAnswers {
      $0.httpCookieStorage = storage
    } _: { origin, first in
      _ = try await get(origin.url + query(("set", "a=1")), first)
      try await withSession {
        $0.httpCookieStorage = storage
      } _: { second in
        try await expect("a=1", at: origin.url, second)
      }
      try await withSession { stranger in
        try await expect("", at: origin.url, stranger)
      }
    }
  }

  @Test("the curl command contains the cookies that the request sends")
  func curl() async throws {
    try await withAnswers { origin, session in
      _ = try await get(origin.url + query(("set", "a=1"), ("set", "b=2")), session)
      let request = session.request(origin.url)
      _ = await request.outcome()
      #expect(request.cURLDescription().hasPrefix("$ curl -v \\\n\t-X GET \\\n\t-b \"a=1; b=2\" \\\n\t-H "))
    }
  }

  @Test("default configurations share one cookie storage, and each ephemeral configuration has its own")
  func configurations() throws {
    #expect(URLSessionConfiguration.default.httpCookieStorage === HTTPCookieStorage.shared)
    #expect(URLSessionConfiguration.af.default.httpCookieStorage === HTTPCookieStorage.shared)
    let ephemeral = URLSessionConfiguration.af.ephemeral
    let own = try #require(ephemeral.httpCookieStorage)
    #expect(own !== HTTPCookieStorage.shared && own !== URLSessionConfiguration.ephemeral.httpCookieStorage)
    #expect(Session(configuration: ephemeral).sessionConfiguration.httpCookieStorage === own)
    #expect(ephemeral.httpShouldSetCookies && ephemeral.httpCookieAcceptPolicy == .onlyFromMainDocumentDomain)
    ephemeral.httpCookieStorage = nil
    ephemeral.httpShouldSetCookies = false
    ephemeral.httpCookieAcceptPolicy = .never
    let copy = Session(configuration: ephemeral).sessionConfiguration
    #expect(copy.httpCookieStorage == nil && !copy.httpShouldSetCookies && copy.httpCookieAcceptPolicy == .never)
  }

  // MARK: Load

  @Test("of a thousand cookies from one domain, 180 are stored, and the Cookie field has at most 8,190 bytes")
  func flood() async throws {
    try await withServer { request in
      var reply = Reply.text("\(request.fields.first("Cookie")?.utf8.count ?? 0)")
      for number in 0..<200 where request.path != "/" {
        reply.fields.append(
          name: "Set-Cookie",
          value: "\(request.path.dropFirst())-\(number)=\(String(repeating: "x", count: 200)); Path=/")
      }
      return reply
    } _: { origin in
      try await withSession { session in
        for round in 0..<5 { _ = try await get("\(origin.url)/flood\(round)", session) }
        let kept = try #require(session.sessionConfiguration.httpCookieStorage?.cookies)
        #expect(kept.count == 180)
        #expect(kept.allSatisfy { $0.name.hasPrefix("flood4-") })
        let length = try #require(Int(try await get(origin.url, session)))
        #expect((8000...8190).contains(length))
      }
    }
  }

  @Test("a session stores the cookie of each of many concurrent responses")
  func parallel() async throws {
    try await withAnswers { origin, session in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<50 {
          group.addTask { _ = try await get(origin.url + query(("set", "c\(number)=1"), ("to", "/")), session) }
        }
        try await group.waitForAll()
      }
      #expect(try await get(origin.url, session).split(separator: "; ").count == 50)
    }
  }
}
