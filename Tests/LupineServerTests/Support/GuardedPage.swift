// GuardedPage: the pages of the test servers that require a credential, and the proxies that do.

import Foundation
import LupineEngine
import LupineTestSupport
import LupineURLSession
import Testing

/// A page of a test server that requires a credential, or that is requested through a proxy that does. The response states the
/// number of bytes in the request's body.
struct GuardedPage: Sendable, CustomTestStringConvertible {
  /// The form in which a request's body is uploaded.
  enum Content: Sendable {
    case empty
    case memory(Data)
    case file(URL)
    case stream(Data)
  }

  let origin: TestServer
  let path: String
  /// The proxy that requires the credential, or nil if the origin requires it.
  var proxy: TestServer?
  /// A credential that the origin or proxy accepts, or nil if it accepts none of the tests' credentials.
  var right: URLCredential?
  /// Credentials that the origin or proxy refuses.
  let wrong: [URLCredential]
  /// The position in `origins` or `proxies`.
  var number = 0

  var testDescription: String {
    "\(origin)\(path)" + (proxy.map { " through \($0)" } ?? "") + " as \(right?.user ?? "nobody")"
  }

  /// The size of an upload to this page, in bytes: 10 MB, or 1 kB if squid forwards it. squid 5.7 stalls on a connection on which
  /// it has refused a longer body.
  var uploadByteCount: Int { proxy != nil && !origin.isTLS ? 1_000 : 10_000_000 }

  /// Whether the proxy requires the credential for CONNECT. If it refuses the credential, the request gets an error and no
  /// response.
  var isTunneled: Bool { proxy != nil && origin.isTLS }

  /// Whether the origin delays each refusal of a password by a second, to slow down guessing, as lighttpd does.
  var delaysRefusals: Bool { proxy == nil && [.lighttpd, .lighttpdTLS].contains(origin) }

  /// The status code with which the origin or proxy refuses a credential.
  var refusal: Int { proxy == nil ? 401 : 407 }

  /// Returns a session that trusts the test servers' authority. Throws if a test server or the Kerberos ticket is missing.
  func makeSession() throws -> URLSession {
    try origin.require()
    try proxy?.require()
    if right == Self.ticket || wrong.contains(Self.ticket) { try TestServer.requireTicket() }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.engine.tls.trustRoots = [.file(TestServer.authorityFile)]
    configuration.engine.proxy = .none
    if let proxy {
      // The proxy's host is this name and not the address, because Kerberos knows the service by this name.
      configuration.engine.proxy = .fixed(
        try Proxy(proxy.isTLSProxy ? .https : .http, host: "localhost", port: proxy.rawValue))
    }
    return URLSession(configuration: configuration)
  }

  /// Requests the page with this body, and answers each authentication challenge once with the credential.
  func send(
    _ content: Content, as credential: URLCredential, through session: URLSession
  ) async throws -> (status: Int?, text: String) {
    let address = "\(origin.isTLS ? "https" : "http")://localhost:\(origin.rawValue)\(path)"
    var request = URLRequest(url: try #require(URL(string: address)))
    let result: (Data, URLResponse)
    switch content {
    case .empty: result = try await session.data(for: request, delegate: Login(credential))
    case .memory(let data):
      request.httpMethod = "POST"
      result = try await session.upload(for: request, from: data, delegate: Login(credential))
    case .file(let url):
      request.httpMethod = "POST"
      result = try await session.upload(for: request, fromFile: url, delegate: Login(credential))
    case .stream(let data):
      request.httpMethod = "POST"
      request.httpBodyStream = InputStream(data: data)
      result = try await session.data(for: request, delegate: Login(credential, streaming: data))
    }
    return ((result.1 as? HTTPURLResponse)?.statusCode, String(decoding: result.0, as: UTF8.self))
  }
}

extension GuardedPage {
  /// The credential with which a client uses the Kerberos ticket of the user krbuser: an empty user name and password.
  static let ticket = credential("", "")

  /// The pages of origins for which a test has a correct credential.
  static let origins = numbered(digest + apache + handshakes)

  /// Pages through proxies for which a test has a correct credential.
  static let proxies = numbered(proxied)

  /// Pages that refuse the Kerberos ticket, because krbuser lacks a permission.
  static let forbiddenOrigins = [
    GuardedPage(origin: .apache, path: "/krb-other/count", wrong: [ticket]),
    GuardedPage(origin: .apacheTLS, path: "/krb-other/count", wrong: [ticket]),
  ]

  /// A proxy that refuses it.
  static let forbiddenProxies = [
    GuardedPage(origin: .httpbin, path: "/anything", proxy: .squidNegotiate, wrong: [ticket])
  ]

  private static func numbered(_ pages: [GuardedPage]) -> [GuardedPage] {
    pages.enumerated().map { number, page in
      var page = page
      page.number = number
      return page
    }
  }

  private static let user = credential("user", "pass")
  private static let wrongUsers = [credential("user", "wrong"), credential("other", "pass")]
  /// A user that only these pages use for squid with Basic. While squid 5.7 looks up a user's password for one request, it gives
  /// the result to all requests of that user, such as those of tests that run at the same time.
  private static let pagesUser = credential("pages", "pass")
  private static let wrongPagesUsers = [credential("pages", "wrong"), credential("other", "pass")]
  /// No test uses the right password of this user, because squid 5.7 accepts a wrong one while it accepts another request of the user.
  private static let wrongDigestProxyUsers = [credential("refused", "wrong"), credential("other", "pass")]
  private static let domainUser = credential("TESTDOM\\user", "pass")
  private static let wrongDomainUsers = [credential("TESTDOM\\user", "wrong"), credential("other", "pass")]
  private static let realmUser = credential("krbuser", "pass")

  private static let digest: [GuardedPage] = [TestServer.lighttpd, .lighttpdTLS].flatMap { server in
    ["dmd5", "d256", "d256uh", "d512", "dmulti"].map { folder in
      GuardedPage(origin: server, path: "/\(folder)/count", right: user, wrong: wrongUsers)
    }
  }

  private static let apache: [GuardedPage] = [TestServer.apache, .apacheTLS].flatMap { server in
    [
      GuardedPage(origin: server, path: "/digest/count", right: user, wrong: wrongUsers),
      GuardedPage(origin: server, path: "/ntlm/count", right: domainUser, wrong: wrongDomainUsers),
      GuardedPage(origin: server, path: "/krb/count", right: ticket, wrong: [realmUser]),
      GuardedPage(origin: server, path: "/krb-connection/count", right: ticket, wrong: [realmUser]),
      GuardedPage(origin: server, path: "/multi/count", right: ticket, wrong: [user]),
      GuardedPage(origin: server, path: "/multi/count", right: realmUser, wrong: [credential("krbuser", "wrong")]),
    ]
  }

  private static let handshakes: [GuardedPage] = [
    GuardedPage(origin: .ntlm, path: "/", right: domainUser, wrong: wrongDomainUsers),
    GuardedPage(origin: .ntlmTLS, path: "/", right: domainUser, wrong: wrongDomainUsers),
    GuardedPage(origin: .negotiateTLS, path: "/", right: ticket, wrong: [realmUser]),
  ]

  private static let proxied: [GuardedPage] = [TestServer.apache, .apacheTLS].flatMap { server -> [GuardedPage] in
    func page(_ proxies: [TestServer], _ right: URLCredential, _ wrong: [URLCredential]) -> [GuardedPage] {
      proxies.map { GuardedPage(origin: server, path: "/count", proxy: $0, right: right, wrong: wrong) }
    }
    return page([.squidLogin, .encryptedProxy], pagesUser, wrongPagesUsers)
      + page([.squidDigest, .encryptedDigestProxy], user, wrongDigestProxyUsers)
      + page([.squidNegotiate, .encryptedNegotiateProxy], ticket, [realmUser])
      + page([.squidNTLM, .encryptedNTLMProxy], domainUser, wrongDomainUsers)
  }

  private static func credential(_ user: String, _ password: String) -> URLCredential {
    URLCredential(user: user, password: password, persistence: .none)
  }
}

/// A task delegate that answers each challenge once with a credential, and provides another stream each time that the body is sent
/// again.
private final class Login: NSObject, URLSessionTaskDelegate {
  private let credential: URLCredential
  private let content: Data?

  init(_ credential: URLCredential, streaming content: Data? = nil) {
    self.credential = credential
    self.content = content
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    guard challenge.previousFailureCount == 0 else { return completionHandler(.rejectProtectionSpace, nil) }
    completionHandler(.useCredential, credential)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
  ) { completionHandler(content.map { InputStream(data: $0) }) }
}
