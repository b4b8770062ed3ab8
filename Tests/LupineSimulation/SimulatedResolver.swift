// SimulatedResolver: name servers that answer fast, slowly, with an error or never.

import Synchronization

@testable import LupineEngine
@testable import LupineReactor

/// A simulated resolver: it collects name lookups, and answers them in virtual time.
final class SimulatedResolver: Sendable {

  static let proxyAddresses = ["10.1.0.1", "fd00:1::1"]

  private struct Question: Sendable {
    let host: String
    let completion: NameService.Completion
  }

  private let questions = Mutex<[Question]>([])
  private let unanswered = Mutex<[Question]>([])

  /// Returns a name service for the shard that uses this resolver. Its cache is off, so that requests share only concurrent
  /// lookups.
  func service() -> NameService {
    var configuration = ResolverConfiguration()
    configuration.cacheAge = .zero
    configuration.negativeCacheAge = .zero
    return NameService(configuration) { [self] host, _, completion in
      questions.withLock { $0.append(Question(host: host, completion: completion)) }
      return {}
    }
  }

  /// Schedules the answers to new name lookups in the agenda.
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
      // Later lookups of the same host share this one, until the name service abandons it or all faults are turned off.
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
    // Without faults, the answer arrives immediately. Otherwise, a request that shares an old lookup would fail when the name
    // service abandons the lookup.
    let delay = world.random.duration(world.random.chance(20) ? 1_000 : 30)
    world.agenda.after(world.isCalm ? .zero : delay) {
      world.note("answer for \(question.host)")
      question.completion(result)
    }
  }

  private func addresses(of host: String, _ world: World) -> [String] {
    if host == Schedule.proxyHost { return Self.proxyAddresses }
    guard let origin = world.schedule.origins.first(where: { $0.origin.host == host }) else {
      world.violate("\(host) was looked up without a request for it")
      return []
    }
    return origin.addresses
  }
}
