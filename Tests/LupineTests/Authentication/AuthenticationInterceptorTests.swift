// AuthenticationInterceptor: applying credentials, refreshing them before a request and after a refusal, and the limit
// of refreshes within a window.

import Foundation
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct AuthenticationInterceptorTests {
  typealias Interceptor = AuthenticationInterceptor<TokenAuthenticator>

  // MARK: Adapting a request

  @Test("AuthenticationInterceptor applies a credential that requires no refresh to a request immediately")
  func apply() async throws {
    let fixture = InterceptorFixture(Token("a"))
    #expect(try await fixture.adapted() == "Bearer a")
    #expect(fixture.interceptor.credential?.name == "a")
    #expect(fixture.authenticator.refreshCount == 0)
  }

  @Test("AuthenticationInterceptor makes requests fail until its credential has been set")
  func missingCredential() async throws {
    let fixture = InterceptorFixture(nil)
    let error = await #expect(throws: AuthenticationError.missingCredential) { try await fixture.adapted() }
    #expect(error?.localizedDescription.contains("credential") == true)
    fixture.interceptor.credential = Token("a")
    #expect(try await fixture.adapted() == "Bearer a")
    #expect(fixture.interceptor.credential?.name == "a")
  }

  @Test("requests that wait for the refresh of a credential share one refresh, and then continue in order")
  func proactiveRefresh() async throws {
    let fixture = InterceptorFixture(Token("a", requiresRefresh: true))
    let answers = Recorder<String>()
    for number in 0..<50 { fixture.adapt { answers.record("\(number) \($0)") } }
    let refresh = try await fixture.authenticator.nextRefresh()
    #expect(refresh.credential.name == "a")
    for number in 50..<100 { fixture.adapt { answers.record("\(number) \($0)") } }
    refresh.completion(.success(Token("b")))
    #expect(await answers.first(100) == (0..<100).map { "\($0) Bearer b" })
    #expect(fixture.authenticator.refreshCount == 1)
    #expect(fixture.interceptor.credential?.name == "b")
  }

  @Test(
    "if a refresh of the credential fails, the waiting requests fail with its error, and the next request starts a new one"
  )
  func proactiveRefreshFails() async throws {
    let fixture = InterceptorFixture(Token("a", requiresRefresh: true))
    let answers = Recorder<String>()
    for _ in 0..<3 { fixture.adapt { answers.record($0) } }
    try await fixture.authenticator.nextRefresh().completion(.failure(Mishap("no refresh")))
    #expect(await answers.first(3) == Array(repeating: "failed: no refresh", count: 3))
    #expect(fixture.interceptor.credential?.name == "a")
    fixture.adapt { answers.record($0) }
    try await fixture.authenticator.nextRefresh().completion(.success(Token("b")))
    #expect(await answers.next() == "Bearer b")
  }

  @Test(
    "if every refreshed credential requires another refresh, AuthenticationInterceptor stops at its refresh window's limit"
  )
  func endlessRefresh() async throws {
    let fixture = InterceptorFixture(
      Token("a", requiresRefresh: true), refresh: .immediate { _ in .success(Token("b", requiresRefresh: true)) })
    await #expect(throws: AuthenticationError.excessiveRefresh) { try await fixture.adapted() }
    #expect(fixture.authenticator.refreshCount == 5)
  }

  // MARK: Retrying a refused request

  @Test("AuthenticationInterceptor doesn't retry a request that failed for a reason other than its credential")
  func otherFailures() async throws {
    let fixture = InterceptorFixture(Token("a"))
    try await withRefused(status: 500, token: "a") { session, request in
      #expect(await fixture.interceptor.decision(on: request, for: session) == "no")
    }
    let unanswered = fixture.session.request("http://localhost/")
    #expect(await fixture.interceptor.decision(on: unanswered, for: fixture.session) == "no")
    #expect(fixture.authenticator.refreshCount == 0)
  }

  @Test("AuthenticationInterceptor doesn't retry a request that was answered with 401 if it has no credential")
  func refusedWithoutCredential() async throws {
    let fixture = InterceptorFixture(nil)
    try await withRefused(token: "a") { session, request in
      #expect(await fixture.interceptor.decision(on: request, for: session) == "no: missingCredential")
    }
  }

  @Test("a request that was refused with an outdated credential is retried with the current one, without a refresh")
  func staleCredential() async throws {
    let fixture = InterceptorFixture(Token("b"))
    try await withRefused(token: "a") { session, request in
      #expect(await fixture.interceptor.decision(on: request, for: session) == "retry")
    }
    #expect(fixture.authenticator.refreshCount == 0)
  }

  @Test("requests that a server refused with the same credential share one refresh, and are then retried in order")
  func refusal() async throws {
    let fixture = InterceptorFixture(Token("a"))
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      for number in 0..<50 { fixture.retry(request) { answers.record("\(number) \($0)") } }
      let refresh = try await fixture.authenticator.nextRefresh()
      for number in 50..<100 { fixture.retry(request) { answers.record("\(number) \($0)") } }
      refresh.completion(.success(Token("b")))
      #expect(await answers.first(100) == (0..<100).map { "\($0) retry" })
      #expect(fixture.authenticator.refreshCount == 1)
      #expect(fixture.interceptor.credential?.name == "b")
    }
  }

  @Test("while refused requests wait for a refresh, new requests use the current credential")
  func adaptingDuringRefresh() async throws {
    let fixture = InterceptorFixture(Token("a"))
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      fixture.retry(request) { answers.record($0) }
      let refresh = try await fixture.authenticator.nextRefresh()
      #expect(try await fixture.adapted() == "Bearer a")
      refresh.completion(.success(Token("b")))
      #expect(await answers.next() == "retry")
      #expect(try await fixture.adapted() == "Bearer b")
    }
  }

  @Test("new requests and refused requests share one refresh of the credential, and then continue in order")
  func bothKinds() async throws {
    let expired = Atomic(false)
    let fixture = InterceptorFixture(Token("a") { expired.load(ordering: .relaxed) })
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      fixture.retry(request) { answers.record("1 \($0)") }
      let refresh = try await fixture.authenticator.nextRefresh()
      expired.store(true, ordering: .relaxed)
      fixture.adapt { answers.record("2 \($0)") }
      fixture.retry(request) { answers.record("3 \($0)") }
      fixture.adapt { answers.record("4 \($0)") }
      refresh.completion(.success(Token("b")))
      #expect(await answers.first(4) == ["1 retry", "2 Bearer b", "3 retry", "4 Bearer b"])
      #expect(fixture.authenticator.refreshCount == 1)
    }
  }

  // MARK: Failed refreshes

  @Test("after a failed refresh, refused requests fail without another refresh until a new request has been adapted")
  func failureBlocks() async throws {
    let fixture = InterceptorFixture(Token("a"))
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      fixture.retry(request) { answers.record($0) }
      fixture.retry(request) { answers.record($0) }
      try await fixture.authenticator.nextRefresh().completion(.failure(Mishap("no refresh")))
      #expect(await answers.first(2) == ["no: no refresh", "no: no refresh"])
      for _ in 0..<10 {
        #expect(await fixture.interceptor.decision(on: request, for: session) == "no: no refresh")
      }
      #expect(fixture.authenticator.refreshCount == 1)

      #expect(try await fixture.adapted() == "Bearer a")
      fixture.retry(request) { answers.record($0) }
      try await fixture.authenticator.nextRefresh().completion(.success(Token("b")))
      #expect(await answers.next() == "retry")
    }
  }

  @Test("after a failed refresh, setting AuthenticationInterceptor's credential permits another refresh")
  func failureEndsWithCredential() async throws {
    let fixture = InterceptorFixture(Token("a"), refresh: .immediate { _ in .failure(Mishap("no refresh")) })
    try await withRefused(token: "a") { session, request in
      #expect(await fixture.interceptor.decision(on: request, for: session) == "no: no refresh")
      // Setting an equal credential permits a refresh too, because the server may accept it by now.
      fixture.interceptor.credential = Token("a")
      #expect(await fixture.interceptor.decision(on: request, for: session) == "no: no refresh")
      #expect(fixture.authenticator.refreshCount == 2)
      fixture.interceptor.credential = Token("b")
      #expect(await fixture.interceptor.decision(on: request, for: session) == "retry")
      #expect(fixture.authenticator.refreshCount == 2)
    }
  }

  @Test("after a refresh for a refused request has failed, the credential is still refreshed when it expires")
  func failureLetsProactiveRefreshBe() async throws {
    let expired = Atomic(false)
    let fixture = InterceptorFixture(Token("a") { expired.load(ordering: .relaxed) })
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      fixture.retry(request) { answers.record($0) }
      try await fixture.authenticator.nextRefresh().completion(.failure(Mishap("no refresh")))
      #expect(await answers.next() == "no: no refresh")
      expired.store(true, ordering: .relaxed)
      fixture.adapt { answers.record($0) }
      try await fixture.authenticator.nextRefresh().completion(.success(Token("b")))
      #expect(await answers.next() == "Bearer b")
    }
  }

  @Test("after a refresh for a new request has failed, a refused request still starts another refresh")
  func proactiveFailureLetsRefusalBe() async throws {
    let fixture = InterceptorFixture(Token("a", requiresRefresh: true))
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      fixture.adapt { answers.record($0) }
      try await fixture.authenticator.nextRefresh().completion(.failure(Mishap("no refresh")))
      #expect(await answers.next() == "failed: no refresh")
      fixture.retry(request) { answers.record($0) }
      try await fixture.authenticator.nextRefresh().completion(.success(Token("b")))
      #expect(await answers.next() == "retry")
    }
  }

  @Test(
    "if the refresh of a credential fails after the credential was replaced, the new credential can still be refreshed")
  func failureOfAnOldCredential() async throws {
    let fixture = InterceptorFixture(Token("a"))
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      fixture.retry(request) { answers.record($0) }
      let refresh = try await fixture.authenticator.nextRefresh()
      fixture.interceptor.credential = Token("a")
      refresh.completion(.failure(Mishap("no refresh")))
      #expect(await answers.next() == "no: no refresh")
      fixture.retry(request) { answers.record($0) }
      try await fixture.authenticator.nextRefresh().completion(.success(Token("b")))
      #expect(await answers.next() == "retry")
    }
  }

  // MARK: The refresh window

  @Test("AuthenticationInterceptor refuses a sixth refresh within 30 s, and permits a refresh again later")
  func window() async throws {
    let fixture = InterceptorFixture(
      Token("a", requiresRefresh: true), refresh: .immediate { _ in .failure(Mishap("no refresh")) })
    for second in 0..<5 {
      fixture.setTime(Double(second))
      await #expect(throws: Mishap("no refresh")) { try await fixture.adapted() }
    }
    for time in [5.0, 29, 30] {
      fixture.setTime(time)
      let error = await #expect(throws: AuthenticationError.excessiveRefresh) { try await fixture.adapted() }
      #expect(error?.localizedDescription.contains("as often as the RefreshWindow permits") == true)
    }
    // The first refresh, at 0 s, has left the window. The second, at 1 s, hasn't.
    fixture.setTime(30.5)
    await #expect(throws: Mishap("no refresh")) { try await fixture.adapted() }
    await #expect(throws: AuthenticationError.excessiveRefresh) { try await fixture.adapted() }
    #expect(fixture.authenticator.refreshCount == 6)
  }

  @Test("a refresh that a refused request causes counts toward the limit of AuthenticationInterceptor's refresh window")
  func windowOfRefusals() async throws {
    let fixture = InterceptorFixture(
      Token("a"), refresh: .immediate { .success($0) }, window: .init(interval: 10, maximumAttempts: 2))
    try await withRefused(token: "a") { session, request in
      var decisions: [String] = []
      for _ in 0..<3 { decisions.append(await fixture.interceptor.decision(on: request, for: session)) }
      #expect(decisions == ["retry", "retry", "no: excessiveRefresh"])
      fixture.setTime(10.5)
      #expect(await fixture.interceptor.decision(on: request, for: session) == "retry")
    }
  }

  @Test("the default refresh window permits five refreshes in 30 s; without a window, there is no limit")
  func windowDefaults() async throws {
    #expect(Interceptor.RefreshWindow().interval == 30 && Interceptor.RefreshWindow().maximumAttempts == 5)
    let fixture = InterceptorFixture(
      Token("a", requiresRefresh: true), refresh: .immediate { _ in .failure(Mishap("no refresh")) }, window: nil)
    for _ in 0..<20 { await #expect(throws: Mishap("no refresh")) { try await fixture.adapted() } }
    #expect(fixture.authenticator.refreshCount == 20)
  }

  @Test("AuthenticationInterceptor.init uses the default refresh window and the system clock")
  func publicInitialiser() async throws {
    var duration = Duration.zero
    // On a busy machine six refreshes may take longer than the window; try again then.
    repeat {
      let authenticator = TokenAuthenticator(.immediate { _ in .failure(Mishap("no refresh")) })
      let interceptor = AuthenticationInterceptor(
        authenticator: authenticator, credential: Token("a", requiresRefresh: true))
      let fixture = InterceptorFixture(authenticator, interceptor)
      var errors: [any Error] = []
      duration = await ContinuousClock().measure {
        for _ in 0..<6 { do { _ = try await fixture.adapted() } catch { errors.append(error) } }
      }
      #expect(errors.prefix(5).compactMap { $0 as? Mishap }.count == 5)
      if duration < .seconds(30) { #expect(errors.last as? AuthenticationError == .excessiveRefresh) }
    } while duration >= .seconds(30)
  }
}
