// Requests, responses and cookies, which must behave like Foundation's.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct MessageTests {
  private static let url = URL(filePath: "/nowhere")

  @Test(
    "a session's request has the default fields unless session or request replace them, and content is decoded")
  func defaultFields() async throws {
    try await withServer { request in
      let names = ["Accept", "Accept-Encoding", "User-Agent"]
      let text = names.map { request.fields.first($0) ?? "none" }.joined(separator: "\n")
      return Reply(.coded(Array(text.utf8), .gzip))
    } _: { origin in
      try await withSession { session in
        let (data, _) = try await session.data(for: origin.request())
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == "*/*" && lines[1] == AcceptEncoding.session)
        #expect(lines.last?.hasSuffix("(unknown version) Lupine") == true)
        var own = origin.request()
        own.setValue("identity", forHTTPHeaderField: "accept-encoding")
        own.setValue("text/*", forHTTPHeaderField: "Accept")
        let (changed, _) = try await session.data(for: own)
        #expect(String(decoding: changed, as: UTF8.self).hasPrefix("text/*\nidentity\n"))
      }
    }
  }

  @Test("a request with a Range field gets no Accept-Encoding unless the request or the configuration has one")
  func rangeWithoutCodings() async throws {
    try await withServer {
      .text($0.fields.first("Accept-Encoding") ?? "none")
    } _: { origin in
      try await withSession { session in
        var request = origin.request()
        request.setValue("bytes=0-1", forHTTPHeaderField: "range")
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "none")
        request.setValue("br", forHTTPHeaderField: "Accept-Encoding")
        let (coded, _) = try await session.data(for: request)
        #expect(String(decoding: coded, as: UTF8.self) == "br")
      }
      try await withSession {
        $0.httpAdditionalHeaders = ["Accept-Encoding": "gzip"]
      } _: { session in
        var request = origin.request()
        request.setValue("bytes=0-1", forHTTPHeaderField: "Range")
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "gzip")
      }
    }
  }

  @Test(
    "a POST or PUT with a body and without a Content-Type field is sent as a form", arguments: ["POST", "PUT", "PATCH"])
  func formType(method: String) async throws {
    try await withServer {
      .text($0.fields.first("Content-Type") ?? "none")
    } _: { origin in
      try await withSession { session in
        var request = origin.request("/", method)
        request.httpBody = Data("a=b".utf8)
        let expected = method == "PATCH" ? "none" : "application/x-www-form-urlencoded"
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == expected)
        request.httpBodyStream = InputStream(data: Data("a=b".utf8))
        let (streamed, _) = try await session.data(for: request)
        #expect(String(decoding: streamed, as: UTF8.self) == expected)
        request.httpBody = Data()
        let (empty, _) = try await session.data(for: request)
        #expect(String(decoding: empty, as: UTF8.self) == "none")
      }
    }
  }

  @Test(
    "a GET with a body, a request without a URL, and malformed resume data fail with the same errors as in Foundation")
  func refusals() async throws {
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        var request = origin.request()
        request.httpBody = Data("body".utf8)
        let withBody = request
        #expect(await code { try await session.data(for: withBody) } == .dataLengthExceedsMaximum)
        request.url = nil
        let withoutURL = request
        #expect(await code { try await session.data(for: withoutURL) } == .unsupportedURL)
        #expect(await code { try await session.download(resumeFrom: Data("?".utf8)) } == .unsupportedURL)
        #expect(origin.requestCount == 0)
        let (data, response) = try await session.data(from: URL(string: "data:text/plain,a%20b")!)
        #expect(data == Data("a b".utf8) && response.mimeType == "text/plain")
      }
    }
  }

  @Test(
    "setting a URLRequest's field to a value with CR, LF or NUL has no effect",
    arguments: ["a\rb", "a\nb", "a\0b", "a\r\nX: y"])
  func injection(value: String) {
    var request = URLRequest(url: Self.url)
    request.setValue(value, forHTTPHeaderField: "X-A")
    #expect(request.allHTTPHeaderFields == nil)
    request.setValue("fine", forHTTPHeaderField: "X-A")
    request.addValue(value, forHTTPHeaderField: "X-A")
    request.setValue(value, forHTTPHeaderField: "X-A")
    #expect(request.allHTTPHeaderFields == ["X-A": "fine"])
  }

  @Test("setting or adding a URLRequest's field value keeps the first spelling of the field's name")
  func spelling() {
    var request = URLRequest(url: Self.url)
    request.setValue("1", forHTTPHeaderField: "x-Mixed")
    request.setValue("2", forHTTPHeaderField: "X-MIXED")
    request.addValue("3", forHTTPHeaderField: "X-mixed")
    #expect(request.allHTTPHeaderFields == ["x-Mixed": "2,3"])
    request.setValue(nil, forHTTPHeaderField: "X-MIXED")
    #expect(request.allHTTPHeaderFields == [:])
  }

  // As in swift-corelibs-foundation, whose NSURLRequest stores the optional dictionary.
  @Test("allHTTPHeaderFields is nil only if no fields were set or if they were set to nil, also in copies and archives")
  func optionalFields() throws {
    var request = URLRequest(url: Self.url)
    #expect(request.allHTTPHeaderFields == nil)
    let untouched = request
    request.allHTTPHeaderFields = [:]
    #expect(request.allHTTPHeaderFields == [:] && request == untouched)
    request.allHTTPHeaderFields?["Authorization"] = "Bearer t"
    #expect(request.value(forHTTPHeaderField: "authorization") == "Bearer t")
    request.allHTTPHeaderFields = nil
    #expect(request.allHTTPHeaderFields == nil && untouched.allHTTPHeaderFields == nil)
    request.allHTTPHeaderFields?["Authorization"] = "Bearer t"
    #expect(request.allHTTPHeaderFields == nil)
    request.setValue(nil, forHTTPHeaderField: "Authorization")
    #expect(request.allHTTPHeaderFields == [:])
    let object = NSMutableURLRequest(url: Self.url)
    for fields in [nil, [:], ["A": "1"]] as [[String: String]?] {
      object.allHTTPHeaderFields = fields
      let archive = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
      let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSURLRequest.self, from: archive)
      #expect(try #require(decoded).allHTTPHeaderFields == fields)
      #expect((object.copy() as? NSURLRequest)?.allHTTPHeaderFields == fields)
      #expect(URLRequest(object).allHTTPHeaderFields == fields)
    }
  }

  @Test("a request whose URL is relative to a base is sent to the absolute URL")
  func relativeURL() async throws {
    try await withServer {
      .text($0.path)
    } _: { origin in
      try await withSession { session in
        var request = origin.request()
        request.url = URL(string: "b", relativeTo: URL(string: origin.url + "/a/"))
        #expect(request.url?.relativeString == "b")
        let (data, response) = try await session.data(for: request)
        #expect(data == Data("/a/b".utf8) && response.url?.absoluteString == origin.url + "/a/b")
      }
    }
  }

  @Test("NSURLRequest objects are compared and hashed by value, and convert to and from URLRequest")
  func requestObjects() throws {
    let mutable = NSMutableURLRequest(url: Self.url, cachePolicy: .reloadIgnoringCacheData, timeoutInterval: 7)
    mutable.httpMethod = "put"
    mutable.setValue("1", forHTTPHeaderField: "A")
    mutable.addValue("2", forHTTPHeaderField: "a")
    mutable.httpBody = Data("b".utf8)
    mutable.httpShouldHandleCookies = false
    mutable.mainDocumentURL = Self.url
    let value = URLRequest(mutable)
    #expect(value.httpMethod == "PUT" && value.value(forHTTPHeaderField: "A") == "1,2" && value.timeoutInterval == 7)
    #expect(value.httpBody == Data("b".utf8) && !value.httpShouldHandleCookies && value.mainDocumentURL == Self.url)
    #expect(value.cachePolicy == .reloadIgnoringLocalCacheData)
    let copy = try #require(mutable.copy() as? NSURLRequest)
    #expect(!(copy is NSMutableURLRequest) && copy == mutable && copy.hash == mutable.hash)
    #expect(try #require(copy.copy() as? NSURLRequest) === copy)
    let other = try #require(copy.mutableCopy() as? NSMutableURLRequest)
    other.url = nil
    other.timeoutInterval = 8
    other.allHTTPHeaderFields = nil
    other.cachePolicy = .useProtocolCachePolicy
    other.httpBodyStream = InputStream(data: Data())
    #expect(other != copy && other.httpBody == nil && other.httpBodyStream != nil && copy.url == Self.url)
    let bridged: URLRequest.ReferenceType = value._bridgeToObjectiveC()
    #expect(bridged == copy && URLRequest._unconditionallyBridgeFromObjectiveC(bridged) == value)
    #expect("\(value.customMirror.children.count)" == "9" && value.debugDescription == value.description)
  }

  @Test("HTTPURLResponse objects are compared and hashed by value, and can be archived")
  func responses() throws {
    let url = try #require(URL(string: "https://h.example/a"))
    let plain = URLResponse(url: url, mimeType: "text/plain", expectedContentLength: 5, textEncodingName: "utf-8")
    let same = URLResponse(url: url, mimeType: "text/plain", expectedContentLength: 5, textEncodingName: "utf-8")
    let other = URLResponse(url: url, mimeType: "text/plain", expectedContentLength: 6, textEncodingName: "utf-8")
    #expect(plain == same && plain.hash == same.hash && plain != other)
    let head = try #require(
      HTTPURLResponse(
        url: url, statusCode: 404, httpVersion: "HTTP/1.1",
        headerFields: ["content-length": "12", "ETAG": "\"x\"", "x-own": "1", "Content-Type": "text/html"]))
    #expect(head.expectedContentLength == 12 && head.mimeType == "text/html")
    #expect(
      Set(head.allHeaderFields.keys.compactMap { $0 as? String })
        == ["Content-Length", "ETag", "x-own", "Content-Type"])
    let withoutType = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    #expect(head != withoutType)
    let bare = URLResponse(
      url: try #require(URL(string: "https://h.example/")), mimeType: nil, expectedContentLength: -1,
      textEncodingName: nil)
    #expect(bare.suggestedFilename == "Unknown")
    for response in [plain, head] {
      let data = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
      let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: type(of: response), from: data)
      #expect(decoded == response)
    }
  }

  @Test(
    "HTTPCookie parses Set-Cookie fields for any domain, but a cookie storage refuses cookies for a foreign domain")
  func foreignCookies() throws {
    let url = try #require(URL(string: "https://h.example/"))
    let fields = ["Set-Cookie": "a=1; Domain=other.example; Comment=\"why\"; CommentURL=https://h.example/why"]
    let cookie = try #require(HTTPCookie.cookies(withResponseHeaderFields: fields, for: url).first)
    #expect(cookie.domain == ".other.example" && cookie.comment == "why")
    #expect(cookie.commentURL?.absoluteString == "https://h.example/why")
    let storage = HTTPCookieStorage()
    storage.setCookies([cookie], for: url, mainDocumentURL: nil)
    #expect(storage.cookies?.isEmpty == true)
  }

  @Test("an HTTPCookie can be archived, and can be created from properties that are substrings")
  func cookieArchive() throws {
    let line: Substring = "name=value".prefix(4)
    let cookie = try #require(
      HTTPCookie(properties: [
        .name: line, .value: "v", .domain: "h.example", .path: "/", .secure: "TRUE",
        .expires: Date(timeIntervalSince1970: 4_000_000_000),
      ]))
    #expect(cookie.name == "name")
    let data = try NSKeyedArchiver.archivedData(withRootObject: cookie, requiringSecureCoding: true)
    #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: HTTPCookie.self, from: data) == cookie)
  }

  @Test("each app group identifier has one cookie storage, whose cookies can be sorted by sort descriptors")
  func cookieStorage() throws {
    let group = HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "group")
    #expect(group === HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "group"))
    #expect(group !== HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "other"))
    let storage = HTTPCookieStorage()
    for (name, path) in [("b", "/1"), ("a", "/1"), ("c", "/0")] {
      storage.setCookie(
        try #require(HTTPCookie(properties: [.name: name, .value: "v", .domain: "h.example", .path: path])))
    }
    let byPath = NSSortDescriptor(keyPath: \HTTPCookie.path, ascending: true)
    let byName = NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: false)
    #expect(storage.sortedCookies(using: [byPath, byName]).map(\.name) == ["c", "b", "a"])
    #expect(storage.sortedCookies(using: [byPath]).map(\.name) == ["c", "b", "a"])
    #expect(storage.sortedCookies(using: []) == storage.cookies)
  }

  @Test("a cookie storage's methods with a task parameter use the URL of the task's current request")
  func cookiesOfTask() throws {
    let session = URLSession(configuration: .ephemeral)
    defer { session.invalidateAndCancel() }
    let storage = HTTPCookieStorage()
    let task = session.dataTask(with: try #require(URL(string: "https://h.example/a")))
    let cookies = try ["h.example", "other.example"].map { domain in
      try #require(HTTPCookie(properties: [.name: "a", .value: "v", .domain: domain, .path: "/"]))
    }
    storage.storeCookies(cookies, for: task)
    #expect(storage.cookies == [cookies[0]])
    storage.setCookie(cookies[1])
    storage.getCookiesFor(task) { #expect($0 == [cookies[0]]) }
    let local = session.dataTask(with: URL(filePath: "/a"))
    storage.getCookiesFor(local) { #expect($0 == nil) }
  }

  @Test("flush closes the session's connections after the requests in flight, even if the session has other tasks")
  func flushOfBusySession() async throws {
    let (arrived, go) = (Gate(), Gate())
    defer { go.open() }
    try await withServer { request in
      if request.path == "/held" {
        arrived.open()
        go.waitBlocking()
      }
      return .text(request.path)
    } _: { origin in
      try await withSession {
        $0.engine.pool.idleTimeout = .seconds(1_000)
      } _: { session in
        let unstarted = session.dataTask(with: origin.request())
        async let held = session.data(for: origin.request("/held"))
        await arrived.wait()
        _ = try await session.data(for: origin.request())
        #expect(origin.openConnectionCount == 2)
        await session.flush()
        _ = try await session.data(for: origin.request())
        #expect(origin.connectionCount == 3)
        go.open()
        #expect(String(decoding: try await held.0, as: UTF8.self) == "/held")
        #expect(await settles { origin.openConnectionCount == 1 })
        unstarted.cancel()
      }
    }
  }

  @Test(
    "flush makes a session's next requests open new connections, and reset removes the session's cookies and credentials"
  )
  func flush() async throws {
    try await withServer { _ in
      Reply(fields: ["Set-Cookie": "a=1"])
    } _: { origin in
      try await withSession { session in
        _ = try await session.data(for: origin.request())
        _ = try await session.data(for: origin.request())
        #expect(origin.connectionCount == 1)
        await withCheckedContinuation { continuation in session.flush { continuation.resume() } }
        _ = try await session.data(for: origin.request())
        #expect(origin.connectionCount == 2)
        #expect(await settles { origin.openConnectionCount == 1 })
        await session.flush()
        _ = try await session.data(for: origin.request())
        #expect(origin.connectionCount == 3)
        let storages = (session.configuration.httpCookieStorage, session.configuration.urlCredentialStorage)
        let space = URLProtectionSpace(
          host: "h.example", port: 80, protocol: "http", realm: "r",
          authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        storages.1?.set(URLCredential(user: "u", password: "p", persistence: .forSession), for: space)
        let synchronizable = try #require(URLCredential.Persistence(rawValue: 3))
        storages.1?.set(URLCredential(user: "v", password: "p", persistence: synchronizable), for: space)
        #expect(storages.0?.cookies?.count == 1 && storages.1?.credentials(for: space)?.count == 2)
        await withCheckedContinuation { continuation in session.reset { continuation.resume() } }
        #expect(storages.0?.cookies?.isEmpty == true && storages.1?.credentials(for: space)?.isEmpty ?? true)
        _ = try await session.data(for: origin.request())
        #expect(storages.0?.cookies?.count == 1)
        await session.reset()
        #expect(storages.0?.cookies?.isEmpty == true)
      }
    }
  }
}
