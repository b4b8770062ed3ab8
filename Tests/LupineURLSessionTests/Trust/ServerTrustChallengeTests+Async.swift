// ServerTrustChallengeTests+Async: delegates that decide about servers' certificates in async methods.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import Testing

@testable import LupineURLSession

extension ServerTrustChallengeTests {
  typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

  /// A session's delegate whose async method passes each challenge to a closure, and records the challenge's method.
  final class AsyncDeciding: NSObject, URLSessionTaskDelegate {
    let methods = Notes()
    private let decide: @Sendable (URLAuthenticationChallenge) async -> Answer

    init(_ decide: @escaping @Sendable (URLAuthenticationChallenge) async -> Answer) { self.decide = decide }

    func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> Answer {
      methods.add(challenge.protectionSpace.authenticationMethod)
      return await decide(challenge)
    }
  }

  /// A delegate with the async methods for challenges of a session and of a task.
  private final class Deciders: NSObject, URLSessionTaskDelegate {
    let calls = Notes()

    func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async -> Answer {
      calls.add("session \(challenge.protectionSpace.authenticationMethod)")
      return (.performDefaultHandling, nil)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> Answer {
      calls.add("task \(challenge.protectionSpace.authenticationMethod)")
      return (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }
  }

  @Test(
    "an async method that refuses a server's certificate is obeyed: the server gets no request",
    arguments: [
      (URLSession.AuthChallengeDisposition.rejectProtectionSpace, URLError.Code.serverCertificateUntrusted),
      (.cancelAuthenticationChallenge, .cancelled),
    ])
  func asyncRefusal(disposition: URLSession.AuthChallengeDisposition, code: URLError.Code) async throws {
    try await withServer(tls: server) { _ in
      .text("never")
    } _: { origin in
      let delegate = AsyncDeciding { _ in
        await Task.yield()
        return (disposition, nil)
      }
      let session = try session(delegate, trusting: authority.certificatePEM)
      for _ in 0..<2 { #expect(try await failure(session, origin.url) == code) }
      #expect(delegate.methods.all == [NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodServerTrust])
      #expect(origin.requestCount == 0)
    }
  }

  @Test("an async method can accept a server that OpenSSL refuses")
  func asyncAcceptance() async throws {
    try await withServer(tls: server) { _ in
      .text("yes")
    } _: { origin in
      let delegate = AsyncDeciding { challenge in
        (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
      }
      let text = try await self.text(session(delegate), origin.url)
      #expect(text == "yes")
    }
  }

  @Test("the answer of an async method to a server trust challenge after the request was cancelled has no effect")
  func asyncLateAnswer() async throws {
    let (asked, gate) = (Gate(), Gate())
    defer { gate.open() }
    let delegate = AsyncDeciding { _ in
      asked.open()
      await gate.wait()
      return (.performDefaultHandling, nil)
    }
    try await withServer(tls: server) { request in
      .text(request.path)
    } _: { origin in
      let session = try session(delegate, trusting: authority.certificatePEM)
      let result = Task { try await failure(session, origin.url + "/first") }
      await asked.wait()
      session.getAllTasks { for task in $0 { task.cancel() } }
      #expect(try await result.value == .cancelled)
      gate.open()
      #expect(try await text(session, origin.url + "/second") == "/second")
      #expect(origin.requestCount == 1)
    }
  }

  @Test("the session's async method decides about certificates, and only the task's about passwords")
  func asyncOrder() async throws {
    let (trust, basic) = (NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodHTTPBasic)
    try await withServer(tls: server) { request in
      guard request.fields.first("Authorization") == nil else { return .text("in") }
      return Reply(status: 401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
    } _: { origin in
      let both = Deciders()
      let text = try await self.text(session(both, trusting: authority.certificatePEM), origin.url)
      #expect(text == "in")
      #expect(both.calls.all == ["session \(trust)", "task \(basic)"])

      let delegate = AsyncDeciding {
        $0.protectionSpace.serverTrust == nil ? (.cancelAuthenticationChallenge, nil) : (.performDefaultHandling, nil)
      }
      let session = try session(delegate, trusting: authority.certificatePEM)
      for _ in 0..<2 { #expect(try await self.text(session, origin.url) == "") }
      #expect(delegate.methods.all == [trust])
    }
  }
}
