// AuthenticationInterceptor: authenticators that complete synchronously, twice, or call the interceptor back, and
// requests from many threads.

import Foundation
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct AuthenticationRaceTests {
  @Test(
    "an authenticator and a credential can read AuthenticationInterceptor.credential while the interceptor calls them")
  func callsFromWithin() async throws {
    let fixture = Mutex<InterceptorFixture?>(nil)
    let names = Recorder<String?>()
    let look: @Sendable () -> Void = { names.record(fixture.withLock { $0 }?.interceptor.credential?.name) }
    let made = InterceptorFixture(
      Token("a") {
        look()
        return true
      },
      refresh: .immediate { _ in
        look()
        return .success(Token("b"))
      }, onCall: look)
    fixture.withLock { $0 = made }
    #expect(try await made.adapted() == "Bearer b")
    // The current credential as read in requiresRefresh, refresh and apply.
    #expect(await names.first(3) == ["a", "a", "b"])
    try await withRefused(token: "b") { session, request in
      #expect(await made.interceptor.decision(on: request, for: session) == "retry")
      // The current credential as read in didRequest, isRequest and refresh.
      #expect(await names.first(3) == ["b", "b", "b"])
    }
    fixture.withLock { $0 = nil }
  }

  @Test(
    "if an authenticator completes a refresh twice, the second call has no effect, even if the next refresh is running")
  func answeringTwice() async throws {
    let fixture = InterceptorFixture(Token("a", requiresRefresh: true))
    let answers = Recorder<String>()
    fixture.adapt { answers.record($0) }
    let first = try await fixture.authenticator.nextRefresh()
    first.completion(.failure(Mishap("first answer")))
    first.completion(.success(Token("second answer")))
    #expect(await answers.next() == "failed: first answer")
    #expect(fixture.interceptor.credential?.name == "a")

    fixture.adapt { answers.record($0) }
    let second = try await fixture.authenticator.nextRefresh()
    first.completion(.success(Token("third answer")))
    #expect(fixture.interceptor.credential?.name == "a")
    second.completion(.success(Token("b")))
    #expect(await answers.next() == "Bearer b")
  }

  @Test("if the credential is replaced while the interceptor evaluates a failed request, no refresh starts")
  func replacedMeanwhile() async throws {
    for replacement in [Token("b"), nil] {
      let fixture = Mutex<InterceptorFixture?>(nil)
      let made = InterceptorFixture(
        Token("a"), onCall: { fixture.withLock { $0 }?.interceptor.credential = replacement })
      try await withRefused(token: "a") { session, request in
        fixture.withLock { $0 = made }
        let expected = replacement == nil ? "no: missingCredential" : "retry"
        #expect(await made.interceptor.decision(on: request, for: session) == expected)
        #expect(made.authenticator.refreshCount == 0)
      }
      fixture.withLock { $0 = nil }
    }
  }

  @Test("if the getter of requiresRefresh replaces the interceptor's credential, the old credential isn't refreshed")
  func replacedWhileAsked() async throws {
    let fixture = Mutex<InterceptorFixture?>(nil)
    let made = InterceptorFixture(
      Token("a") {
        fixture.withLock { $0 }?.interceptor.credential = Token("b")
        return true
      })
    fixture.withLock { $0 = made }
    #expect(try await made.adapted() == "Bearer b")
    #expect(made.authenticator.refreshCount == 0)
    fixture.withLock { $0 = nil }
  }

  @Test(
    "AuthenticationInterceptor runs one refresh at a time for requests on many threads, and each request completes once"
  )
  func manyThreads() async throws {
    let running = Atomic(0)
    let runningMax = Atomic(0)
    let generation = Atomic(0)
    let fixture = InterceptorFixture(
      Token("0", requiresRefresh: true),
      refresh: .immediate { _ in
        let count = running.add(1, ordering: .relaxed).newValue
        runningMax.max(count, ordering: .relaxed)
        let number = generation.add(1, ordering: .relaxed).newValue
        running.subtract(1, ordering: .relaxed)
        // Every second refresh fails. Every fourth returns a credential that requires another refresh.
        if number % 2 == 0 { return .failure(Mishap("no refresh")) }
        return .success(Token("\(number)", requiresRefresh: number % 4 == 1))
      }, window: nil)
    try await withRefused(token: "0") { session, request in
      // A continuation resumed twice traps. One never resumed keeps the group from ending.
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<400 {
          group.addTask {
            switch number % 4 {
            case 0: _ = await fixture.interceptor.decision(on: request, for: session)
            case 1: fixture.interceptor.credential = Token("0", requiresRefresh: true)
            default: _ = try? await fixture.adapted()
            }
          }
        }
      }
    }
    #expect(runningMax.load(ordering: .relaxed) == 1)
    #expect(fixture.authenticator.refreshCount > 0)
  }
}
