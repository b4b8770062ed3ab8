// NameServiceTests: overrides, shared lookups and the cache, with a source of addresses that the test controls.

import Synchronization
import Testing

@testable import LupineReactor

/// A source of addresses for a `NameService`. Its lookups end when the test answers them.
private final class Script: Sendable {
  struct State {
    var asked: [String] = []
    var starts: [NameService.Start] = []
    var completions: [NameService.Completion] = []
    var givenUp: [String] = []
  }

  private let state = Mutex(State())

  var asked: [String] { state.withLock(\.asked) }
  var givenUp: [String] { state.withLock(\.givenUp) }

  func service(_ configuration: ResolverConfiguration = ResolverConfiguration()) -> NameService {
    NameService(configuration) { name, start, completion in
      self.state.withLock {
        $0.asked.append(name)
        $0.starts.append(start)
        $0.completions.append(completion)
      }
      return { self.state.withLock { $0.givenUp.append(name) } }
    }
  }

  /// Takes the lookup with the given index, counted from 0, from the source's queue. Returns whether it may start.
  func start(_ index: Int) -> Bool {
    let start = state.withLock { $0.starts[index] }
    return start()
  }

  /// Ends the lookup with the given index, counted from 0, with an answer.
  func answer(_ index: Int, _ answer: NameService.Answer) {
    let completion = state.withLock { $0.completions[index] }
    completion(answer)
  }
}

/// Records the answers to a test's lookups in the order of their arrival.
private final class Record: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock(\.self) }

  func add(_ label: String, _ answer: NameService.Answer) {
    lines.withLock { $0.append("\(label) \(Self.text(answer))") }
  }

  static func text(_ answer: NameService.Answer) -> String {
    switch answer {
    case .success(let addresses): addresses.map(\.description).joined(separator: " ")
    case .failure(let error): error.kind.rawValue
    }
  }
}

private func addresses(_ hosts: String...) -> NameService.Answer {
  .success(hosts.compactMap { SocketAddress(numeric: $0, port: 0) })
}

@Suite("NameService", .timeLimit(.minutes(10)))
struct NameServiceTests {
  private let script = Script()
  private let record = Record()

  private func at(_ seconds: UInt64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

  /// Looks up a host at a virtual time. Returns the answer as text if the name service has it at once. Otherwise returns nil, and
  /// the answer is recorded later.
  private func ask(
    _ service: NameService, _ label: String, _ host: String, port: UInt16 = 80, while liveness: Liveness? = nil,
    at seconds: UInt64 = 0
  ) -> String? {
    service.lookUp(host, port: port, while: liveness, now: at(seconds)) { [record] in record.add(label, $0) }
      .map(Record.text)
  }

  @Test("several requests share the lookup of a name, and each receives the addresses with its own port")
  func coalesces() {
    let service = script.service()
    #expect(ask(service, "first", "Example.com", port: 80) == nil)
    #expect(ask(service, "second", "example.COM", port: 443) == nil)
    #expect(ask(service, "other", "example.org") == nil)
    #expect(script.asked == ["example.com", "example.org"])
    #expect(record.all == [])
    script.answer(0, addresses("192.0.2.1", "2001:db8::1"))
    #expect(record.all == ["first 192.0.2.1:80 [2001:db8::1]:80", "second 192.0.2.1:443 [2001:db8::1]:443"])
    script.answer(1, .failure(ResolveError(.temporary, "x")))
    #expect(record.all.last == "other temporary")
  }

  @Test("the name service returns addresses from its cache at once, for 60 s after the start of their lookup")
  func remembers() {
    let service = script.service()
    #expect(ask(service, "a", "x", at: 0) == nil)
    script.answer(0, addresses("192.0.2.1"))
    #expect(ask(service, "b", "X", port: 8_080, at: 59) == "192.0.2.1:8080")
    #expect(ask(service, "c", "x", at: 60) == nil)
    #expect(script.asked.count == 2)
  }

  @Test("the name service caches an unknown name for a short time, and doesn't cache a temporary failure")
  func negative() {
    let service = script.service()
    #expect(ask(service, "a", "x", at: 0) == nil)
    script.answer(0, .failure(ResolveError(.unknownName, "no")))
    #expect(ask(service, "b", "x", at: 4) == "unknownName")
    #expect(ask(service, "c", "x", at: 5) == nil)
    script.answer(1, .failure(ResolveError(.temporary, "later")))
    #expect(ask(service, "d", "x", at: 5) == nil)
    #expect(script.asked.count == 3)
  }

  @Test("without an address cache, a call after an answered lookup starts another lookup")
  func noCache() {
    var configuration = ResolverConfiguration()
    configuration.cacheAge = .zero
    let service = script.service(configuration)
    for index in 0..<3 {
      #expect(ask(service, "a", "x") == nil)
      script.answer(index, addresses("192.0.2.1"))
    }
    #expect(record.all.count == 3)
  }

  @Test("after a name is removed from the address cache, the next call looks the name up again")
  func forgets() {
    let service = script.service()
    _ = ask(service, "a", "x")
    script.answer(0, addresses("192.0.2.1"))
    service.forget("X")
    #expect(ask(service, "b", "x") == nil)
  }

  @Test(
    "an empty lookup result means an unknown name, and of a long result only 64 addresses of alternating families are used"
  )
  func checked() throws {
    let service = script.service()
    _ = ask(service, "a", "none")
    script.answer(0, .success([]))
    #expect(record.all == ["a unknownName"])
    let v6 = (1...2_000).compactMap { SocketAddress(numeric: "2001:db8::\(String($0, radix: 16))", port: 0) }
    _ = ask(service, "b", "many")
    script.answer(1, .success(v6 + v6.prefix(100).compactMap { SocketAddress(numeric: "192.0.2.1", port: $0.port) }))
    let answer = try #require(service.lookUp("many", port: 80, now: at(0)) { _ in }).get()
    #expect(answer.count == ResolverConfiguration.addressesMax)
    #expect(answer.count { $0.isIPv6 } == ResolverConfiguration.addressesMax / 2)
  }

  @Test("only the first answer to a name lookup counts, and a late answer isn't cached")
  func twice() {
    let service = script.service()
    _ = ask(service, "a", "x", at: 0)
    script.answer(0, .failure(ResolveError(.temporary, "x")))
    script.answer(0, addresses("192.0.2.1"))
    #expect(record.all == ["a temporary"])
    // The late answer doesn't complete the next lookup either.
    #expect(ask(service, "b", "x", at: 1) == nil)
    script.answer(0, addresses("192.0.2.1"))
    #expect(record.all == ["a temporary"])
    script.answer(1, addresses("192.0.2.2"))
    #expect(record.all == ["a temporary", "b 192.0.2.2:80"])
  }

  @Test("a name lookup unanswered for 60 s fails as soon as any name is looked up")
  func silent() {
    let service = script.service()
    _ = ask(service, "a", "silent", at: 0)
    _ = ask(service, "b", "silent", at: 59)
    #expect(ask(service, "c", "other", at: 59) == nil)
    #expect(script.givenUp == [] && record.all == [])
    #expect(ask(service, "d", "other", at: 60) == nil)
    #expect(script.givenUp == ["silent"])
    #expect(record.all == ["a temporary", "b temporary"])
    // A new lookup of the same name starts.
    #expect(ask(service, "e", "silent", at: 60) == nil)
    #expect(script.asked == ["silent", "other", "silent"])
    script.answer(0, addresses("192.0.2.1"))
    #expect(record.all.count == 2)
  }

  @Test("the name service drops a queued lookup if no request waits for it, and queues another for a later request")
  func dropped() {
    let service = script.service()
    let requests = [Liveness(), Liveness()]
    for request in requests { #expect(ask(service, "ended", "x", while: request) == nil) }
    for request in requests { request.end() }
    #expect(!script.start(0))
    #expect(ask(service, "later", "x") == nil)
    #expect(script.asked == ["x", "x"])
    // The dropped lookup has no effect on the new one.
    #expect(!script.start(0))
    script.answer(0, addresses("192.0.2.1"))
    #expect(script.start(1))
    script.answer(1, addresses("192.0.2.2"))
    #expect(record.all == ["later 192.0.2.2:80"])
    // The deadline of the dropped lookup was removed too.
    #expect(ask(service, "other", "y", at: 60) == nil)
    #expect(script.givenUp == [])
  }

  @Test("a queued name lookup starts if one of its requests still waits, or if another request has joined it")
  func joined() {
    let service = script.service()
    let (first, second) = (Liveness(), Liveness())
    _ = ask(service, "first", "x", while: first)
    _ = ask(service, "second", "x", while: second)
    first.end()
    #expect(script.start(0))
    let third = Liveness()
    _ = ask(service, "third", "y", while: third)
    third.end()
    _ = ask(service, "fourth", "y", while: Liveness())
    #expect(script.start(1))
    #expect(script.asked == ["x", "y"])
  }

  @Test("a name lookup that has started continues after its requests have ended, and later requests share it")
  func continued() {
    let service = script.service()
    let request = Liveness()
    _ = ask(service, "ended", "x", while: request)
    #expect(script.start(0))
    request.end()
    #expect(ask(service, "later", "x") == nil)
    #expect(script.asked == ["x"] && script.givenUp == [])
    script.answer(0, addresses("192.0.2.1"))
    #expect(record.all.contains("later 192.0.2.1:80"))
  }

  @Test("a queued name lookup doesn't start after the name service has been released")
  func startAfterRelease() {
    var service: NameService? = script.service()
    if let service { _ = ask(service, "a", "x") }
    service = nil
    #expect(!script.start(0))
  }

  @Test("at most 10,000 waiting requests share the lookup of a name")
  func waiters() {
    let service = script.service()
    for _ in 0..<NameService.waitersMax { #expect(service.lookUp("x", port: 1, now: at(0)) { _ in } == nil) }
    #expect(ask(service, "a", "x") == "temporary")
    #expect(ask(service, "b", "y") == nil)
  }

  @Test("a name lookup may be answered synchronously, during the call that starts it")
  func immediate() {
    let service = NameService(ResolverConfiguration()) { _, _, completion in
      completion(addresses("192.0.2.1"))
      return {}
    }
    #expect(ask(service, "a", "x") == nil)
    #expect(record.all == ["a 192.0.2.1:80"])
    #expect(ask(service, "b", "x") == "192.0.2.1:80")
  }

  @Test("releasing the name service cancels its lookups, and later answers have no effect")
  func release() {
    var service: NameService? = script.service()
    if let service { _ = ask(service, "a", "x") }
    service = nil
    #expect(script.givenUp == ["x"])
    script.answer(0, addresses("192.0.2.1"))
    #expect(record.all == [])
  }

  @Test("the name service uses the first host override that matches a name, without a lookup")
  func overrides() throws {
    let one = try #require(SocketAddress(numeric: "192.0.2.1", port: 7))
    let two = try #require(SocketAddress(numeric: "2001:db8::2", port: 0))
    let unix = try #require(SocketAddress(socketPath: "/run/x"))
    var configuration = ResolverConfiguration()
    configuration.overrides = [
      HostOverride(host: "Example.com", port: 443, addresses: [one]),
      HostOverride(host: "example.com", addresses: [two, one]),
      HostOverride(host: "gone", addresses: []),
      HostOverride(host: "local", addresses: [unix]),
      HostOverride(host: "*", port: 8_080, addresses: [two]),
    ]
    let service = script.service(configuration)
    #expect(ask(service, "", "example.com", port: 443) == "192.0.2.1:443")
    #expect(ask(service, "", "EXAMPLE.com", port: 80) == "[2001:db8::2]:80 192.0.2.1:80")
    #expect(ask(service, "", "gone") == "unknownName")
    #expect(ask(service, "", "local") == "unix:/run/x")
    #expect(ask(service, "", "anything", port: 8_080) == "[2001:db8::2]:8080")
    #expect(script.asked == [])
    #expect(ask(service, "", "anything", port: 8_081) == nil)
    #expect(script.asked == ["anything"])
  }

  // MARK: Custom resolvers

  private struct Own: HostResolver {
    let answer: @Sendable (String) async throws(ResolveError) -> [SocketAddress]
    func addresses(of host: String) async throws(ResolveError) -> [SocketAddress] { try await answer(host) }
  }

  private func service(_ answer: @escaping @Sendable (String) async throws(ResolveError) -> [SocketAddress])
    -> NameService
  {
    var configuration = ResolverConfiguration()
    configuration.resolver = Own(answer: answer)
    return NameService(configuration)
  }

  private func answer(_ service: NameService, _ host: String) async -> String {
    let text = Mutex("")
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let receive: NameService.Completion = { answer in
        text.withLock { $0 = Record.text(answer) }
        continuation.resume()
      }
      if let answer = service.lookUp(host, port: 80, now: at(0), completion: receive) { receive(answer) }
    }
    return text.withLock { $0 }
  }

  @Test("a custom resolver replaces the system's resolver, and the name service reports the resolver's errors")
  func own() async {
    let service = service { host throws(ResolveError) in
      guard host == "known" else { throw ResolveError(.other, "not \(host)") }
      return [SocketAddress(numeric: "192.0.2.1", port: 9)].compactMap(\.self)
    }
    #expect(await answer(service, "Known") == "192.0.2.1:80")
    #expect(await answer(service, "unknown") == "other")
  }

  @Test("releasing the name service cancels a custom resolver that never answers")
  func cancelled() async {
    let (ends, continuation) = AsyncStream.makeStream(of: Bool.self)
    let (never, kept) = AsyncStream.makeStream(of: Never.self)
    do {
      let service = service { _ in
        for await _ in never {}
        continuation.yield(Task.isCancelled)
        return []
      }
      #expect(ask(service, "a", "x") == nil)
    }
    var end = ends.makeAsyncIterator()
    #expect(await end.next() == true)
    withExtendedLifetime(kept) {}
  }

  @Test("without a custom resolver, the name service uses the system's resolver")
  func system() async {
    let text = await answer(NameService(), "localhost")
    #expect(text.contains("127.0.0.1:80") || text.contains("[::1]:80"))
  }
}
