// Lookups on the resolver's threads: each is answered once, however many there are.

import Dispatch
import Glibc
import LupineReactor
import Testing

@Suite("Resolver", .timeLimit(.minutes(1)))
struct ResolverTests {
  private func look(_ host: String, port: UInt16 = 80, by resolver: Resolver = Resolver()) async
    -> Result<[SocketAddress], ResolveError>
  {
    await withCheckedContinuation { continuation in
      resolver.resolve(host, port: port) { continuation.resume(returning: $0) }
    }
  }

  @Test("localhost is this machine, under the port asked for")
  func localhost() async throws {
    let addresses = try await look("localhost", port: 8_080).get()
    #expect(!addresses.isEmpty)
    for address in addresses {
      #expect(["127.0.0.1:8080", "[::1]:8080"].contains(address.description))
    }
    // Without a socket type each address would come once for TCP, UDP and raw sockets.
    #expect(Set(addresses.map(\.description)).count == addresses.count)
  }

  @Test("a name under .invalid doesn't exist (RFC 6761 §6.4)")
  func unknown() async {
    switch await look("lupine.invalid") {
    case .success(let addresses): Issue.record("resolved to \(addresses)")
    case .failure(let error):
      // Where no name server can be reached, nobody can say that the name doesn't exist.
      #expect(error.isUnknownName || error.code == EAI_AGAIN)
      #expect(!error.description.isEmpty)
    }
  }

  @Test("an unknown name and a failed lookup are told apart by getaddrinfo's code")
  func numericNames() async throws {
    let error = await #expect(throws: ResolveError.self) { _ = try await look("not a name").get() }
    #expect(error?.isUnknownName == (error?.code == EAI_NONAME))
  }

  @Test("many lookups at once are all answered, each once, with its own port")
  func many() async {
    let resolver = Resolver()
    let ports = await withTaskGroup(of: UInt16?.self) { group in
      for port in 1...200 as ClosedRange<UInt16> {
        group.addTask { try? await look("localhost", port: port, by: resolver).get().first?.port }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(ports) == Set(1...200))
    #expect(ports.count == 200)
  }

  @Test("lookups go on while all threads but one are held up")
  func heldUp() async {
    let resolver = Resolver()
    let gate = DispatchSemaphore(value: 0)
    let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
    for _ in 1..<Resolver.threadsMax {
      resolver.resolve("127.0.0.1", port: 1) { _ in
        gate.wait()
        continuation.yield()
      }
    }
    for _ in 0..<50 { resolver.resolve("127.0.0.1", port: 1) { _ in continuation.yield() } }
    var end = ends.makeAsyncIterator()
    for _ in 0..<50 { await end.next() }
    for _ in 1..<Resolver.threadsMax { gate.signal() }
    for _ in 1..<Resolver.threadsMax { await end.next() }
  }

  @Test("lookups beyond the limit wait for the threads that there are")
  func bounded() async {
    let resolver = Resolver()
    let gate = DispatchSemaphore(value: 0)
    let (threads, continuation) = AsyncStream.makeStream(of: pthread_t.self)
    for _ in 0..<Resolver.threadsMax {
      resolver.resolve("127.0.0.1", port: 1) { _ in
        continuation.yield(pthread_self())
        gate.wait()
      }
    }
    var thread = threads.makeAsyncIterator()
    var held = Set<pthread_t>()
    for _ in 0..<Resolver.threadsMax { if let next = await thread.next() { held.insert(next) } }
    #expect(held.count == Resolver.threadsMax)
    for _ in 0..<50 { resolver.resolve("127.0.0.1", port: 1) { _ in continuation.yield(pthread_self()) } }
    for _ in 0..<Resolver.threadsMax { gate.signal() }
    for _ in 0..<50 {
      let next = await thread.next()
      #expect(next.map(held.contains) == true)
    }
  }

  @Test("lookups one behind the other are answered, though the threads go in between")
  func sequence() async throws {
    let resolver = Resolver()
    for port in 1...50 as ClosedRange<UInt16> {
      let addresses = try await look("127.0.0.1", port: port, by: resolver).get()
      #expect(addresses.map(\.description) == ["127.0.0.1:\(port)"])
    }
  }

  @Test("a lookup that is asked for from a completion is answered")
  func nested() async {
    let resolver = Resolver()
    let result = await withCheckedContinuation { continuation in
      resolver.resolve("127.0.0.1", port: 1) { _ in
        resolver.resolve("::1", port: 2) { continuation.resume(returning: $0) }
      }
    }
    #expect((try? result.get().first?.description) == "[::1]:2")
  }
}
