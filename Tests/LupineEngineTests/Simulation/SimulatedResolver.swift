// Name servers: fast, slow, failing or silent.

import Synchronization

@testable import LupineEngine
@testable import LupineReactor

/// Takes questions; the simulation answers them in its own time.
final class SimulatedResolver: Sendable {

  static let proxyAddresses = ["10.1.0.1", "fd00:1::1"]

  private struct Question: Sendable {
    let host: String
    let completion: NameService.Completion
  }

  private let questions = Mutex<[Question]>([])
  private let unanswered = Mutex<[Question]>([])

  /// What the shard asks; nothing is remembered, so that each connection has a lookup of its own, unless they share one.
  func service() -> NameService {
    var configuration = ResolverConfiguration()
    configuration.cacheAge = .zero
    configuration.negativeCacheAge = .zero
    return NameService(configuration) { [self] host, completion in
      questions.withLock { $0.append(Question(host: host, completion: completion)) }
      return {}
    }
  }

  /// Enters the answers to new questions into the agenda.
  func answer(_ world: World) {
    var asked: [Question] = []
    questions.withLock { swap(&$0, &asked) }
    if world.isCalm {
      unanswered.withLock {
        asked += $0; $0 = []
      }
    }
    for question in asked { answer(question, world) }
  }

  private func answer(_ question: Question, _ world: World) {
    world.note("looks up \(question.host)")
    if world.strikes(\.lookUpNeverEnds, &world.random) {
      // Those who come later share it, until the service gives it up or the world has calmed down.
      world.ledger.failedHosts.insert(question.host)
      unanswered.withLock { $0.append(question) }
      return
    }
    let result: Result<[SocketAddress], ResolveError>
    if world.strikes(\.lookUpFails, &world.random) {
      let isUnknown = world.random.chance(50)
      result =
        isUnknown && world.random.chance(50)
        ? .success([])
        : .failure(ResolveError(isUnknown ? .unknownName : .temporary, "simulated"))
      if isUnknown {
        world.ledger.unknownHosts.insert(question.host)
      } else {
        world.ledger.failedHosts.insert(question.host)
      }
    } else {
      result = .success(
        addresses(of: question.host, world).compactMap { SocketAddress(numeric: $0, port: 0) })
    }
    // In a calm world at once: who shares an old lookup would fail with it when the service gives that up.
    let delay = world.random.duration(world.random.chance(20) ? 1_000 : 30)
    world.agenda.after(world.isCalm ? .zero : delay) {
      world.note("answer for \(question.host)")
      question.completion(result)
    }
  }

  private func addresses(of host: String, _ world: World) -> [String] {
    if host == Schedule.proxyHost { return Self.proxyAddresses }
    guard let origin = world.schedule.origins.first(where: { $0.origin.host == host }) else {
      world.violate("\(host) was looked up, which no request is for")
      return []
    }
    return origin.addresses
  }
}
