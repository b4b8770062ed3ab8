// RetryPolicyTests: the failures that retry policies retry, and their delays.

import Foundation
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct RetryPolicyTests {
  /// The URLError codes that RetryPolicy retries by default.
  static let transient: [URLError.Code] = [
    .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse, .callIsActive,
    .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed, .dnsLookupFailed,
    .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete, .internationalRoamingOff,
    .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed, .serverCertificateHasBadDate,
    .serverCertificateNotYetValid, .timedOut,
  ]
  static let lasting: [URLError.Code] = [
    .appTransportSecurityRequiresSecureConnection, .badURL, .cancelled, .cannotDecodeContentData, .cannotOpenFile,
    .clientCertificateRejected, .dataLengthExceedsMaximum, .fileDoesNotExist, .httpTooManyRedirects,
    .redirectToNonExistentLocation, .requestBodyStreamExhausted, .resourceUnavailable,
    .serverCertificateHasUnknownRoot, .serverCertificateUntrusted, .unknown, .unsupportedURL,
    .userAuthenticationRequired, .userCancelledAuthentication, .zeroByteResource,
  ]

  /// Calls `body` with a session, and with a request that has received a response with the status code `status`.
  private func withAnswered(
    _ status: Int = 200, method: HTTPMethod = .get, _ body: (Session, Request) async throws -> Void
  ) async throws {
    try await withServer { _ in
      Reply(status: status)
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url, method: method)
        #expect(await request.outcome().response?.statusCode == status)
        try await body(session, request)
      }
    }
  }

  @Test(
    "by default, RetryPolicy retries requests with idempotent methods twice, after five status codes or transient URLErrors"
  )
  func defaults() {
    let policy = RetryPolicy()
    #expect(policy.retryLimit == 2 && policy.exponentialBackoffBase == 2 && policy.exponentialBackoffScale == 0.5)
    #expect(policy.retryableHTTPMethods == [.delete, .get, .head, .options, .put, .query, .trace])
    #expect(policy.retryableHTTPStatusCodes == [408, 500, 502, 503, 504])
    #expect(policy.retryableURLErrorCodes == Set(Self.transient))
  }

  @Test(
    "RetryPolicy's delay is its scale times a power of its base, and it retries a request only up to its retry limit")
  func delays() {
    #expect((0...3).map { RetryPolicy().delay(afterRetries: $0) } == [0.5, 1, nil, nil])
    let policy = RetryPolicy(retryLimit: 4, exponentialBackoffBase: 3, exponentialBackoffScale: 0.1)
    for (count, delay) in [0.1, 0.3, 0.9, 2.7].enumerated() {
      #expect(abs((policy.delay(afterRetries: count) ?? 0) - delay) < 1e-9)
    }
    #expect(policy.delay(afterRetries: 4) == nil)
    #expect(RetryPolicy(retryLimit: 0).delay(afterRetries: 0) == nil)
  }

  @Test(
    "RetryPolicy retries a request that was answered with a transient status code",
    arguments: [408, 500, 502, 503, 504])
  func retriedStatus(status: Int) async throws {
    try await withAnswered(status) { session, request in
      #expect(await RetryPolicy().decision(on: request, for: session) == "retry after 0.5")
    }
  }

  @Test(
    "RetryPolicy doesn't retry a request that was answered with a status code that isn't transient",
    arguments: [200, 304, 400, 401, 404, 409, 429, 501, 505])
  func otherStatus(status: Int) async throws {
    try await withAnswered(status) { session, request in
      #expect(await RetryPolicy().decision(on: request, for: session) == "no")
    }
  }

  @Test(
    "RetryPolicy never retries a request whose method isn't idempotent", arguments: [HTTPMethod.post, .patch])
  func otherMethods(method: HTTPMethod) async throws {
    try await withAnswered(503, method: method) { session, request in
      #expect(await RetryPolicy().decision(on: request, for: session) == "no")
      #expect(await RetryPolicy().decision(on: request, for: session, dueTo: URLError(.timedOut)) == "no")
    }
  }

  @Test("a RetryPolicy with custom methods retries only requests with these methods")
  func ownMethods() async throws {
    let policy = RetryPolicy(retryableHTTPMethods: [.post])
    for (method, decision) in [(HTTPMethod.post, "retry after 0.5"), (.get, "no")] {
      try await withAnswered(503, method: method) { session, request in
        #expect(await policy.decision(on: request, for: session) == decision)
      }
    }
  }

  @Test(
    "RetryPolicy retries a request with any idempotent method",
    arguments: [HTTPMethod.delete, .get, .head, .options, .put, .query, .trace])
  func idempotentMethods(method: HTTPMethod) async throws {
    try await withAnswered(503, method: method) { session, request in
      #expect(await RetryPolicy().decision(on: request, for: session) == "retry after 0.5")
    }
  }

  @Test(
    "RetryPolicy retries a request after a transient URLError, even if an AFError wraps it, but not after other errors")
  func urlErrors() async throws {
    try await withAnswered { session, request in
      for (codes, decision) in [(Self.transient, "retry after 0.5"), (Self.lasting, "no")] {
        for code in codes {
          let error = URLError(code)
          let forms: [any Error] = [
            error, AFError.sessionTaskFailed(error: error), AFError.createURLRequestFailed(error: error),
            AFError.createURLRequestFailed(error: AFError.sessionTaskFailed(error: error)),
          ]
          for form in forms {
            #expect(await RetryPolicy().decision(on: request, for: session, dueTo: form) == decision, "\(code)")
          }
        }
      }
      #expect(await RetryPolicy().decision(on: request, for: session, dueTo: AFError.explicitlyCancelled) == "no")
      #expect(await RetryPolicy().decision(on: request, for: session, dueTo: Mishap("other")) == "no")
    }
  }

  @Test("RetryPolicy retries a request that fails with timedOut, because its timeout is 1 ms")
  func timeout() async throws {
    try await withServer { _ in
      .hold
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url) { $0.timeoutInterval = 0.001 }
        let error = try #require(await request.outcome().error)
        guard case .sessionTaskFailed(let inner) = error else {
          Issue.record("The error isn't sessionTaskFailed: \(error)")
          return
        }
        #expect((inner as? URLError)?.code == .timedOut)
        #expect(await RetryPolicy().decision(on: request, for: session, dueTo: error) == "retry after 0.5")
      }
    }
  }

  @Test("RetryPolicy doesn't retry a request that couldn't be created")
  func unmade() async throws {
    try await withSession { session in
      let request = session.request("")
      let error = try #require(await request.outcome().error)
      #expect(await RetryPolicy().decision(on: request, for: session, dueTo: error) == "no")
      #expect(await RetryPolicy().decision(on: request, for: session, dueTo: URLError(.timedOut)) == "no")
    }
  }

  @Test("a RetryPolicy's custom methods, status codes, URLError codes and limits replace the default values")
  func choices() async throws {
    try await withAnswered(404, method: .post) { session, request in
      let byStatus = RetryPolicy(
        exponentialBackoffScale: 3, retryableHTTPMethods: [.post], retryableHTTPStatusCodes: [404],
        retryableURLErrorCodes: [])
      #expect(await byStatus.decision(on: request, for: session) == "retry after 3.0")
      let byError = RetryPolicy(
        retryableHTTPMethods: [.post], retryableHTTPStatusCodes: [], retryableURLErrorCodes: [.badURL])
      #expect(await byError.decision(on: request, for: session, dueTo: URLError(.badURL)) == "retry after 0.5")
      #expect(await byError.decision(on: request, for: session, dueTo: URLError(.timedOut)) == "no")
      let never = RetryPolicy(retryLimit: 0, retryableHTTPMethods: [.post], retryableHTTPStatusCodes: [404])
      #expect(await never.decision(on: request, for: session) == "no")
    }
  }

  @Test("a subclass of RetryPolicy can override shouldRetry and still use RetryPolicy's delays")
  func subclass() async throws {
    final class Insisting: RetryPolicy, @unchecked Sendable {
      override func shouldRetry(request: Request, dueTo error: any Error) -> Bool { true }
    }
    try await withAnswered(418) { session, request in
      #expect(await Insisting().decision(on: request, for: session) == "retry after 0.5")
    }
  }

  @Test("ConnectionLostRetryPolicy retries a request only after the error networkConnectionLost")
  func connectionLost() async throws {
    try await withAnswered(503) { session, request in
      let policy = ConnectionLostRetryPolicy()
      #expect(policy.retryableHTTPStatusCodes.isEmpty && policy.retryLimit == 2)
      #expect(policy.retryableURLErrorCodes == [.networkConnectionLost])
      #expect(await policy.decision(on: request, for: session) == "no")
      let lost = AFError.sessionTaskFailed(error: URLError(.networkConnectionLost))
      #expect(await policy.decision(on: request, for: session, dueTo: lost) == "retry after 0.5")
      let refused = AFError.sessionTaskFailed(error: URLError(.cannotConnectToHost))
      #expect(await policy.decision(on: request, for: session, dueTo: refused) == "no")
    }
  }

  @Test("static factories create RetryPolicy and ConnectionLostRetryPolicy with the given parameters")
  func shortNames() {
    func made<Policy: RequestInterceptor>(_ policy: Policy) -> Policy { policy }
    #expect(made(.retryPolicy).retryLimit == 2)
    let policy: RetryPolicy = made(
      .retryPolicy(retryLimit: 7, exponentialBackoffBase: 5, retryableHTTPMethods: [.post]))
    #expect(policy.retryLimit == 7 && policy.exponentialBackoffBase == 5 && policy.retryableHTTPMethods == [.post])
    #expect(policy.retryableURLErrorCodes == Set(Self.transient))
    #expect(made(.connectionLostRetryPolicy).retryableURLErrorCodes == [.networkConnectionLost])
    let lost = made(.connectionLostRetryPolicy(retryLimit: 3, exponentialBackoffScale: 2))
    #expect(lost.retryLimit == 3 && lost.exponentialBackoffScale == 2 && lost.retryableHTTPStatusCodes.isEmpty)
  }
}
