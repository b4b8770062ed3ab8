// RevocationTests: sessions that check their servers for revocation, with scripted responders and lists.

import Foundation
import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTestSupport
import LupineTLS
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct RevocationTests {
  /// The way in which the mock OCSP responder answers, such as with a good or an expired response.
  enum Behavior: Sendable, CaseIterable {
    case good, revoked, unknown, expired, wrongSigner, replayed, refusing, garbage, huge, missing, closing
  }

  private let authority: ThrowawayAuthority

  init() throws {
    authority = try ThrowawayAuthority()
  }

  private func session(
    _ options: RevocationTrustEvaluator.Options, _ configure: (inout EngineConfiguration) -> Void = { _ in }
  ) -> Session {
    let configuration = URLSessionConfiguration.af.ephemeral
    configuration.timeoutIntervalForRequest = 100
    configuration.engine.tls.trustRoots = [.pem(authority.certificatePEM)]
    configuration.engine.proxy = .none
    configure(&configuration.engine)
    let evaluator = RevocationTrustEvaluator(options: options)
    return Session(
      configuration: configuration, serverTrustManager: ServerTrustManager(evaluators: ["localhost": evaluator]))
  }

  private func answer(_ session: Session, _ url: String) async -> AFDataResponse<Data?> {
    let response = await session.request(url.replacingOccurrences(of: "127.0.0.1", with: "localhost")).outcome()
    withExtendedLifetime(session) {}
    return response
  }

  /// The certificate whose status the OCSP responder reports. It is issued after the responder has started, because it contains
  /// the responder's address.
  private final class Subject: Sendable {
    let identity = Mutex<ThrowawayAuthority.Identity?>(nil)
    let queries = Mutex<[ReceivedRequest]>([])
  }

  /// Calls `body` with the URL of an https server. Its certificate contains the URLs of an OCSP responder and a revocation list,
  /// which an http server provides.
  private func withResponder<Value: Sendable>(
    _ behavior: Behavior, _ body: (_ url: String, _ subject: Subject) async throws -> Value
  ) async throws -> Value {
    let subject = Subject()
    let foreign = try ThrowawayAuthority()
    let old = try #require(
      RevocationSubject.subjects(
        ofChain: [try authority.issue().certificateDER, try authority.identity.certificateDER]
      ).first?.ocspRequest())
    return try await withServer { [authority] request in
      subject.queries.withLock { $0.append(request) }
      let identity = try #require(subject.identity.withLock { $0 })
      guard request.method == "POST" else {
        switch behavior {
        case .good: return Reply(.bytes(try authority.revocationList()))
        case .revoked: return Reply(.bytes(try authority.revocationList(revoking: [identity])))
        case .huge: return Reply(.bytes([UInt8](repeating: 48, count: RevocationLimits.listBytesMax + 1)))
        default: return Reply(status: 404)
        }
      }
      let query = request.body
      switch behavior {
      case .good: return Reply(.bytes(try authority.ocspResponse(for: identity, answering: query)))
      case .revoked: return Reply(.bytes(try authority.ocspResponse(for: identity, .revoked, answering: query)))
      case .unknown: return Reply(.bytes(try authority.ocspResponse(for: identity, .unknown, answering: query)))
      case .expired:
        return Reply(.bytes(try authority.ocspResponse(for: identity, thisUpdate: -7_200, nextUpdate: -3_600)))
      case .wrongSigner:
        return Reply(.bytes(try authority.ocspResponse(for: identity, responder: foreign.identity, answering: query)))
      case .replayed: return Reply(.bytes(try authority.ocspResponse(for: identity, answering: old)))
      case .refusing: return Reply(.bytes(ThrowawayAuthority.ocspRefusal(status: 3)))
      case .garbage: return Reply(.bytes([48, 130, 255, 255, 10, 1, 0]))
      case .huge: return Reply(.bytes([UInt8](repeating: 48, count: RevocationLimits.responseBytesMax + 1)))
      case .missing: return Reply(status: 404)
      case .closing: throw OriginError.stopped
      }
    } _: { responder in
      let identity = try authority.issue(
        names: ["localhost"], responders: ["\(responder.url)/ocsp"], lists: ["\(responder.url)/crl"])
      subject.identity.withLock { $0 = identity }
      return try await withServer(tls: ServerIdentity(identity, authorityPEM: authority.certificatePEM)) { _ in
        .text("yes")
      } _: { origin in
        try await body(origin.url, subject)
      }
    }
  }

  @Test(
    "a request succeeds if the OCSP responder or the revocation list confirms the certificate",
    arguments: [
      RevocationTrustEvaluator.Options.ocsp, .crl, .any, [.any, .preferCRL],
    ])
  func good(options: RevocationTrustEvaluator.Options) async throws {
    try await withResponder(.good) { url, subject in
      let response = await answer(session(options.union(.requirePositiveResponse)), url)
      #expect(response.value == Data("yes".utf8))
      let query = try #require(subject.queries.withLock { $0.first })
      let usesList = options == .crl || options.contains(.preferCRL)
      #expect(query.method == (usesList ? "GET" : "POST") && query.path == (usesList ? "/crl" : "/ocsp"))
      #expect(query.fields.first("Content-Type") == (usesList ? nil : "application/ocsp-request"))
      // The OCSP response is cached, so the second session needs no network.
      #expect(await answer(session(options.union(.networkAccessDisabled)), url).value == Data("yes".utf8))
      #expect(subject.queries.withLock { $0.count } == 1)
    }
  }

  @Test(
    "a server with a revoked certificate is refused, whether or not a positive response is required",
    arguments: [
      RevocationTrustEvaluator.Options.ocsp, .crl, .any, [.any, .requirePositiveResponse],
    ])
  func revoked(options: RevocationTrustEvaluator.Options) async throws {
    try await withResponder(.revoked) { url, _ in
      guard
        case .revocationCheckFailed(let output, let seen) = try trustFailure(await answer(session(options), url).error)
      else {
        Issue.record("another error")
        return
      }
      #expect(seen == options && output.host == "localhost")
      #expect(output.status == -67820 && output.result == .fatalTrustFailure)
      #expect(!output.status.af.isSuccess && !output.result.af.isSuccess)
    }
  }

  @Test(
    "if OCSP responses are invalid or can't be fetched, a server is accepted unless a positive response is required",
    arguments: Behavior.allCases.filter { $0 != .good && $0 != .revoked })
  func noAnswer(behavior: Behavior) async throws {
    try await withResponder(behavior) { url, _ in
      #expect(await answer(session(.any), url).value == Data("yes".utf8))
      let error = await answer(session([.any, .requirePositiveResponse]), url).error
      guard case .revocationCheckFailed(let output, _) = try trustFailure(error) else {
        Issue.record("another error")
        return
      }
      #expect(output.status == -67635)
    }
  }

  @Test("if the OCSP responder is down, the certificate is accepted unless a positive response is required")
  func down() async throws {
    let free = try await withServer { _ in
      .text("")
    } _: {
      $0.url
    }
    let identity = try authority.issue(names: ["localhost"], responders: [free])
    try await withServer(tls: ServerIdentity(identity, authorityPEM: authority.certificatePEM)) { _ in
      .text("yes")
    } _: { origin in
      #expect(await answer(session(.any), origin.url).value == Data("yes".utf8))
      let error = await answer(session([.any, .requirePositiveResponse]), origin.url).error
      #expect(error?.isServerTrustEvaluationError == true)
    }
  }

  @Test(
    "a fetch of revocation data has a time limit and a size limit, follows no redirects, and uses only http")
  func fetcher() async throws {
    var configuration = EngineConfiguration()
    configuration.proxy = .none
    let fetcher = RevocationFetcher(configuration)
    func fetch(_ query: RevocationQuery, seconds: Int = 100) async -> Result<[UInt8], RevocationProblem> {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(
            returning: Result { () throws(RevocationProblem) in try fetcher.fetch(query, seconds: seconds) })
        }
      }
    }
    try await withServer { request in
      switch request.path {
      case "/redirect": Reply(status: 302, fields: ["Location": "/"])
      case "/slow": .hold
      case "/limit": Reply(.pattern(byteCount: UInt64(RevocationLimits.responseBytesMax)))
      case "/large": Reply(.pattern(byteCount: UInt64(RevocationLimits.responseBytesMax) + 1))
      case "/large-list": Reply(.pattern(byteCount: UInt64(RevocationLimits.listBytesMax) + 1))
      default: Reply(.bytes([1, 2]))
      }
    } _: { origin in
      let fetched = await fetch(.list(url: origin.url + "/"))
      #expect((try? fetched.get()) == [1, 2])
      // A server whose response was too large isn't one that doesn't respond.
      let large = await fetch(.response(url: origin.url + "/large", request: [1]))
      #expect(throws: RevocationProblem.self) { try large.get() }
      let longest = await fetch(.response(url: origin.url + "/limit", request: [1]))
      #expect((try? longest.get().count) == RevocationLimits.responseBytesMax)
      // A list may be longer than an OCSP response.
      let list = await fetch(.list(url: origin.url + "/large"))
      #expect((try? list.get().count) == RevocationLimits.responseBytesMax + 1)
      let largeList = await fetch(.list(url: origin.url + "/large-list"))
      #expect(throws: RevocationProblem.self) { try largeList.get() }
      for (path, seconds) in [("/redirect", 100), ("/slow", 1)] {
        await #expect(throws: RevocationProblem.self) {
          try await fetch(.list(url: origin.url + path), seconds: seconds).get()
        }
      }
    }
    let request = try RevocationFetcher.request(for: .list(url: "http://localhost/"), seconds: 3)
    #expect(request.timeouts.total == .seconds(3) && request.bodyBytesMax == RevocationLimits.listBytesMax)
    let refused = [
      "https://localhost/", "http+unix://%2Frun%2Fa/", "http://user:secret@localhost/", "http:///", "http://",
    ]
    for url in refused {
      #expect(throws: RevocationProblem.self) { try RevocationFetcher.request(for: .list(url: url), seconds: 1) }
    }
  }

  @Test("an invalid certificate chain is refused before any revocation data is fetched")
  func untrusted() async throws {
    try await withResponder(.good) { url, subject in
      let other = try ThrowawayAuthority()
      let session = session(.any) { $0.tls.trustRoots = [.pem(other.certificatePEM)] }
      #expect(verdict(try trustFailure(await answer(session, url).error)) == .unknownAuthority)
      #expect(subject.queries.withLock { $0.isEmpty })
    }
  }

  @Test("the session's address policy applies to OCSP responders")
  func addressPolicy() async throws {
    var configuration = EngineConfiguration()
    configuration.addressPolicy = .publicOnly
    configuration.proxy = .none
    let fetcher = RevocationFetcher(configuration)
    try await withServer { _ in
      .text("yes")
    } _: { origin in
      let problem = #expect(throws: RevocationProblem.self) { try fetcher.fetch(.list(url: origin.url), seconds: 5) }
      #expect(problem?.description.contains("address") == true)
    }
  }

  @Test(
    "a trust evaluator uses a server's stapled OCSP response with TLS 1.2 and TLS 1.3",
    arguments: [TLSVersion.v1_2, .v1_3])
  func stapled(version: TLSVersion) async throws {
    let options: RevocationTrustEvaluator.Options = [.ocsp, .networkAccessDisabled, .requirePositiveResponse]
    let configure: (inout EngineConfiguration) -> Void = {
      $0.tls.trustRoots = [.file(TestServers.authority)]
      $0.tls.maximumVersion = version
    }
    let good = session(options, configure)
    #expect(await answer(good, try await TestServers.TLS.goodStaple.url + "/small.txt").response?.statusCode == 200)
    let revoked = session([.ocsp, .networkAccessDisabled], configure)
    let error = await answer(revoked, try await TestServers.TLS.revokedStaple.url + "/small.txt").error
    guard case .revocationCheckFailed = try trustFailure(error) else {
      Issue.record("another error")
      return
    }
    // A session that doesn't use OCSP doesn't request a stapled OCSP response.
    let unchecked = session(.crl, configure)
    #expect(await answer(unchecked, try await TestServers.TLS.revokedStaple.url + "/small.txt").response != nil)
  }

  @Test("revocation options without a method or with an unknown bit cause an error")
  func options() throws {
    let trust = try SecTrust.shown(by: authority.issue(names: ["localhost"]), trusting: authority)
    for options in [[], .requirePositiveResponse, [.any, .init(rawValue: 1 << 20)]]
      as [RevocationTrustEvaluator.Options]
    {
      guard
        case .revocationPolicyCreationFailed = try trustFailure(of: RevocationTrustEvaluator(options: options), trust)
      else {
        Issue.record("\(options) are accepted")
        continue
      }
    }
  }
}
