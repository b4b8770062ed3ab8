// AuthenticationInterceptor: authenticators that complete synchronously, twice, or call the interceptor back, and
// requests from many threads.

import Foundation
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct AuthenticationRaceTests {
  @Test("authenticators and credentials may read the interceptor's credential during each call")
  func callsFromWithin() async throws {
    let rig = Mutex<Rig?>(nil)
    let names = Recorder<String?>()
    let look: @Sendable () -> Void = { names.record(rig.withLock { $0 }?.interceptor.credential?.name) }
    let made = Rig(
      Token("a") {
        look()
        return true
      },
      refresh: .atOnce { _ in
        look()
        return .success(Token("b"))
      }, onCall: look)
    rig.withLock { $0 = made }
    #expect(try await made.adapted() == "Bearer b")
    // Recorded by requiresRefresh, refresh and apply.
    #expect(await names.first(3) == ["a", "a", "b"])
    try await withRefused(token: "b") { session, request in
      #expect(await made.interceptor.decision(on: request, for: session) == "retry")
      // Recorded by didRequest, isRequest and refresh.
      #expect(await names.first(3) == ["b", "b", "b"])
    }
    rig.withLock { $0 = nil }
  }

  @Test("only the first completion of a refresh has an effect, even during the next refresh")
  func answeringTwice() async throws {
    let rig = Rig(Token("a", requiresRefresh: true))
    let answers = Recorder<String>()
    rig.adapt { answers.record($0) }
    let first = try await rig.authenticator.nextRefresh()
    first.completion(.failure(Mishap("first answer")))
    first.completion(.success(Token("second answer")))
    #expect(await answers.next() == "failed: first answer")
    #expect(rig.interceptor.credential?.name == "a")

    rig.adapt { answers.record($0) }
    let second = try await rig.authenticator.nextRefresh()
    first.completion(.success(Token("third answer")))
    #expect(rig.interceptor.credential?.name == "a")
    second.completion(.success(Token("b")))
    #expect(await answers.next() == "Bearer b")
  }

  @Test("replacing the credential while a refused request is examined causes no refresh")
  func replacedMeanwhile() async throws {
    for replacement in [Token("b"), nil] {
      let rig = Mutex<Rig?>(nil)
      let made = Rig(Token("a"), onCall: { rig.withLock { $0 }?.interceptor.credential = replacement })
      try await withRefused(token: "a") { session, request in
        rig.withLock { $0 = made }
        let expected = replacement == nil ? "no: missingCredential" : "retry"
        #expect(await made.interceptor.decision(on: request, for: session) == expected)
        #expect(made.authenticator.refreshCount == 0)
      }
      rig.withLock { $0 = nil }
    }
  }

  @Test("a credential that its own requiresRefresh replaces isn't refreshed")
  func replacedWhileAsked() async throws {
    let rig = Mutex<Rig?>(nil)
    let made = Rig(
      Token("a") {
        rig.withLock { $0 }?.interceptor.credential = Token("b")
        return true
      })
    rig.withLock { $0 = made }
    #expect(try await made.adapted() == "Bearer b")
    #expect(made.authenticator.refreshCount == 0)
    rig.withLock { $0 = nil }
  }

  @Test("requests from many threads complete once each, with one refresh at a time")
  func manyThreads() async throws {
    let running = Atomic(0)
    let runningMax = Atomic(0)
    let generation = Atomic(0)
    let rig = Rig(
      Token("0", requiresRefresh: true),
      refresh: .atOnce { _ in
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
            case 0: _ = await rig.interceptor.decision(on: request, for: session)
            case 1: rig.interceptor.credential = Token("0", requiresRefresh: true)
            default: _ = try? await rig.adapted()
            }
          }
        }
      }
    }
    #expect(runningMax.load(ordering: .relaxed) == 1)
    #expect(rig.authenticator.refreshCount > 0)
  }
}
