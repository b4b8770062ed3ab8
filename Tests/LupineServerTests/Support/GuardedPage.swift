// GuardedPage: the pages of the test servers that require a credential, and the proxies that do.

import Foundation
import LupineEngine
import LupineTestSupport
import LupineURLSession
import Testing

/// A page for which its origin or a proxy requires a credential. It reports the number of bytes in the request's body.
struct GuardedPage: Sendable, CustomTestStringConvertible {
  /// A body of a request.
  enum Content: Sendable {
    case empty
    case memory(Data)
    case file(URL)
    case stream(Data)
  }

  let origin: TestServer
  let path: String
  /// The proxy that requires the credential, or nil if the origin does.
  var proxy: TestServer?
  /// A credential that the server accepts, or nil if it accepts none of the tests' credentials.
  var right: URLCredential?
  /// Credentials that the server refuses.
  let wrong: [URLCredential]

  var testDescription: String {
    "\(origin)\(path)" + (proxy.map { " through \($0)" } ?? "") + " as \(right?.user ?? "nobody")"
  }

  /// The number of bytes of an upload: 10 MB, or 1 kB if squid forwards it, because squid 5.7 stalls on a connection on which it
  /// has refused a longer body.
  var uploadByteCount: Int { proxy != nil && !origin.isTLS ? 1_000 : 10_000_000 }

  /// Whether the credential is for CONNECT, whose refusal is an error instead of a response.
  var isTunneled: Bool { proxy != nil && origin.isTLS }

  /// The status code of a refusal.
  var refusal: Int { proxy == nil ? 401 : 407 }

  /// Returns a session that trusts the servers' authority. Throws if a server or the Kerberos ticket is missing.
  func makeSession() throws -> URLSession {
    try origin.require()
    try proxy?.require()
    if right == Self.ticket || wrong.contains(Self.ticket) { try TestServer.requireTicket() }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.engine.tls.trustRoots = [.file(TestServer.authorityFile)]
    configuration.engine.proxy = .none
    if let proxy {
      // Kerberos knows the service by this name, so it isn't the address.
      configuration.engine.proxy = .fixed(
        try Proxy(proxy.isTLSProxy ? .https : .http, host: "localhost", port: proxy.rawValue))
    }
    return URLSession(configuration: configuration)
  }

  /// Requests the page, and answers each challenge once with the credential.
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
  /// The ticket of krbuser.
  static let ticket = credential("", "")

  /// The pages and proxies that accept a credential.
  static let all = digest + apache + handshakes + proxies

  /// Pages for which the ticket's user lacks a permission.
  static let forbidden = [
    GuardedPage(origin: .apache, path: "/krb-other/count", wrong: [ticket]),
    GuardedPage(origin: .apacheTLS, path: "/krb-other/count", wrong: [ticket]),
    GuardedPage(
      origin: .httpbin, path: "/anything", proxy: .squidNegotiate, wrong: [ticket]),
  ]

  private static let user = credential("user", "pass")
  private static let wrongUsers = [credential("user", "wrong"), credential("other", "pass")]
  /// The user of squid with Basic for these pages only, because while squid 5.7 looks up a user's password for one request, it
  /// gives the result to all requests of that user, such as those of tests that run at the same time.
  private static let pagesUser = credential("pages", "pass")
  private static let wrongPagesUsers = [credential("pages", "wrong"), credential("other", "pass")]
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

  private static let proxies: [GuardedPage] = [TestServer.apache, .apacheTLS].flatMap { server -> [GuardedPage] in
    func page(_ proxies: [TestServer], _ right: URLCredential, _ wrong: [URLCredential]) -> [GuardedPage] {
      proxies.map { GuardedPage(origin: server, path: "/count", proxy: $0, right: right, wrong: wrong) }
    }
    return page([.squidLogin, .encryptedProxy], pagesUser, wrongPagesUsers)
      + page([.squidDigest, .encryptedDigestProxy], user, wrongUsers)
      + page([.squidNegotiate, .encryptedNegotiateProxy], ticket, [realmUser])
      + page([.squidNTLM, .encryptedNTLMProxy], domainUser, wrongDomainUsers)
  }

  private static func credential(_ user: String, _ password: String) -> URLCredential {
    URLCredential(user: user, password: password, persistence: .none)
  }
}

/// Answers each task's challenges once with a credential, and provides another stream each time that the body is needed again.
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
