// Challenges of the Basic scheme, answered by a session.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct BasicAuthenticationTests {
  @Test("a Basic challenge is answered with the request's credential on the same connection")
  func requestsOwn() async throws {
    try await withServer(Self.guarded) { origin in
      try await withSession { session in
        let request = session.request(origin.url).authenticate(username: "u", password: "p")
        let response = await request.serializingString().response
        #expect(response.value == "in" && response.response?.statusCode == 200)
        #expect(origin.requestCount == 2 && origin.connectionCount == 1)
        #expect(request.tasks.count == 1 && response.metrics?.redirectCount == 0)
        let answers = response.metrics?.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode }
        #expect(answers == [401, 200])
        #expect(response.request?.headers["Authorization"] == nil)
        #expect(request.credential?.user == "u")
      }
    }
  }

  @Test(
    "a credential that answers a challenge replaces the Authorization field that the caller has set in the request",
    arguments: ["Authorization", "authorization"], [true, false])
  func replacesAuthorization(name: String, isSessions: Bool) async throws {
    try await withServer { request in
      let head = String(decoding: request.rawHead, as: UTF8.self)
      return head.contains("Basic dTpw")
        ? .text(head) : Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
    } _: { origin in
      let headers = HTTPHeaders([name: "Bearer stale"])
      try await withSession {
        if isSessions { $0.headers = headers }
      } _: { session in
        let request = session.request(origin.url, headers: isSessions ? nil : headers)
          .authenticate(username: "u", password: "p")
        let head = try await request.serializingString().value
        #expect(head.lowercased().components(separatedBy: "authorization:").count == 2)
        #expect(!head.contains("stale"))
      }
    }
  }

  @Test("a request without a credential answers a Basic challenge with the credential storage's default credential")
  func storage() async throws {
    try await withServer(Self.guarded) { origin in
      let right = URLCredential(user: "u", password: "p", persistence: .forSession)
      let wrong = URLCredential(user: "w", password: "p", persistence: .forSession)
      for (stored, own, status) in [(right, nil, 200), (wrong, right, 200), (right, wrong, 401), (wrong, nil, 401)] {
        let storage = URLCredentialStorage()
        storage.setDefaultCredential(stored, for: Self.space(origin, realm: "r"))
        try await withSession {
          $0.urlCredentialStorage = storage
        } _: { session in
          let request = session.request(origin.url)
          if let own { request.authenticate(with: own) }
          let response = await request.outcome()
          #expect(response.response?.statusCode == status && response.error == nil)
        }
      }
    }
  }

  @Test("a refused credential is sent only once, and the 401 is delivered with its body")
  func refused() async throws {
    try await withServer(Self.guarded) { origin in
      try await withSession { session in
        let request = session.request(origin.url).authenticate(username: "u", password: "wrong")
        let response = await request.serializingString().response
        #expect(response.value == "refused" && response.response?.statusCode == 401)
        #expect(origin.requestCount == 2)
        let validated = await session.request(origin.url).authenticate(username: "u", password: "wrong").validate()
          .outcome()
        #expect(validated.error?.responseCode == 401)
      }
    }
  }

  @Test("if the server refuses the request's credential, the retrier receives the validation error for the 401")
  func refusedAndRetried() async throws {
    try await withServer(Self.guarded) { origin in
      try await withSession { session in
        let retrier = ScriptedRetrier([.retry])
        let request = session.request(origin.url, interceptor: retrier)
          .authenticate(username: "u", password: "wrong").validate()
        #expect(await request.outcome().error?.responseCode == 401)
        #expect(retrier.errors.entries.map { $0?.responseCode } == [401, 401] && request.retryCount == 1)
      }
    }
  }

  @Test(
    "if no credential can answer a challenge, the 401 is delivered", arguments: ["Basic realm=\"r\"", "Negotiate"])
  func nothingToShow(challenge: String) async throws {
    try await withServer { _ in
      .text("refused", status: 401).with("WWW-Authenticate", challenge)
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        if challenge == "Negotiate" { request.authenticate(username: "u", password: "p") }
        let response = await request.serializingString().response
        #expect(response.value == "refused" && response.response?.statusCode == 401)
        #expect(origin.requestCount == 1)
      }
    }
  }

  @Test(
    "the delegate and monitors receive NTLM and Negotiate challenges, and an incomplete handshake reveals no password",
    arguments: [
      // The server answers NTLM's first message with another challenge, so the credential counts as refused.
      ("NTLM", NSURLAuthenticationMethodNTLM, 2),
      // Negotiate needs a Kerberos ticket, so a password can't answer the challenge.
      ("Negotiate", NSURLAuthenticationMethodNegotiate, 1),
    ])
  func connectionScheme(challenge: String, method: String, requestCount: Int) async throws {
    let sent = Log<String>()
    try await withServer { request in
      sent.note(request.fields.first("Authorization") ?? "none")
      return .text("refused", status: 401).with("WWW-Authenticate", challenge)
    } _: { origin in
      let (delegate, events) = (Willing(), Log<String>())
      let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
      monitor.taskDidReceiveChallenge = { _, _, challenge in
        events.note(challenge.protectionSpace.authenticationMethod)
      }
      let session = Session(configuration: .forTests, delegate: delegate, eventMonitors: [monitor])
      try await keeping(session) { session in
        let request = session.request(origin.url).authenticate(username: "u", password: "p")
        let response = await request.serializingString().response
        #expect(response.value == "refused" && response.response?.statusCode == 401)
        let methods = Array(repeating: method, count: requestCount)
        #expect(delegate.methods.entries == methods)
        await monitor.queue.drain()
        #expect(events.entries == methods)
        #expect(origin.requestCount == requestCount)
        // NTLM's first message contains only a signature and the type 1, neither the user nor a proof (MS-NLMP §2.2.1.1).
        #expect(sent.entries.first == "none")
        #expect(sent.entries.dropFirst().allSatisfy { $0.hasPrefix("NTLM TlRMTVNTUAABAAAA") })
      }
    }
  }

  @Test(
    "the validation error for a 401 lists the schemes that Lupine supports, and debugDescription those that the server offers"
  )
  func unsupportedSchemeInTexts() async throws {
    try await withServer { _ in
      .text("refused", status: 401).with("WWW-Authenticate", "Digest realm=\"r\"")
        .with("WWW-Authenticate", "Negotiate")
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url).authenticate(username: "u", password: "p").validate()
        let response = await request.outcome()
        #expect(response.error?.responseCode == 401)
        #expect(response.error?.localizedDescription.contains("supports Basic, Digest, NTLM and Negotiate") == true)
        #expect(
          response.debugDescription.contains(
            "authentication: The server requires a credential and offers Digest, Negotiate."))
        let download = await session.download(origin.url).outcome()
        if let file = download.fileURL { try FileManager.default.removeItem(at: file) }
        #expect(download.debugDescription.contains("offers Digest, Negotiate."))
      }
    }
  }

  @Test(
    "if a proxy's 407 doesn't offer Basic, the error and the debugDescription list the schemes that the proxy offers")
  func proxy() async throws {
    try await withServer { _ in
      .text("refused", status: 407).with("Proxy-Authenticate", "Negotiate")
    } _: { server in
      let proxy = try Proxy("http://u:p@127.0.0.1:\(server.port)")
      try await withSession {
        $0.engine.proxy = .fixed(proxy)
      } _: { session in
        let response = await session.request("http://origin.test/").validate().outcome()
        #expect(response.error?.responseCode == 407)
        #expect(
          response.error?.localizedDescription.contains("Basic, Digest, NTLM and Negotiate are supported") == true)
        #expect(
          response.debugDescription.contains("authentication: The proxy requires a credential and offers Negotiate."))
      }
    }
  }

  @Test("the protection space of a challenge without a realm parameter has the host as its realm")
  func noRealm() async throws {
    try await withServer { request in
      request.fields.first("Authorization") == "Basic dTpw"
        ? .text("in") : Reply(status: 401, fields: ["WWW-Authenticate": "Basic"])
    } _: { origin in
      let storage = URLCredentialStorage()
      storage.setDefaultCredential(
        URLCredential(user: "u", password: "p", persistence: .forSession), for: Self.space(origin, realm: "127.0.0.1"))
      try await withSession {
        $0.urlCredentialStorage = storage
      } _: { session in
        #expect(await session.request(origin.url).serializingString().response.value == "in")
      }
    }
  }

  @Test(
    "a request discards the large body of a 401 whose challenge is answered, and delivers the body otherwise",
    arguments: [true, false])
  func largeRefusal(isAnswered: Bool) async throws {
    let byteCount: UInt64 = 5_000_000
    try await withServer { request in
      request.fields.first("Authorization") == "Basic dTpw"
        ? .text("in")
        : Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""], .pattern(byteCount: byteCount))
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url)
        if isAnswered { request.authenticate(username: "u", password: "p") }
        let progress = request.downloadProgress
        let response = await request.outcome()
        #expect(response.error == nil && response.response?.statusCode == (isAnswered ? 200 : 401))
        #expect(response.data?.count == (isAnswered ? 2 : Int(byteCount)))
        #expect(progress.completedUnitCount == Int64(isAnswered ? 2 : byteCount))
      }
    }
  }

  @Test(
    "a request answers a challenge after a redirect, and sends the credential preemptively after the next redirect",
    arguments: [true, false])
  func redirected(isModified: Bool) async throws {
    try await withServer { request in
      switch (request.path, request.fields.first("Authorization")) {
      case ("/", _): redirect(to: "/first")
      case ("/first", "Basic dTpw"): redirect(to: "/second")
      case (_, "Basic dTpw"): .text("in")
      default: Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"\(request.path)\""])
      }
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url).authenticate(username: "u", password: "p")
        if isModified {
          // The request passed to the redirect handler has no credential. The session adds the credential afterward.
          request.redirect(
            using: .modify { _, request, response in
              var request = request
              request.headers.update(name: "X-From", value: response.url?.path() ?? "")
              return request
            })
        }
        let response = await request.serializingString().response
        #expect(response.value == "in" && response.response?.url?.path() == "/second")
        // Only /first sends a challenge. The credential is sent to /second without another challenge.
        #expect(origin.requestCount == 4)
      }
    }
  }

  @Test("after a redirect to another origin, that origin's challenge isn't answered with the request's credential")
  func elsewhere() async throws {
    try await withServer(Self.guarded) { other in
      try await withServer { _ in
        redirect(to: other.url)
      } _: { origin in
        try await withSession { session in
          let request = session.request(origin.url).authenticate(username: "u", password: "p")
          let response = await request.serializingString().response
          #expect(response.value == "refused" && response.response?.statusCode == 401)
          #expect(other.requestCount == 1)
        }
      }
    }
  }

  @Test(
    "a protection space covers the URLs of its origin, and an https protection space also covers http URLs of its host",
    arguments: [
      ("http://a", 80, "http", true), ("http://A:80/x", 80, "http", true), ("http://a", 443, "https", true),
      ("http://a:8080", 443, "https", false), ("http://a", 8443, "https", false), ("https://a", 80, "http", false),
      ("http://b", 80, "http", false), ("http://a:81", 80, "http", false),
    ])
  func spaces(url: String, port: Int, scheme: String, isThere: Bool) throws {
    let space = URLProtectionSpace(
      host: "a", port: port, protocol: scheme, realm: "r", authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
    let url = try #require(URL(string: url))
    #expect(space.isAt(url) == isThere)
  }

  @Test("httpbin's Basic challenge is answered correctly")
  func httpbin() async throws {
    let base = try await TestServers.httpbin
    try await withSession { session in
      let right = session.request("\(base)/basic-auth/u/p").authenticate(username: "u", password: "p").validate()
      #expect(await right.serializingData().response.response?.statusCode == 200)
      let wrong = session.request("\(base)/basic-auth/u/p").authenticate(username: "u", password: "x")
      let response = await wrong.outcome()
      #expect(response.response?.statusCode == 401 && response.error == nil && response.data == nil)
      let hidden = session.request(
        "\(base)/hidden-basic-auth/u/p", headers: [.authorization(username: "u", password: "p")])
      #expect(await hidden.outcome().response?.statusCode == 200)
    }
  }

  @Sendable private static func guarded(_ request: ReceivedRequest) -> Reply {
    request.fields.first("Authorization") == "Basic dTpw"
      ? .text("in") : .text("refused", status: 401).with("WWW-Authenticate", "Basic realm=\"r\"")
  }

  private static func space(_ origin: OriginServer, realm: String) -> URLProtectionSpace {
    URLProtectionSpace(
      host: "127.0.0.1", port: Int(origin.port), protocol: "http", realm: realm,
      authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
  }
}

// Unchecked because the superclass is unchecked. The state that this class adds is constant.
/// A SessionDelegate that answers a task's first challenge with a credential, and records each challenge's authentication method.
private final class Willing: SessionDelegate, @unchecked Sendable {
  let methods = Log<String>()

  override func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    methods.note(challenge.protectionSpace.authenticationMethod)
    // The superclass notifies the monitors.
    super.urlSession(session, task: task, didReceive: challenge) { disposition, _ in
      guard challenge.previousFailureCount == 0 else { return completionHandler(disposition, nil) }
      completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }
  }
}
