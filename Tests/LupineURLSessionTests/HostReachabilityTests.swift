// HostReachabilityTests: the path to a named host, with reports of the network and lookups that the tests control.

import LupineEngine
import Synchronization
import Testing

@testable import LupineReactor
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite("HostReachability: lookups and reports of the network")
struct HostReachabilityTests {
  /// A network and a name service whose reports and answers a test sends.
  private final class Controls: Sendable {
    private let handlers = Mutex<[NetworkSource.Handler]>([])
    private let lookups = Mutex<[@Sendable (Result<[SocketAddress], ResolveError>) -> Void]>([])
    private let received = Mutex<[String: [HostPath]]>([:])

    var lookupCount: Int { lookups.withLock { $0.count } }

    func host() throws -> HostReachability {
      let source = NetworkSource(
        current: { TestNetwork.online },
        watch: { handler in
          self.handlers.withLock { $0.append(handler) }
          return Notes()
        })
      return try #require(
        HostReachability(host: "a.test", source: source) { _, completion in
          self.lookups.withLock { $0.append(completion) }
        })
    }

    /// Reports a state of the network to the watch with this index.
    func report(_ network: NetworkState, to index: Int) {
      let handler = handlers.withLock { $0[index] }
      handler(network)
    }

    /// Ends the lookup with this index.
    func answer(_ index: Int, _ result: Result<[SocketAddress], ResolveError>) {
      let completion = lookups.withLock { $0[index] }
      completion(result)
    }

    func receive(_ path: HostPath, _ listener: String) { received.withLock { $0[listener, default: []].append(path) } }

    func paths(_ listener: String) -> [HostPath] { received.withLock { $0[listener] ?? [] } }
  }

  private let controls = Controls()
  private let route = HostPath.route(isCellular: false, isLocal: false, isDirect: false)

  private func addresses() throws -> [SocketAddress] { [try #require(SocketAddress(numeric: "192.0.2.1", port: 0))] }

  /// Makes a listener with this name receive the paths to the host. Returns false if the network can't be watched.
  private func listens(to host: HostReachability, as listener: String) -> Bool {
    host.watch { [controls] in controls.receive($0, listener) }
  }

  @Test("a late lookup or report for an earlier listener isn't passed to a later listener")
  func late() throws {
    let host = try controls.host()
    #expect(listens(to: host, as: "first"))
    controls.report(TestNetwork.online, to: 0)
    #expect(listens(to: host, as: "second"))
    controls.answer(0, .success(try addresses()))
    controls.report(TestNetwork.offline, to: 0)
    #expect(controls.paths("first").isEmpty && controls.paths("second").isEmpty && controls.lookupCount == 1)
    controls.report(TestNetwork.online, to: 1)
    controls.answer(1, .success(try addresses()))
    #expect(controls.paths("first").isEmpty && controls.paths("second") == [route])
  }

  /// An object that a listener retains, and that stops listening when it is released.
  private final class Owner: Sendable {
    let host: HostReachability
    init(_ host: HostReachability) { self.host = host }
    deinit { host.stop() }
  }

  @Test("a listener can be replaced or removed even if its release stops listening")
  func released() throws {
    let host = try controls.host()
    for _ in 0..<2 {
      let owner = Owner(host)
      let isWatched = host.watch { [controls] in controls.receive($0, withExtendedLifetime(owner) { "owned" }) }
      #expect(isWatched)
    }
    host.stop()
    #expect(listens(to: host, as: "last"))
    controls.report(TestNetwork.online, to: 2)
    controls.answer(0, .success(try addresses()))
    #expect(controls.paths("owned").isEmpty && controls.paths("last") == [route])
  }

  @Test("a change of the network during a host's first lookup doesn't report the host as missing")
  func firstLookup() throws {
    let host = try controls.host()
    #expect(listens(to: host, as: "only"))
    controls.report(TestNetwork.online, to: 0)
    controls.report(TestNetwork.local, to: 0)
    controls.report(TestNetwork.online, to: 0)
    #expect(controls.paths("only").isEmpty && controls.lookupCount == 1)
    controls.answer(0, .success(try addresses()))
    #expect(controls.lookupCount == 2 && Set(controls.paths("only")) == [route])
  }

  @Test("while a host is looked up again, and if no name server answers, its earlier addresses determine its path")
  func earlierAddresses() throws {
    let host = try controls.host()
    #expect(listens(to: host, as: "only"))
    controls.report(TestNetwork.online, to: 0)
    controls.answer(0, .success(try addresses()))
    controls.report(TestNetwork.offline, to: 0)
    #expect(controls.paths("only") == [route, .missing] && controls.lookupCount == 2)
    controls.report(TestNetwork.online, to: 0)
    #expect(controls.paths("only") == [route, .missing, route] && controls.lookupCount == 2)
    // The network has changed during the lookup, so another lookup follows.
    controls.answer(1, .failure(ResolveError(.temporary, "no answer")))
    #expect(controls.lookupCount == 3 && controls.paths("only").last == route)
    controls.answer(2, .failure(ResolveError(.unknownName, "no such name")))
    #expect(controls.lookupCount == 3 && controls.paths("only").last == .missing)
  }
}
