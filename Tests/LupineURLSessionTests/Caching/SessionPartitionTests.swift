// SessionPartitionTests: sessions that share a cache don't get each other's personal responses, and no file contains one.

import Foundation
import LupineCache
import LupineEngine
import LupineLogin
import LupineLoopback
import LupineOrigin
import LupineTLS
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct SessionPartitionTests {
  @Test(
    "if a response sets a cookie, or its request has credentials or a cookie, other sessions can't reuse the response",
    arguments: ["Authorization", "Cookie", "Set-Cookie", "user information"])
  func personal(what: String) async throws {
    try await withCache(disk: 1_000_000, { $0.httpCookieStorage = nil }) { fixture async throws in
      fixture.script.on("/a") { _, number in
        let fields: Fields = what == "Set-Cookie" ? ["Set-Cookie": "a=b"] : [:]
        var all: Fields = ["Cache-Control": "max-age=60, public"]
        all.appendMissing(fields)
        return Reply(fields: all, .bytes(Array("\(number)".utf8)))
      }
      var request = fixture.request("/a", what == "Set-Cookie" || what == "user information" ? [:] : [what: "secret"])
      if what == "user information", let text = request.url?.absoluteString {
        request.url = URL(string: text.replacingOccurrences(of: "//", with: "//u:p@"))
      }
      let other = fixture.sibling { $0.httpCookieStorage = nil }
      for (session, version) in [(fixture.session, "0"), (fixture.session, "0"), (other, "1"), (other, "1")] {
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == version)
      }
      #expect(fixture.cache.cachedResponse(for: request) == nil)
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.isEmpty)
    }
  }

  @Test(
    "within a session, requests with different credentials don't share cached responses",
    arguments: ["Authorization", "Cookie"])
  func users(field: String) async throws {
    try await withCache({ $0.httpCookieStorage = nil }) { fixture async throws in
      fixture.script.on("/a") { request, _ in
        Reply(fields: ["Cache-Control": "max-age=60"], .bytes(Array((request.fields.first(field) ?? "none").utf8)))
      }
      for _ in 0..<2 {
        for user in ["Bearer 1", "Bearer 2"] { #expect(try await fixture.load("/a", [field: user]).text == user) }
        #expect(try await fixture.load().text == "none")
      }
      #expect(fixture.script.count == 3)
    }
  }

  @Test(
    "cached responses to requests with a secret field are reused only in the same session and for the same field value")
  func secretFields() async throws {
    func configure(_ configuration: URLSessionConfiguration) { configuration.redirectRule.secretFields = ["x-api-key"] }
    try await withCache(disk: 1_000_000, configure) { fixture async throws in
      fixture.script.on("/a") { request, _ in
        let key = request.fields.first("X-Api-Key") ?? "none"
        return Reply(fields: ["Cache-Control": "max-age=60"], .bytes(Array(key.utf8)))
      }
      for _ in 0..<2 {
        for key in ["1", "2"] { #expect(try await fixture.load("/a", ["X-Api-Key": key]).text == key) }
      }
      #expect(fixture.script.count == 2)
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.isEmpty)
      let other = fixture.sibling(configure)
      #expect(try await fixture.load("/a", ["X-Api-Key": "1"], in: other).text == "1")
      #expect(fixture.script.count == 3)
      #expect(try await fixture.load().text == "none")
    }
  }

  /// Replies with the number of earlier requests to each request with a Digest proof that isn't in `refused`, and else with a
  /// challenge.
  private func challenge(
    _ fixture: CacheFixture, realm: @escaping @Sendable (Int) -> String = { _ in "r" }, refusing refused: Int? = nil
  ) {
    let proofs = Atomic(0)
    fixture.script.on("/a") { request, number in
      let isProven = request.fields.first("Authorization")?.hasPrefix("Digest ") == true
      guard isProven, proofs.add(1, ordering: .relaxed).newValue != refused else {
        return Reply(status: 401, fields: ["WWW-Authenticate": "Digest realm=\(realm(number)), nonce=n, qop=auth"])
      }
      return Reply(
        fields: ["Last-Modified": "Mon, 01 Jan 2018 00:00:00 GMT"], .bytes(Array("\(number)".utf8)))
    }
  }

  private func isProven(_ request: ReceivedRequest) -> Bool {
    request.fields.first("Authorization")?.hasPrefix("Digest ") == true
  }

  private func load(
    as login: String, _ fixture: CacheFixture, in session: URLSession? = nil
  ) async throws -> (Int, String) {
    let text = try #require(fixture.request("/a").url?.absoluteString)
    let url = try #require(URL(string: text.replacingOccurrences(of: "//", with: "//\(login)@")))
    let (data, response) = try await (session ?? fixture.session).data(for: URLRequest(url: url))
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
  }

  @Test("a wrong Digest password gets no cached response: the server receives the proof and refuses it")
  func digestPassword() async throws {
    try await withCache(disk: 1_000_000) { fixture async throws in
      // The server refuses the second proof, as if its password were wrong.
      challenge(fixture, refusing: 2)
      #expect(try await load(as: "user:pass", fixture) == (200, "1"))
      #expect(try await load(as: "user:nope", fixture).0 == 401)
      let count = fixture.script.count
      #expect(try await load(as: "user:pass", fixture) == (200, "1"))
      #expect(!fixture.script.requests.dropFirst(count).contains(where: isProven))
      // Neither another session nor a file gets the response.
      #expect(try await load(as: "user:pass", fixture, in: fixture.sibling()).1 != "1")
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.isEmpty)
    }
  }

  @Test("Digest users with other names, passwords or realms don't share cached responses")
  func digestUsers() async throws {
    try await withCache { fixture async throws in
      let logins = ["a:b", "a:c", "b:c", "a:b%20c"]
      challenge(fixture)
      var versions: [String] = []
      for login in logins { versions.append(try await load(as: login, fixture).1) }
      #expect(Set(versions).count == logins.count)
      let count = fixture.script.count
      for (login, version) in zip(logins, versions) { #expect(try await load(as: login, fixture).1 == version) }
      // Only requests without a proof were sent, if any: each user gets the stored response.
      #expect(!fixture.script.requests.dropFirst(count).contains(where: isProven))
    }
    try await withCache { fixture async throws in
      // The server has another realm for each challenge.
      challenge(fixture) { "r\($0)" }
      let first = try await load(as: "a:b", fixture).1
      fixture.session.client.authentication.withLock { $0.removeAll() }
      #expect(try await load(as: "a:b", fixture).1 != first)
    }
  }

  @Test("a cached response to a request whose Digest proof the program has computed is served only with the same proof")
  func ownDigestProof() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { _, number in
        Reply(fields: ["Cache-Control": "max-age=60"], .bytes(Array("\(number)".utf8)))
      }
      func proof(_ response: String) -> [String: String] {
        ["Authorization": "Digest username=\"a\", realm=\"r\", nonce=\"1\", response=\"\(response)\""]
      }
      for (response, version) in [("1", "0"), ("2", "1"), ("1", "0"), ("3", "2")] {
        #expect(try await fixture.load("/a", proof(response)).text == version)
      }
      #expect(try await fixture.load("/a", ["Authorization": "Digest 1"]).text == "3")
    }
  }

  @Test(
    "a stale response to a request with Digest credentials isn't served before its validation, despite stale-while-revalidate"
  )
  func digestRevalidation() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { _, number in
        Reply(
          fields: ["Cache-Control": "max-age=60, stale-while-revalidate=60", "ETag": "\"\(number)\""],
          .bytes(Array("\(number)".utf8)))
      }
      let proof = "Digest username=\"a\", realm=\"r\", nonce=\"1\", response=\"1\""
      for version in ["0", "1"] {
        #expect(try await fixture.load("/a", ["Authorization": proof]).text == version)
        fixture.clock.advance(61)
      }
      #expect(fixture.script.requests.map { $0.fields.first("If-None-Match") } == [nil, "\"0\""])
    }
  }

  @Test("a stored response isn't served if the server that validates it fails to prove that it knows the password")
  func forgedValidation() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { request, _ in
        guard request.fields.first("Authorization")?.hasPrefix("Digest ") == true else {
          return Reply(status: 401, fields: ["WWW-Authenticate": "Digest realm=r, nonce=n, qop=auth"])
        }
        guard request.fields.contains("If-None-Match") else {
          return Reply(fields: ["Cache-Control": "max-age=60", "ETag": "\"v\""], .bytes(Array("stored".utf8)))
        }
        return Reply(status: 304, fields: ["ETag": "\"v\"", "Authentication-Info": "rspauth=\"0\""])
      }
      let text = try #require(fixture.request("/a").url?.absoluteString)
      let request = URLRequest(url: try #require(URL(string: text.replacingOccurrences(of: "//", with: "//u:p@"))))
      #expect(try await fixture.session.data(for: request).0 == Data("stored".utf8))
      fixture.clock.advance(61)
      let error = await #expect(throws: URLError.self) { try await fixture.session.data(for: request) }
      #expect(error?.code == .badServerResponse)
      #expect(fixture.script.requests.last?.fields.first("If-None-Match") == "\"v\"")
    }
  }

  @Test(
    "a HEAD or 304 that the caller gets changes no stored response if the server fails to prove that it knows the password",
    arguments: ["HEAD", "GET"])
  func forgedUpdate(method: String) async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { request, number in
        let fields: Fields = ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Authentication-Info": "rspauth=\"0\""]
        if number == 0 { return Reply(fields: fields, .bytes(Array("stored".utf8))) }
        guard request.fields.first("Authorization")?.hasPrefix("Digest ") == true else {
          return Reply(status: 401, fields: ["WWW-Authenticate": "Digest realm=r, nonce=n, qop=auth"])
        }
        return Reply(status: method == "HEAD" ? 200 : 304, fields: fields)
      }
      try await fixture.load()
      fixture.clock.advance(61)
      let text = try #require(fixture.request("/a").url?.absoluteString)
      var request = URLRequest(url: try #require(URL(string: text.replacingOccurrences(of: "//", with: "//u:p@"))))
      request.httpMethod = method
      if method == "GET" { request.setValue("\"own\"", forHTTPHeaderField: "If-None-Match") }
      let forged = request
      let error = await #expect(throws: URLError.self) { try await fixture.session.data(for: forged) }
      #expect(error?.code == .badServerResponse)
      #expect(fixture.script.count == 3)
      // Otherwise the response would belong to the user of the password from now on.
      #expect(fixture.cache.cachedResponse(for: fixture.request())?.data == Data("stored".utf8))
    }
  }

  @Test(
    "a newer response for one session that isn't stored removes the older one for all sessions, unless it is isolated",
    arguments: [0, 1_000_000])
  func newerPersonalResponse(disk: Int) async throws {
    try await withCache(memory: disk == 0 ? 1_000_000 : 0, disk: disk) { fixture async throws in
      let newer: [String: Fields] = ["/a": ["Cache-Control": "no-store"], "/b": ["Set-Cookie": "a=b"]]
      for (path, fields) in newer {
        fixture.script.on(path) { _, number in
          Reply(fields: number == 0 ? ["Cache-Control": "max-age=60"] : fields, .bytes(Array("\(number)".utf8)))
        }
      }
      let isolated = fixture.sibling { $0.engine.addressPolicy = .only(["127.0.0.0/8"]) }
      for path in newer.keys.sorted() {
        #expect(try await fixture.load(path).text == "0")
        #expect(try await fixture.load(path, in: isolated).text == "1")
        #expect(try await fixture.load(path).text == "0")
        let reloaded = try await fixture.load(path, ["Cookie": "c=d"], policy: .reloadIgnoringLocalCacheData)
        #expect(reloaded.text == "2")
        #expect(try await fixture.load(path).text == "3")
      }
    }
  }

  @Test("a session with an address policy shares no cached responses with other sessions, in memory or on disk")
  func addressPolicy() async throws {
    try await withCache(disk: 1_000_000) { fixture async throws in
      for path in ["/a", "/b"] {
        fixture.script.on(path) { _, number in
          Reply(fields: ["Cache-Control": "max-age=60, public"], .bytes(Array("\(number)".utf8)))
        }
      }
      #expect(try await fixture.load("/a").text == "0")
      let restricted = fixture.sibling { $0.engine.addressPolicy = .publicOnly }
      let policies: [URLRequest.CachePolicy] = [
        .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
      ]
      for policy in policies {
        let error = await #expect(throws: URLError.self) {
          _ = try await fixture.load("/a", policy: policy, in: restricted)
        }
        #expect(error?.code == .resourceUnavailable)
      }
      #expect(fixture.script.count == 1)
      // The session's responses are served to the session itself, and to no other session.
      let permitted = fixture.sibling { $0.engine.addressPolicy = .only(["127.0.0.0/8"]) }
      for _ in 0..<2 { #expect(try await fixture.load("/b", in: permitted).text == "0") }
      fixture.cache.stores.waitForFiles {}
      #expect(fixture.directory.records.count == 1)
      #expect(try await fixture.load("/b").text == "1")
      #expect(try await fixture.load("/b", in: permitted).text == "0")
    }
  }

  @Test("requests that differ in the name or in any value of a secret field don't share cached responses")
  func secretValues() throws {
    let cache = SessionCache(URLCache(memoryCapacity: 1_000, diskCapacity: 0).stores)
    let requests: [Fields] = [
      ["A": "1"], ["B": "1"], ["A": "1", "B": "2"], ["A": "1", "b": "3"], ["A": "1", "a": "2"], ["A": "1", "a": "3"],
    ]
    let users = try requests.map { fields in
      cache.request(
        EngineRequest(uri: try URI("http://h.example/"), fields: fields), policy: .useProtocolCachePolicy,
        ownCookie: nil, identity: nil, secretFields: ["a", "b"]
      ).session
    }
    #expect(Set(users).count == requests.count)
  }

  @Test("requests with different client certificates don't share cached responses")
  func identities() throws {
    let authority = try ThrowawayAuthority()
    let cache = SessionCache(URLCache(memoryCapacity: 1_000, diskCapacity: 0).stores)
    let (a, b) = (try authority.identity("a"), try authority.identity("b"))
    func user(_ settings: TLSIdentity?, chosen: IdentityChoice? = nil, own: TLSIdentity? = nil) throws -> String {
      var request = EngineRequest(uri: try URI("https://h.example/"))
      request.identityChoice = chosen
      if let own {
        request.connection = ConnectionSettings()
        request.connection?.tls = TLSConfiguration(identity: own)
      }
      let cached = cache.request(request, policy: .useProtocolCachePolicy, ownCookie: nil, identity: settings)
      return "\(cached.session) \(cached.otherCredentials)"
    }
    let (none, ofA, ofB) = (try user(nil), try user(a), try user(b))
    #expect(none.hasSuffix(" none") && ofA.hasSuffix(" presented") && ofB.hasSuffix(" presented") && ofA != ofB)
    #expect(try user(b, chosen: .present(a)) == ofA)
    #expect(try user(b, own: a) == ofA)
    #expect(try user(a, chosen: .anonymous) == none)
  }

  @Test(
    "a request that sets a proxy, TLS settings, host addresses or the Host field neither reads nor writes the cache",
    arguments: ["proxy", "tls", "addresses", "host"])
  func ownServer(setting: String) async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a") { _, number in
        Reply(fields: ["Cache-Control": "max-age=60"], .bytes(Array("\(number)".utf8)))
      }
      var request = fixture.request()
      switch setting {
      case "proxy": request.lupine.proxy = ProxySettings.none
      case "tls": request.lupine.tls = TLSConfiguration(verification: .none)
      case "host": request.setValue("h.example", forHTTPHeaderField: "Host")
      default: request.lupine.hostOverrides = [HostOverride(host: "h.example", addresses: [])]
      }
      for version in ["0", "1"] {
        let (data, _) = try await fixture.session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == version)
      }
      #expect(try await fixture.load().text == "2")
      let (data, _) = try await fixture.session.data(for: request)
      #expect(String(decoding: data, as: UTF8.self) == "3")
    }
  }

  @Test("a cached response to a request with cookies from the session's storage is served only to that session")
  func storedCookies() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/login", "", ["Set-Cookie": "a=b; Path=/", "Cache-Control": "no-store"])
      fixture.script.on("/a") { request, _ in
        Reply(fields: ["Cache-Control": "max-age=60"], .bytes(Array((request.fields.first("Cookie") ?? "none").utf8)))
      }
      try await fixture.load("/login")
      #expect(try await fixture.load().text == "a=b")
      let other = fixture.sibling { $0.httpCookieStorage = HTTPCookieStorage() }
      #expect(try await fixture.load(in: other).text == "none")
      #expect(try await fixture.load(in: other).text == "none")
      #expect(fixture.script.count == 3)
    }
  }

  @Test("a cached response without credentials and cookies is served to all sessions that use the cache")
  func anonymous() async throws {
    try await withCache { fixture async throws in
      fixture.script.on("/a", "one")
      try await fixture.load()
      #expect(try await fixture.load(in: fixture.sibling()).text == "one")
      #expect(fixture.script.count == 1)
    }
  }

  @Test("the response to a validation in the background sets no cookies")
  func backgroundCookies() async throws {
    try await withCache({ $0.httpCookieStorage = HTTPCookieStorage() }) { fixture async throws in
      fixture.script.on("/a") { _, number in
        let fields: Fields = [
          "Cache-Control": "max-age=60, stale-while-revalidate=60", "Set-Cookie": "n=\(number)",
        ]
        return Reply(fields: fields, .bytes(Array("\(number)".utf8)))
      }
      let storage = try #require(fixture.session.configuration.httpCookieStorage)
      try await fixture.load()
      fixture.clock.advance(61)
      #expect(try await fixture.load().text == "0")
      let uri = try URI(fixture.origin.url + "/a").cacheKey
      let isValidated = await settles {
        fixture.cache.stores.foundInMemory(uri).contains { found in
          if case .memory(_, let cached) = found.body { cached.data == Data("1".utf8) } else { false }
        }
      }
      #expect(isValidated && storage.cookies?.map(\.value) == ["0"])
    }
  }

  @Test("serving a stored response doesn't set the response's cookies again, but a 304 sets the cookies in the 304")
  func servedCookies() async throws {
    try await withCache({ $0.httpCookieStorage = HTTPCookieStorage() }) { fixture async throws in
      fixture.script.on("/a") { _, number in
        number == 0
          ? Reply(fields: ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Set-Cookie": "n=0"], .bytes([1]))
          : Reply(status: 304, fields: ["ETag": "\"1\"", "Set-Cookie": "n=\(number)"])
      }
      let storage = try #require(fixture.session.configuration.httpCookieStorage)
      try await fixture.load()
      #expect(storage.cookies?.map(\.value) == ["0"])
      storage.removeCookies(since: .distantPast)
      try await fixture.load()
      #expect(storage.cookies?.isEmpty == true && fixture.script.count == 1)
      fixture.clock.advance(60)
      try await fixture.load()
      #expect(storage.cookies?.map(\.value) == ["1"] && fixture.script.count == 2)
    }
  }
}

extension ThrowawayAuthority {
  /// Issues a client certificate with this common name, and returns the certificate with its key.
  fileprivate func identity(_ name: String) throws -> TLSIdentity {
    let issued = try issue(commonName: name, purpose: .client)
    return try TLSIdentity(certificatePEM: issued.certificatePEM, privateKeyPEM: issued.privateKeyPEM)
  }
}
