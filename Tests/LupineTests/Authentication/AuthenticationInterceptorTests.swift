// AuthenticationInterceptor: applying credentials, refreshing them before a request and after a refusal, and the limit
// of refreshes within a window.

import Foundation
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct AuthenticationInterceptorTests {
  typealias Interceptor = AuthenticationInterceptor<TokenAuthenticator>

  // MARK: Adapting a request

  @Test("a credential that needs no refresh is applied immediately")
  func apply() async throws {
    let rig = Rig(Token("a"))
    #expect(try await rig.adapted() == "Bearer a")
    #expect(rig.interceptor.credential?.name == "a")
    #expect(rig.authenticator.refreshCount == 0)
  }

  @Test("a request without a credential fails, and succeeds after a credential is set")
  func missingCredential() async throws {
    let rig = Rig(nil)
    let error = await #expect(throws: AuthenticationError.missingCredential) { try await rig.adapted() }
    #expect(error?.localizedDescription.contains("credential") == true)
    rig.interceptor.credential = Token("a")
    #expect(try await rig.adapted() == "Bearer a")
    #expect(rig.interceptor.credential?.name == "a")
  }

  @Test("all requests wait for a single refresh, and then continue once each, in order")
  func proactiveRefresh() async throws {
    let rig = Rig(Token("a", requiresRefresh: true))
    let answers = Recorder<String>()
    for number in 0..<50 { rig.adapt { answers.record("\(number) \($0)") } }
    let refresh = try await rig.authenticator.nextRefresh()
    #expect(refresh.credential.name == "a")
    for number in 50..<100 { rig.adapt { answers.record("\(number) \($0)") } }
    refresh.completion(.success(Token("b")))
    #expect(await answers.first(100) == (0..<100).map { "\($0) Bearer b" })
    #expect(rig.authenticator.refreshCount == 1)
    #expect(rig.interceptor.credential?.name == "b")
  }

  @Test("a failed refresh fails the waiting requests with its error, and the next request refreshes again")
  func proactiveRefreshFails() async throws {
    let rig = Rig(Token("a", requiresRefresh: true))
    let answers = Recorder<String>()
    for _ in 0..<3 { rig.adapt { answers.record($0) } }
    try await rig.authenticator.nextRefresh().completion(.failure(Mishap("no refresh")))
    #expect(await answers.first(3) == Array(repeating: "failed: no refresh", count: 3))
    #expect(rig.interceptor.credential?.name == "a")
    rig.adapt { answers.record($0) }
    try await rig.authenticator.nextRefresh().completion(.success(Token("b")))
    #expect(await answers.next() == "Bearer b")
  }

  @Test("a new credential that already requires a refresh is refreshed until the window is full")
  func endlessRefresh() async throws {
    let rig = Rig(
      Token("a", requiresRefresh: true), refresh: .atOnce { _ in .success(Token("b", requiresRefresh: true)) })
    await #expect(throws: AuthenticationError.excessiveRefresh) { try await rig.adapted() }
    #expect(rig.authenticator.refreshCount == 5)
  }

  // MARK: Retrying a refused request

  @Test("a request that failed for another reason isn't retried, with or without a response")
  func otherFailures() async throws {
    let rig = Rig(Token("a"))
    try await withRefused(status: 500, token: "a") { session, request in
      #expect(await rig.interceptor.decision(on: request, for: session) == "no")
    }
    let unanswered = rig.session.request("http://localhost/")
    #expect(await rig.interceptor.decision(on: unanswered, for: rig.session) == "no")
    #expect(rig.authenticator.refreshCount == 0)
  }

  @Test("a refused request fails if there is no credential")
  func refusedWithoutCredential() async throws {
    let rig = Rig(nil)
    try await withRefused(token: "a") { session, request in
      #expect(await rig.interceptor.decision(on: request, for: session) == "no: missingCredential")
    }
  }

  @Test("a request that was refused with an older credential is retried without a refresh")
  func staleCredential() async throws {
    let rig = Rig(Token("b"))
    try await withRefused(token: "a") { session, request in
      #expect(await rig.interceptor.decision(on: request, for: session) == "retry")
    }
    #expect(rig.authenticator.refreshCount == 0)
  }

  @Test("all refused requests wait for a single refresh and are retried in order")
  func refusal() async throws {
    let rig = Rig(Token("a"))
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      for number in 0..<50 { rig.retry(request) { answers.record("\(number) \($0)") } }
      let refresh = try await rig.authenticator.nextRefresh()
      for number in 50..<100 { rig.retry(request) { answers.record("\(number) \($0)") } }
      refresh.completion(.success(Token("b")))
      #expect(await answers.first(100) == (0..<100).map { "\($0) retry" })
      #expect(rig.authenticator.refreshCount == 1)
      #expect(rig.interceptor.credential?.name == "b")
    }
  }

  @Test("new requests use the current credential while it is being refreshed for refused requests")
  func adaptingDuringRefresh() async throws {
    let rig = Rig(Token("a"))
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      rig.retry(request) { answers.record($0) }
      let refresh = try await rig.authenticator.nextRefresh()
      #expect(try await rig.adapted() == "Bearer a")
      refresh.completion(.success(Token("b")))
      #expect(await answers.next() == "retry")
      #expect(try await rig.adapted() == "Bearer b")
    }
  }

  @Test("new and refused requests wait for the same refresh and continue in order")
  func bothKinds() async throws {
    let expired = Atomic(false)
    let rig = Rig(Token("a") { expired.load(ordering: .relaxed) })
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      rig.retry(request) { answers.record("1 \($0)") }
      let refresh = try await rig.authenticator.nextRefresh()
      expired.store(true, ordering: .relaxed)
      rig.adapt { answers.record("2 \($0)") }
      rig.retry(request) { answers.record("3 \($0)") }
      rig.adapt { answers.record("4 \($0)") }
      refresh.completion(.success(Token("b")))
      #expect(await answers.first(4) == ["1 retry", "2 Bearer b", "3 retry", "4 Bearer b"])
      #expect(rig.authenticator.refreshCount == 1)
    }
  }

  // MARK: Failed refreshes

  @Test("after a failed refresh, refused requests fail immediately until another request has been adapted")
  func failureBlocks() async throws {
    let rig = Rig(Token("a"))
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      rig.retry(request) { answers.record($0) }
      rig.retry(request) { answers.record($0) }
      try await rig.authenticator.nextRefresh().completion(.failure(Mishap("no refresh")))
      #expect(await answers.first(2) == ["no: no refresh", "no: no refresh"])
      for _ in 0..<10 {
        #expect(await rig.interceptor.decision(on: request, for: session) == "no: no refresh")
      }
      #expect(rig.authenticator.refreshCount == 1)

      #expect(try await rig.adapted() == "Bearer a")
      rig.retry(request) { answers.record($0) }
      try await rig.authenticator.nextRefresh().completion(.success(Token("b")))
      #expect(await answers.next() == "retry")
    }
  }

  @Test("setting a credential permits another refresh after a failed one")
  func failureEndsWithCredential() async throws {
    let rig = Rig(Token("a"), refresh: .atOnce { _ in .failure(Mishap("no refresh")) })
    try await withRefused(token: "a") { session, request in
      #expect(await rig.interceptor.decision(on: request, for: session) == "no: no refresh")
      // An equal credential counts as new, because the server may accept it by now.
      rig.interceptor.credential = Token("a")
      #expect(await rig.interceptor.decision(on: request, for: session) == "no: no refresh")
      #expect(rig.authenticator.refreshCount == 2)
      rig.interceptor.credential = Token("b")
      #expect(await rig.interceptor.decision(on: request, for: session) == "retry")
      #expect(rig.authenticator.refreshCount == 2)
    }
  }

  @Test("a failed refresh after a refusal doesn't prevent a refresh of the expired credential")
  func failureLetsProactiveRefreshBe() async throws {
    let expired = Atomic(false)
    let rig = Rig(Token("a") { expired.load(ordering: .relaxed) })
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      rig.retry(request) { answers.record($0) }
      try await rig.authenticator.nextRefresh().completion(.failure(Mishap("no refresh")))
      #expect(await answers.next() == "no: no refresh")
      expired.store(true, ordering: .relaxed)
      rig.adapt { answers.record($0) }
      try await rig.authenticator.nextRefresh().completion(.success(Token("b")))
      #expect(await answers.next() == "Bearer b")
    }
  }

  @Test("a failed refresh before sending doesn't prevent a refresh for a refused request")
  func proactiveFailureLetsRefusalBe() async throws {
    let rig = Rig(Token("a", requiresRefresh: true))
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      rig.adapt { answers.record($0) }
      try await rig.authenticator.nextRefresh().completion(.failure(Mishap("no refresh")))
      #expect(await answers.next() == "failed: no refresh")
      rig.retry(request) { answers.record($0) }
      try await rig.authenticator.nextRefresh().completion(.success(Token("b")))
      #expect(await answers.next() == "retry")
    }
  }

  @Test("a failed refresh of a replaced credential doesn't prevent a refresh of the new one")
  func failureOfAnOldCredential() async throws {
    let rig = Rig(Token("a"))
    try await withRefused(token: "a") { session, request in
      let answers = Recorder<String>()
      rig.retry(request) { answers.record($0) }
      let refresh = try await rig.authenticator.nextRefresh()
      rig.interceptor.credential = Token("a")
      refresh.completion(.failure(Mishap("no refresh")))
      #expect(await answers.next() == "no: no refresh")
      rig.retry(request) { answers.record($0) }
      try await rig.authenticator.nextRefresh().completion(.success(Token("b")))
      #expect(await answers.next() == "retry")
    }
  }

  // MARK: The refresh window

  @Test("a sixth refresh within 30 s is refused, and is permitted again later")
  func window() async throws {
    let rig = Rig(Token("a", requiresRefresh: true), refresh: .atOnce { _ in .failure(Mishap("no refresh")) })
    for second in 0..<5 {
      rig.setTime(Double(second))
      await #expect(throws: Mishap("no refresh")) { try await rig.adapted() }
    }
    for time in [5.0, 29, 30] {
      rig.setTime(time)
      let error = await #expect(throws: AuthenticationError.excessiveRefresh) { try await rig.adapted() }
      #expect(error?.localizedDescription.contains("too often") == true)
    }
    // The first refresh, at 0 s, has left the window. The second, at 1 s, hasn't.
    rig.setTime(30.5)
    await #expect(throws: Mishap("no refresh")) { try await rig.adapted() }
    await #expect(throws: AuthenticationError.excessiveRefresh) { try await rig.adapted() }
    #expect(rig.authenticator.refreshCount == 6)
  }

  @Test("refreshes after refusals count toward the window")
  func windowOfRefusals() async throws {
    let rig = Rig(
      Token("a"), refresh: .atOnce { .success($0) }, window: .init(interval: 10, maximumAttempts: 2))
    try await withRefused(token: "a") { session, request in
      var decisions: [String] = []
      for _ in 0..<3 { decisions.append(await rig.interceptor.decision(on: request, for: session)) }
      #expect(decisions == ["retry", "retry", "no: excessiveRefresh"])
      rig.setTime(10.5)
      #expect(await rig.interceptor.decision(on: request, for: session) == "retry")
    }
  }

  @Test("the default window allows five refreshes in 30 s, and without a window there is no limit")
  func windowDefaults() async throws {
    #expect(Interceptor.RefreshWindow().interval == 30 && Interceptor.RefreshWindow().maximumAttempts == 5)
    let rig = Rig(
      Token("a", requiresRefresh: true), refresh: .atOnce { _ in .failure(Mishap("no refresh")) }, window: nil)
    for _ in 0..<20 { await #expect(throws: Mishap("no refresh")) { try await rig.adapted() } }
    #expect(rig.authenticator.refreshCount == 20)
  }

  @Test("the public initializer uses the default window and the real clock")
  func publicInitialiser() async throws {
    var duration = Duration.zero
    // On a busy machine six refreshes may take longer than the window; try again then.
    repeat {
      let authenticator = TokenAuthenticator(.atOnce { _ in .failure(Mishap("no refresh")) })
      let interceptor = AuthenticationInterceptor(
        authenticator: authenticator, credential: Token("a", requiresRefresh: true))
      let rig = Rig(authenticator, interceptor)
      var errors: [any Error] = []
      duration = await ContinuousClock().measure {
        for _ in 0..<6 { do { _ = try await rig.adapted() } catch { errors.append(error) } }
      }
      #expect(errors.prefix(5).compactMap { $0 as? Mishap }.count == 5)
      if duration < .seconds(30) { #expect(errors.last as? AuthenticationError == .excessiveRefresh) }
    } while duration >= .seconds(30)
  }
}
