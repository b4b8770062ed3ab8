// SystemResolverTests: lookups on the resolver's threads.

import Dispatch
import Glibc
import Synchronization
import Testing

@testable import LupineReactor

@Suite("SystemResolver", .timeLimit(.minutes(10)))
struct SystemResolverTests {
  private func look(_ host: String, by resolver: SystemResolver = SystemResolver()) async -> NameService.Answer {
    do throws(ResolveError) {
      return .success(try await resolver.addresses(of: host))
    } catch {
      return .failure(error)
    }
  }

  @Test("the system resolver resolves localhost to loopback addresses without a port")
  func localhost() async throws {
    let addresses = try await look("localhost").get()
    #expect(!addresses.isEmpty)
    for address in addresses { #expect(["127.0.0.1:0", "[::1]:0"].contains(address.description)) }
    // Without a socket type, getaddrinfo returns each address for TCP, UDP and raw sockets.
    #expect(Set(addresses).count == addresses.count)
  }

  @Test(
    "the system resolver omits address families that the machine has only for loopback, except for localhost",
    arguments: [
      ("localhost", 0), ("LocalHost", 0), ("localhost.", 0), ("a.localhost", 0), ("a.localhost.", 0),
      ("notlocalhost", AI_ADDRCONFIG), ("localhost.example", AI_ADDRCONFIG), ("example.com.", AI_ADDRCONFIG),
      (".", AI_ADDRCONFIG), ("", AI_ADDRCONFIG),
    ] as [(String, CInt)])
  func flags(host: String, flags: CInt) {
    #expect(SystemResolver.flags(for: host) == flags)
  }

  @Test("the system resolver reports a name under .invalid as nonexistent (RFC 6761 §6.4)")
  func unknown() async {
    switch await look("lupine.invalid") {
    case .success(let addresses): Issue.record("resolved to \(addresses)")
    case .failure(let error):
      // If no name server is reachable, the resolver can't tell that the name doesn't exist.
      #expect([.unknownName, .temporary].contains(error.kind))
      #expect(!error.description.isEmpty)
    }
  }

  @Test("the system resolver doesn't truncate a name at a NUL that the name contains")
  func nul() async {
    #expect(await look("localhost\0.x") == .failure(ResolveError(.unknownName, "the name contains a NUL")))
  }

  @Test(
    "the system resolver maps each error of getaddrinfo to a description and a kind",
    arguments: [
      (EAI_NONAME, 0, .unknownName, "Name or service not known"),
      (-5, 0, .unknownName, "No address associated with hostname"),
      (EAI_AGAIN, 0, .temporary, "Temporary failure in name resolution"),
      (EAI_AGAIN, ECONNREFUSED, .temporary, "Temporary failure in name resolution"),
      (EAI_FAIL, 0, .other, "Non-recoverable failure in name resolution"),
      (EAI_MEMORY, 0, .outOfResources, "Memory allocation failure"),
      (EAI_SYSTEM, EACCES, .other, "getaddrinfo: Permission denied"),
      (EAI_SYSTEM, EMFILE, .outOfResources, "getaddrinfo: Too many open files"),
      // The errors that glibc 2.36 returns in a process without free descriptors.
      (EAI_NONAME, EMFILE, .outOfResources, "getaddrinfo: Too many open files"),
      (EAI_AGAIN, ENFILE, .outOfResources, "getaddrinfo: Too many open files in system"),
    ] as [(CInt, CInt, ResolveError.Kind, String)])
  func kinds(_ code: CInt, _ reason: CInt, _ kind: ResolveError.Kind, _ text: String) {
    #expect(SystemResolver.error(code, errno: reason) == ResolveError(kind, text))
  }

  @Test("the system resolver answers many concurrent lookups")
  func many() async {
    let resolver = SystemResolver()
    let answers = await withTaskGroup(of: Int.self) { group in
      for number in 1...200 { group.addTask { (try? await look("localhost", by: resolver).get()) == nil ? 0 : number } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.sorted() == Array(1...200))
  }

  @Test("the system resolver answers lookups even if all of its threads but one are blocked")
  func heldUp() async {
    let resolver = SystemResolver()
    let gate = DispatchSemaphore(value: 0)
    let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
    for _ in 1..<SystemResolver.threadsMax {
      _ = resolver.start("127.0.0.1") { _ in
        gate.wait()
        continuation.yield()
      }
    }
    for _ in 0..<50 { _ = resolver.start("127.0.0.1") { _ in continuation.yield() } }
    var end = ends.makeAsyncIterator()
    for _ in 0..<50 { await end.next() }
    for _ in 1..<SystemResolver.threadsMax { gate.signal() }
    for _ in 1..<SystemResolver.threadsMax { await end.next() }
  }

  @Test("lookups beyond the system resolver's limit of threads wait in order, and are skipped if they are cancelled")
  func bounded() async {
    let resolver = SystemResolver()
    let gate = DispatchSemaphore(value: 0)
    let (threads, continuation) = AsyncStream.makeStream(of: pthread_t.self)
    for _ in 0..<SystemResolver.threadsMax {
      _ = resolver.start("127.0.0.1") { _ in
        continuation.yield(pthread_self())
        gate.wait()
      }
    }
    var thread = threads.makeAsyncIterator()
    var held = Set<pthread_t>()
    for _ in 0..<SystemResolver.threadsMax { if let next = await thread.next() { held.insert(next) } }
    #expect(held.count == SystemResolver.threadsMax)
    let (answers, answer) = AsyncStream.makeStream(of: Int.self)
    let known = held
    for number in 0..<50 {
      let takeBack = resolver.start("127.0.0.1") { _ in
        #expect(known.contains(pthread_self()))
        answer.yield(number)
      }
      if number.isMultiple(of: 5) { takeBack() }
    }
    // There is only one thread, so that the order of the lookups is visible.
    gate.signal()
    var next = answers.makeAsyncIterator()
    for number in 0..<50 where !number.isMultiple(of: 5) { #expect(await next.next() == number) }
    for _ in 1..<SystemResolver.threadsMax { gate.signal() }
  }

  @Test("the system resolver drops a queued lookup if no request waits for it any more")
  func unneeded() async {
    let resolver = SystemResolver()
    let gate = DispatchSemaphore(value: 0)
    let (starts, started) = AsyncStream.makeStream(of: Void.self)
    for _ in 0..<SystemResolver.threadsMax {
      _ = resolver.start("127.0.0.1") { _ in
        started.yield()
        gate.wait()
      }
    }
    var start = starts.makeAsyncIterator()
    for _ in 0..<SystemResolver.threadsMax { await start.next() }
    let service = NameService(ResolverConfiguration()) { resolver.start($0, if: $1, completion: $2) }
    let (answers, answer) = AsyncStream.makeStream(of: String.self)
    let liveness = Liveness()
    for number in 1...50 {
      let host = "127.0.1.\(number)"
      _ = service.lookUp(host, port: 80, while: liveness, now: Instant(nanoseconds: 0)) { _ in answer.yield(host) }
    }
    _ = service.lookUp("127.0.0.2", port: 80, now: Instant(nanoseconds: 0)) { _ in answer.yield("127.0.0.2") }
    liveness.end()
    // One thread takes all lookups, in order. The first answer would be that of 127.0.1.1 if its lookup weren't dropped.
    gate.signal()
    var next = answers.makeAsyncIterator()
    #expect(await next.next() == "127.0.0.2")
    for _ in 1..<SystemResolver.threadsMax { gate.signal() }
    withExtendedLifetime(service) {}
  }

  @Test("the system resolver answers consecutive lookups, even if its threads end between them")
  func sequence() async throws {
    let resolver = SystemResolver()
    for number in 1...50 {
      let addresses = try await look("127.0.0.\(number)", by: resolver).get()
      #expect(addresses.map(\.host) == ["127.0.0.\(number)"])
    }
  }

  @Test("the system resolver answers a lookup started in the completion of another lookup")
  func nested() async {
    let resolver = SystemResolver()
    let host = Mutex<String?>(nil)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      _ = resolver.start("127.0.0.1") { _ in
        _ = resolver.start("127.0.0.2") { answer in
          host.withLock { $0 = (try? answer.get())?.first?.host }
          continuation.resume()
        }
      }
    }
    #expect(host.withLock { $0 } == "127.0.0.2")
  }
}
