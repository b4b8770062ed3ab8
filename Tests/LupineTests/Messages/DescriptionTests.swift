// Descriptions of public classes: useful text without addresses and passwords.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct DescriptionTests {
  /// The public classes that have no `description` because they have no useful state. Swift prints their name.
  private static let namedByType: Set<String> = [
    "Adapter", "AlamofireNotifications", "AuthenticationInterceptor", "ClosureEventMonitor", "CompositeEventMonitor",
    "CompositeTrustEvaluator", "ConnectionLostRetryPolicy", "DataResponseSerializer", "DecodableResponseSerializer",
    "DefaultTrustEvaluator", "DisabledTrustEvaluator", "Interceptor", "JSONParameterEncoder", "JSONResponseSerializer",
    "NWPathMonitor", "NetworkReachabilityManager", "OfflineRetrier", "PinnedCertificatesTrustEvaluator",
    "PropertyListParameterEncoder", "PropertyListResponseSerializer", "PublicKeysTrustEvaluator", "Retrier",
    "RetryPolicy", "RevocationTrustEvaluator", "ServerTrustManager", "StringResponseSerializer",
    "URLEncodedFormEncoder", "URLEncodedFormParameterEncoder",
  ]

  /// The targets whose public classes programs can use.
  private static let targets: Set<Substring> = ["Lupine", "LupineURLSession", "LupineCookies", "LupineFormats"]

  private let url: URL

  init() throws {
    url = try #require(URL(string: "https://user:secret@example.org/a@b?c=d"))
  }

  /// Returns the names of the public classes in the source files, each with the rest of the line that declares the class.
  private func declarations() throws -> [String: String] {
    let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardized.path
    let paths = try #require(FileManager.default.enumerator(atPath: sources)?.compactMap { $0 as? String })
    var found: [String: String] = [:]
    for path in paths
    where path.hasSuffix(".swift") && Self.targets.contains(path.prefix { $0 != "/" }) {
      for line in try String(contentsOfFile: "\(sources)/\(path)", encoding: .utf8).split(separator: "\n") {
        // Most lines contain no declaration of a class, and matching a pattern takes longer.
        guard line.contains("class "),
          let match = line.firstMatch(of: /^\s*(?:open|public)(?: final)? class (\w+)(.*)/),
          !["var", "func"].contains(match.1)
        else { continue }
        found[String(match.1)] = String(match.2)
      }
    }
    return found
  }

  /// Sends a request, and returns an object of each public class that has a description.
  private func objects(_ session: Session, at origin: String) async throws -> [any CustomStringConvertible] {
    let request = session.request(origin)
    let outcome = await request.outcome()
    let metrics = try #require(outcome.metrics)
    let download = session.session.downloadTask(with: URLRequest(url: url))
    let data = session.session.dataTask(with: URLRequest(url: url))
    let upload = session.session.uploadTask(with: URLRequest(url: url), from: Data([1]))
    let stream = session.session.streamTask(withHostName: "127.0.0.1", port: 1)
    let socket = session.session.webSocketTask(with: URLRequest(url: url))
    for task in [download, data, upload, stream, socket] { task.cancel() }
    let response = try #require(outcome.response)
    let space = URLProtectionSpace(
      host: "h", port: 1, protocol: "https", realm: "r", authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    let credential = URLCredential(user: "user", password: "secret", persistence: .none)
    let authority = try ThrowawayAuthority()
    let certificate = try SecCertificate.pem(authority.certificatePEM)
    let own = try authority.issue(commonName: "A client", purpose: .client)
    let identity = try SecIdentity(
      certificatePEM: Data(own.certificatePEM), privateKeyPEM: Data(own.privateKeyPEM))
    return [
      request, session.upload(Data([1]), to: origin), session.download(origin), session.streamRequest(origin),
      session.webSocketRequest(to: origin),
      session, session.session, session.session.configuration, session.delegate, data, upload, download,
      stream, socket,
      try #require(request.task), response,
      URLResponse(url: url, mimeType: "text/plain", expectedContentLength: 5, textEncodingName: nil),
      CachedURLResponse(response: response, data: Data([1])),
      URLCache(memoryCapacity: 1, diskCapacity: 0, diskPath: nil),
      NSURLRequest(url: url), NSMutableURLRequest(url: url),
      URLProtocol(request: URLRequest(url: url), cachedResponse: nil, client: nil), metrics,
      metrics.transactionMetrics[0],
      HTTPCookieStorage(), try #require(HTTPCookie(properties: [.name: "n", .value: "v", .domain: "d", .path: "/"])),
      URLCredentialStorage(), credential, space,
      URLAuthenticationChallenge(
        protectionSpace: space, proposedCredential: credential, previousFailureCount: 1, failureResponse: nil),
      certificate, certificate.publicKey, identity, SecPolicyCreateSSL(true, "h"),
      try SecTrust.shown(by: authority.issue(names: ["localhost"]), trusting: authority), MultipartFormData(),
    ]
  }

  @Test("no public class of Lupine has a description that contains a memory address or a password")
  func everyClass() async throws {
    let declarations = try declarations()
    #expect(declarations.count > 40)
    try await withServer { _ in
      .text("here")
    } _: { origin in
      try await withSession { session in
        let objects = try await objects(session, at: origin.url)
        var described: Set<String> = ["Request", "URLSessionTask"]
        for object in objects {
          let type = "\(type(of: object))"
          described.insert(type)
          for text in ["\(object)", String(reflecting: object)] {
            // Foundation's default is `<Class: 0x…>`; a key in base64 may contain "0x" too, but no space.
            #expect(!text.contains(": 0x") && !text.contains("secret"), "\(text)")
            #expect(!text.isEmpty && !text.hasPrefix("Lupine."), "\(text)")
            #expect(text != type || type == "SessionDelegate", "\(text)")
          }
        }
        // `described` begins with the abstract classes, because only their subclasses have objects.
        #expect(Set(declarations.keys) == described.union(Self.namedByType))
        for name in Self.namedByType {
          #expect(declarations[name]?.contains("NSObject") == false, "\(name) is printed with its address")
        }
      }
    }
  }

  @Test("a response's description contains the status, the fields, and the URL without the user and password")
  func responses() throws {
    let response = try #require(
      HTTPURLResponse(url: url, statusCode: 404, httpVersion: nil, headerFields: ["Content-Length": "7", "A": "b"]))
    #expect(
      response.description == """
        HTTPURLResponse: 404 https://example.org/a@b?c=d
          A: b
          Content-Length: 7
        """)
    #expect(
      CachedURLResponse(response: response, data: Data(count: 1_500)).description
        .hasPrefix("CachedURLResponse with a body of 1.5 kB: HTTPURLResponse: 404 "))
    let plain = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    #expect(plain.description == "URLResponse: https://example.org/a@b?c=d, no media type, unknown length")
  }

  @Test(
    "the description of a URL omits the user name and the password",
    arguments: [
      ("https://u:p@h/", "https://h/"), ("https://u@h:1", "https://h:1"), ("https://h/u:p@x", "https://h/u:p@x"),
      ("https://h?u:p@x", "https://h?u:p@x"), ("https://h#@", "https://h#@"), ("file:///u@h", "file:///u@h"),
      ("mailto:u@h", "mailto:u@h"), ("/a://u@h", "/a://u@h"), ("http://%40:p@h", "http://h"),
    ])
  func userInformation(text: String, printed: String) throws {
    let url = try #require(URL(string: text))
    #expect(ReadableText.url(url) == printed)
    #expect(URLRequest(url: url).description == printed)
  }

  @Test("the URL in an error's description omits the user name and the password")
  func errors() async throws {
    let other = try #require(URL(string: "ftp://user:secret@example.org/"))
    let unsupported = await AF.request(other).outcome().error
    let errors: [AFError?] = [
      unsupported, .multipartEncodingFailed(reason: .bodyPartURLInvalid(url: url)),
      .multipartEncodingFailed(reason: .bodyPartFilenameInvalid(in: url)),
      .multipartEncodingFailed(reason: .outputStreamURLInvalid(url: url)),
      await AF.upload(url, to: "http://127.0.0.1:1/").outcome().error,
    ]
    for error in errors {
      let text = try #require(error?.localizedDescription)
      #expect(text.contains("example.org/") && !text.contains("secret"), "\(text)")
    }
  }

  @Test("a task's description contains its number, its request, its state, and its status or error")
  func tasks() async throws {
    try await withServer { _ in
      .text("here", status: 201)
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        _ = await request.outcome()
        #expect(request.task?.description == "URLSessionDataTask(1, GET \(origin.url), completed, status 201)")
        let task = session.session.downloadTask(with: URLRequest(url: url))
        #expect(task.description == "URLSessionDownloadTask(2, GET https://example.org/a@b?c=d, suspended)")
        task.taskDescription = "mine"
        #expect(task.description.hasSuffix(", suspended, mine)"))
        #expect(session.session.description == "URLSession(1 task, valid)")
        task.cancel()
      }
    }
  }

  @Test("the description of metrics contains each transaction's connection, phases and byte counts")
  func metrics() throws {
    @Sendable func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
    let transaction = URLSessionTaskTransactionMetrics(
      request: URLRequest(url: url),
      response: HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil),
      domainLookupStartDate: date(0), domainLookupEndDate: date(0.00025), connectStartDate: date(1),
      connectEndDate: date(1.5), secureConnectionStartDate: date(1.125), secureConnectionEndDate: date(1.5),
      requestStartDate: date(2), requestEndDate: date(4), responseStartDate: date(3), responseEndDate: date(5),
      networkProtocolName: "http/1.1", isReusedConnection: false, isProxyConnection: true, localAddress: "::1",
      localPort: 1, remoteAddress: "127.0.0.1", remotePort: 443, negotiatedTLSProtocolVersion: .TLSv13,
      countOfRequestHeaderBytesSent: 1, countOfResponseHeaderBytesReceived: 120,
      countOfResponseBodyBytesReceived: 2_500_000, countOfResponseBodyBytesAfterDecoding: 3_000_000_000)
    let text = """
      URLSessionTaskTransactionMetrics: GET https://example.org/a@b?c=d, 200
        connection: new, http/1.1, TLS 1.3, through a proxy, from [::1]:1, to 127.0.0.1:443
        phases: lookup 250 µs, connect 125.0 ms, TLS 375.0 ms, request 2.00 s, waiting 0 µs, response 2.00 s
        sent: 1 byte of head, 0 bytes of body
        received: 120 bytes of head, 2.5 MB of body (3.0 GB without codings)
      """
    #expect(transaction.description == text)
    let metrics = URLSessionTaskMetrics(
      URLSessionTaskMetrics.Values(
        transactionMetrics: [transaction], taskInterval: DateInterval(start: date(0), end: date(5)), redirectCount: 0))
    #expect(metrics.description == "URLSessionTaskMetrics: 1 request, 0 redirects, 5.00 s\n\(text)")
  }

  @Test("the descriptions of storages and forms contain the number and the size of their elements")
  func storages() throws {
    let cookies = HTTPCookieStorage()
    cookies.setCookie(
      try #require(HTTPCookie(properties: [.name: "n", .value: "secret", .domain: "d", .path: "/"])))
    #expect(cookies.description == "HTTPCookieStorage(1 cookie, accepts: always)")
    let credentials = URLCredentialStorage()
    for port in 1...2 {
      credentials.set(
        URLCredential(user: "u", password: "secret", persistence: .forSession),
        for: URLProtectionSpace(host: "h", port: port, protocol: nil, realm: nil, authenticationMethod: nil))
    }
    #expect(credentials.description == "URLCredentialStorage(2 credentials, 2 protection spaces)")
    let form = MultipartFormData(boundary: "b")
    form.append(Data(count: 1_234), withName: "n")
    #expect(form.description == "MultipartFormData(1 part, 1.2 kB, boundary: b)")
    let configuration = URLSessionConfiguration.ephemeral
    configuration.headers = ["Authorization": "secret"]
    #expect(
      configuration.description
        == "URLSessionConfiguration(request timeout: 60.00 s, resource timeout: 604800.00 s, "
        + "connections per host: 6, cookies: onlyFromMainDocumentDomain, additional fields: [\"Authorization\"])")
  }

  @Test(
    "a debug description contains text bodies of up to 100,000 bytes, but only the size of other bodies",
    arguments: [
      ("text/html", 100_000, true), ("text/html", 100_001, false), ("application/json", 3_000, true),
      ("application/problem+JSON; charset=utf-8", 10, true), ("application/atom+xml", 10, true),
      ("image/png", 10, false), ("application/x-www-form-urlencoded", 10, false), (nil, 10, false),
    ] as [(String?, Int, Bool)])
  func bodies(type: String?, byteCount: Int, isShown: Bool) throws {
    let body = Data(repeating: UInt8(ascii: "x"), count: byteCount)
    let text = String(decoding: body, as: UTF8.self)
    let size = ReadableText.bytes(Int64(byteCount))
    var request = URLRequest(url: url)
    request.httpBody = body
    request.setValue(type, forHTTPHeaderField: "Content-Type")
    let head = HTTPURLResponse(
      url: url, statusCode: 200, httpVersion: nil, headerFields: type.map { ["Content-Type": $0] })
    let received = AFDataResponse<Int>(
      request: nil, response: head, data: body, metrics: nil, serializationDuration: 0, result: .success(1))
    let data = received.debugDescription
    #expect(data.contains("response body: \(size)") && data.contains(text) == isShown)
    let sent = AFDownloadResponse<Int>(
      request: request, response: nil, fileURL: nil, resumeData: nil, metrics: nil, serializationDuration: 0,
      result: .success(1))
    let download = sent.debugDescription
    #expect(download.contains("request body: \(size)") && download.contains(text) == isShown)
  }

  private struct Hostile: LocalizedError {
    var errorDescription: String? { DescriptionTests.hostile.raw }
  }

  /// Text with which a peer could control a terminal, and the same text escaped.
  private static let hostile = (raw: "a\u{1B}[2J\u{9B}2J\u{202E}b", escaped: #"a\u{1b}[2J\u{9b}2J\u{202e}b"#)

  @Test("the descriptions of responses, fields, cookies and challenges escape text that could control a terminal")
  func hostileText() throws {
    let (raw, escaped) = Self.hostile
    let response = try #require(
      HTTPURLResponse(
        url: url, statusCode: 200, httpVersion: nil, headerFields: ["X": raw, "Content-Type": "text/\(raw)"]))
    let cookie = try #require(
      HTTPCookie(properties: [.name: "n", .value: "\u{9B}2J\u{202E}", .domain: "d", .path: "/"]))
    let space = URLProtectionSpace(host: "h", port: 1, protocol: "http", realm: raw, authenticationMethod: nil)
    let challenge = URLAuthenticationChallenge(
      protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil)
    let plain = URLResponse(url: url, mimeType: raw, expectedContentLength: 1, textEncodingName: nil)
    let type = AFError.responseValidationFailed(
      reason: .unacceptableContentType(acceptableContentTypes: ["text/html"], responseContentType: raw))
    let texts = [
      response.description, HTTPHeaders(["X": raw]).description, HTTPHeader(name: "X", value: raw).description,
      space.description, challenge.description, plain.description, type.localizedDescription,
    ]
    for text in texts { #expect(text.contains(escaped) && !text.contains("\u{1B}"), "\(text)") }
    #expect(cookie.description.contains(#"value:"\u{9b}2J\u{202e}""#))
  }

  @Test("a debug description escapes text that could control a terminal, but keeps the lines of a text body")
  func hostileBody() throws {
    let (raw, escaped) = Self.hostile
    var request = URLRequest(url: url)
    request.httpBody = Data(raw.utf8)
    request.headers = ["X": raw, "Content-Type": "text/plain"]
    let head = try #require(
      HTTPURLResponse(
        url: url, statusCode: 200, httpVersion: nil, headerFields: ["Y": raw, "Content-Type": "text/plain"]))
    let body = "one\n\(raw)\r\nthree"
    let data = AFDataResponse<String>(
      request: request, response: head, data: Data(body.utf8), metrics: nil, serializationDuration: 0,
      result: .success(raw))
    let download = AFDownloadResponse<String>(
      request: request, response: head, fileURL: nil, resumeData: nil, metrics: nil, serializationDuration: 0,
      result: .failure(.responseValidationFailed(reason: .customValidationFailed(error: Hostile()))))
    #expect(data.debugDescription.contains("one\n\(escaped)\r\nthree"))
    for text in [data.description, data.debugDescription, download.description, download.debugDescription] {
      #expect(!text.unicodeScalars.contains { "\u{1B}\u{9B}\u{202E}".unicodeScalars.contains($0) }, "\(text)")
    }
    for text in [data.debugDescription, download.debugDescription] {
      #expect(text.contains("  X: \(escaped)\n") && text.contains("  Y: \(escaped)\n"), "\(text)")
    }
  }

  @Test(
    "a debug description contains the names of cookies' fields and of fields that are declared secret, not their values"
  )
  func secretFields() throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.redirectRule.secretFields = ["X-Description-Key"]
    let names = ["Cookie", "cookie2", "Set-Cookie", "Set-Cookie2", "Authentication-Info", "X-DESCRIPTION-KEY"]
    let fields = Dictionary(uniqueKeysWithValues: names.map { ($0, "sid=s3cret value") })
    var request = URLRequest(url: url)
    request.headers = HTTPHeaders(fields)
    let head = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
    let response = AFDataResponse<Int>(
      request: request, response: head, data: nil, metrics: nil, serializationDuration: 0, result: .success(1))
    for text in [response.debugDescription, head.description] {
      #expect(!text.contains("s3cret"), "\(text)")
      for name in names { #expect(text.lowercased().contains("  \(name.lowercased()): (not shown)"), "\(name)") }
    }
  }

  @Test("a debug description contains the scheme of an Authorization field, but not its credential")
  func credentials() {
    var request = URLRequest(url: url)
    request.headers = [.authorization(username: "user", password: "secret"), .init(name: "a", value: "b")]
    let response = AFDataResponse<Int>(
      request: request, response: nil, data: nil, metrics: nil, serializationDuration: 0, result: .success(1))
    let lines = response.debugDescription.split(separator: "\n").map(String.init)
    #expect(
      lines.prefix(3) == ["request: GET https://example.org/a@b?c=d", "  Authorization: Basic (not shown)", "  a: b"])
    #expect(
      ReadableText.fields([("Proxy-Authorization", "Basic secret"), ("AUTHORIZATION", "secret"), ("authorization", "")])
        == [
          "  Proxy-Authorization: Basic (not shown)", "  AUTHORIZATION: (not shown)", "  authorization: (not shown)",
        ])
  }
}
