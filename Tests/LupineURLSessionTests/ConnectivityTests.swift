// ConnectivityTests: sessions whose tasks wait for a network, on a network that the test changes.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import LupineReactor
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

/// A session's delegate that records when its tasks wait for a network, receive data and end.
private final class WaitingDelegate: NSObject, URLSessionDataDelegate {
  let notes = Notes()
  /// Whether the delegate has been notified of the task's completion. The task's state becomes `.completed` just before.
  var hasEnded: Bool { notes.all.last?.hasPrefix("end") == true }
  let waiting = Gate()

  func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
    notes.add("waits")
    waiting.open()
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    notes.add("data \(String(decoding: data, as: UTF8.self))")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    notes.add("metrics \(metrics.transactionMetrics.count)")
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    notes.add("end \((error as? URLError).map { "\($0.code.rawValue)" } ?? "")")
  }
}

@Suite("Waiting for connectivity", .timeLimit(.minutes(10)))
struct ConnectivityTests {
  private let network = TestNetwork(TestNetwork.offline)
  private let resolver = SwitchedResolver()
  private let delegate = WaitingDelegate()

  /// Calls `body` with a session that uses the test's simulated network, and whose tasks wait for connectivity.
  private func withWaiting<Value>(
    _ configure: (URLSessionConfiguration) -> Void = { _ in }, _ body: (URLSession) async throws -> Value
  ) async throws -> Value {
    try await withSession(delegate: delegate) {
      $0.waitsForConnectivity = true
      $0.pathWaiters = PathWaiters(source: network.source)
      $0.engine.resolver.resolver = resolver
      $0.engine.proxy = .none
      configure($0)
    } _: {
      try await body($0)
    }
  }

  private func request(_ origin: OriginServer, _ method: String = "GET") -> URLRequest {
    var request = origin.request("/", method)
    request.url = request.url.flatMap { url in
      var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
      components?.host = "name.example"
      return components?.url
    }
    return request
  }

  private func goOnline() {
    resolver.set(isUp: true)
    network.change(to: TestNetwork.online)
  }

  @Test("a task waits for a network, its delegate is notified of that once, and then its body is sent")
  func body() async throws {
    try await withServer {
      .text(String(decoding: $0.body, as: UTF8.self))
    } _: { origin in
      try await withWaiting { session in
        let task = session.uploadTask(with: request(origin, "PUT"), from: Data("content".utf8))
        task.resume()
        await delegate.waiting.wait()
        // The network appears and disappears while name lookups still fail, so the task waits again.
        network.change(to: TestNetwork.online)
        network.change(to: TestNetwork.offline)
        goOnline()
        #expect(await settles { delegate.hasEnded })
        #expect(delegate.notes.all == ["waits", "data content", "metrics 1", "end "])
        #expect(task.countOfBytesSent == 7)
        // The thread that has started to watch the network may not have noticed yet that no task waits any more.
        #expect(await settles { network.watcherCount == 0 })
      }
    }
  }

  @Test("if waitsForConnectivity is false, a task without a network fails at once")
  func off() async throws {
    try await withServer { _ in
      .text("")
    } _: { origin in
      try await withWaiting {
        $0.waitsForConnectivity = false
      } _: { session in
        #expect(await code { try await session.data(for: request(origin)) } == .dnsLookupFailed)
        #expect(delegate.notes.all == ["metrics 1"])
      }
    }
  }

  @Test("a task doesn't treat a name server that doesn't answer as a missing network")
  func noNameServer() async throws {
    network.change(to: TestNetwork.online)
    try await withServer { _ in
      .text("")
    } _: { origin in
      try await withWaiting { session in
        #expect(await code { try await session.data(for: request(origin)) } == .dnsLookupFailed)
      }
    }
  }

  @Test("an unanswered name lookup means notConnectedToInternet only if the machine is known to have no default route")
  func defaultRoute() async throws {
    try await withServer { _ in
      .text("")
    } _: { origin in
      try await withWaiting {
        $0.waitsForConnectivity = false
      } _: { session in
        let error = await #expect(throws: URLError.self) { _ = try await session.data(for: request(origin)) }
        let failure = try #require(error?.userInfo[NSUnderlyingErrorKey] as? EngineError)
        let cases: [(NetworkState?, URLError.Code)] = [
          (TestNetwork.offline, .notConnectedToInternet), (TestNetwork.local, .notConnectedToInternet),
          (TestNetwork.online, .dnsLookupFailed), (TestNetwork.cellular, .dnsLookupFailed), (nil, .dnsLookupFailed),
        ]
        for (state, expected) in cases {
          let source = TestNetwork(state, isReadable: state != nil).source
          #expect(URLError(failure, url: nil, isOffline: source.isOffline).code == expected)
        }
      }
    }
  }

  @Test("a task whose name lookup fails because there is no default route is sent when a default route appears")
  func defaultRouteAppears() async throws {
    network.change(to: TestNetwork.local)
    try await withServer { _ in
      .text("ok")
    } _: { origin in
      try await withWaiting { session in
        let task = session.dataTask(with: request(origin))
        task.resume()
        await delegate.waiting.wait()
        goOnline()
        #expect(await settles { delegate.hasEnded })
        #expect(delegate.notes.all == ["waits", "data ok", "metrics 1", "end "])
      }
    }
  }

  @Test(
    "if name servers don't answer after a network comes up, a lookup is repeated three times, then the task fails")
  func noNameServerAfterwards() async throws {
    try await withServer { _ in
      .text("")
    } _: { origin in
      try await withWaiting { session in
        let task = session.dataTask(with: request(origin))
        task.resume()
        await delegate.waiting.wait()
        let earlier = resolver.lookupCount
        network.change(to: TestNetwork.online)
        #expect(await settles { delegate.hasEnded })
        #expect(delegate.notes.all == ["waits", "metrics 0", "end -1006"])
        #expect(resolver.lookupCount - earlier == TransferState.NetworkWait.unansweredLookupsMax + 1)
      }
    }
  }

  @Test("even after several network outages, a task repeats a name lookup that wasn't answered")
  func outages() async throws {
    let count = Mutex(0)
    let source = NetworkSource(
      current: { [resolver] in
        let isOutage = count.withLock { count -> Bool in
          count += 1
          return count <= TransferState.NetworkWait.unansweredLookupsMax + 1
        }
        if isOutage { return TestNetwork.offline }
        // The name server hasn't answered the latest lookup, and will answer the next one.
        resolver.set(isUp: true)
        return TestNetwork.online
      }, watch: network.source.watch)
    network.change(to: TestNetwork.online)
    try await withServer { _ in
      .text("ok")
    } _: { origin in
      try await withWaiting {
        $0.pathWaiters = PathWaiters(source: source)
      } _: { session in
        let task = session.dataTask(with: request(origin))
        task.resume()
        #expect(await settles { delegate.hasEnded })
        #expect(delegate.notes.all == ["waits", "data ok", "metrics 1", "end "])
      }
    }
  }

  @Test("a task's wait for a network is limited by the resource timeout, not by the request's timeout")
  func timeout() async throws {
    try await withServer { _ in
      .text("")
    } _: { origin in
      try await withWaiting {
        $0.timeoutIntervalForResource = 0.3
        $0.timeoutIntervalForRequest = 0.05
      } _: { session in
        let start = ContinuousClock.now
        #expect(await code { try await session.data(for: request(origin)) } == .timedOut)
        let time = ContinuousClock.now - start
        // On a slow machine, the request may time out before it begins to wait for a network.
        #expect(time >= .milliseconds(300) || !delegate.notes.all.contains("waits"))
        #expect(await settles { network.watcherCount == 0 })
      }
    }
  }

  @Test("a task that is cancelled while it waits for a network ends at once, and the network is no longer watched")
  func cancellation() async throws {
    try await withServer { _ in
      .text("")
    } _: { origin in
      try await withWaiting { session in
        let task = session.dataTask(with: request(origin))
        task.resume()
        await delegate.waiting.wait()
        #expect(await settles { network.watcherCount == 1 })
        task.cancel()
        #expect(await settles { network.watcherCount == 0 && delegate.hasEnded })
        #expect(delegate.notes.all == ["waits", "metrics 0", "end -999"])
        goOnline()
        #expect(resolver.lookupCount == 1)
      }
    }
  }

  @Test("invalidating a session ends its tasks that wait for a network")
  func invalidation() async throws {
    try await withServer { _ in
      .text("")
    } _: { origin in
      try await withWaiting { session in
        let tasks = (0..<20).map { _ in session.dataTask(with: request(origin)) }
        for task in tasks { task.resume() }
        #expect(await settles { delegate.notes.all.count == 20 })
        session.invalidateAndCancel()
        #expect(await settles { tasks.allSatisfy { $0.state == .completed } && network.watcherCount == 0 })
      }
    }
  }

  @Test("hundreds of tasks that wait for a network share one network watch, and all of their requests are sent")
  func many() async throws {
    try await withServer { _ in
      .text("ok")
    } _: { origin in
      try await withWaiting { session in
        let tasks = (0..<300).map { _ in session.dataTask(with: request(origin)) }
        for task in tasks { task.resume() }
        #expect(await settles { delegate.notes.all.count { $0 == "waits" } == 300 })
        // The delegate is notified before the first task starts to watch the network.
        #expect(await settles { network.watcherCount == 1 })
        goOnline()
        #expect(await settles { delegate.notes.all.count { $0 == "data ok" } == 300 })
      }
    }
  }

  @Test("if the state of the network can't be read, a waiting task tries again after a pause")
  func unreadable() async throws {
    let unreadable = TestNetwork(nil, isReadable: false)
    let list = PathWaiters(source: unreadable.source)
    let resumed = Gate()
    let wait = list.wait(attempts: 1, limit: nil, until: { $0?.hasRoute() ?? true }) { _ in resumed.open() }
    await resumed.wait()
    withExtendedLifetime(wait) {}
  }

  @Test("a report of a network watch that has ended doesn't resume a task that waits later")
  func lateReport() async {
    let handlers = Mutex<[NetworkSource.Handler]>([])
    let source = NetworkSource(
      current: { nil },
      watch: { handler in
        handlers.withLock { $0.append(handler) }
        return Notes()
      })
    let list = PathWaiters(source: source)
    let (outcomes, ended) = (Notes(), Gate())
    _ = list.wait(attempts: 0, limit: nil, until: { $0?.hasRoute() ?? true }) { _ in }
    for handler in handlers.withLock({ $0 }) { handler(TestNetwork.online) }
    let wait = list.wait(attempts: 0, limit: .milliseconds(20), until: { $0?.hasRoute() ?? true }) {
      outcomes.add("\($0)")
      ended.open()
    }
    await ended.wait()
    withExtendedLifetime(wait) {}
    #expect(outcomes.all == ["timedOut"])
  }

  @Test("the cost of starting to wait for a network doesn't grow with the number of waiters", .timeLimit(.minutes(1)))
  func manyWaiters() {
    let network = TestNetwork(TestNetwork.offline)
    let list = PathWaiters(source: network.source)
    let waits = (0..<20_000).map { _ in
      list.wait(attempts: 0, limit: .seconds(3600), until: { $0?.hasRoute() ?? true }) { _ in }
    }
    #expect(network.watcherCount == 1)
    withExtendedLifetime(waits) {}
  }
}

@Suite("NWPathMonitor", .timeLimit(.minutes(10)))
struct NWPathMonitorTests {
  @Test("NWPathMonitor reports the current path and each change on its queue, and reports nothing after cancel")
  func changes() async {
    let network = TestNetwork(TestNetwork.offline)
    let monitor = NWPathMonitor(.prohibited([]), source: network.source)
    #expect(monitor.currentPath.status == .unsatisfied)
    let queue = DispatchQueue(label: "test")
    let notes = Notes()
    monitor.pathUpdateHandler = { path in
      dispatchPrecondition(condition: .onQueue(queue))
      notes.add("\(path.status) \(path.availableInterfaces.map(\.name)) \(path.isExpensive)")
    }
    monitor.start(queue: queue)
    monitor.start(queue: .main)
    network.change(to: TestNetwork.online)
    network.change(to: TestNetwork.online)
    network.change(to: TestNetwork.network("wwan0", "wlan0"))
    #expect(await settles { notes.all.count == 3 })
    #expect(
      notes.all == [
        "unsatisfied [] false", #"satisfied ["eth0"] false"#, #"satisfied ["wwan0", "wlan0"] true"#,
      ])
    #expect(monitor.currentPath.usesInterfaceType(.cellular) && !monitor.currentPath.usesInterfaceType(.wifi))
    #expect(monitor.currentPath.availableInterfaces.map(\.type) == [.cellular, .wifi])
    monitor.cancel()
    network.change(to: TestNetwork.offline)
    monitor.start(queue: queue)
    queue.sync {}
    #expect(notes.all.count == 3 && network.watcherCount == 0)
  }

  @Test("NWPathMonitor's path contains only interfaces of the required type, and none of the prohibited types")
  func filters() {
    let network = TestNetwork.network("wwan0", "wlan0", "eth0")
    func names(_ filter: PathFilter) -> [String] { NWPath(network, filter).availableInterfaces.map(\.name) }
    #expect(names(.required(.wifi)) == ["wlan0"] && names(.prohibited([.cellular, .wifi])) == ["eth0"])
    #expect(names(.required(.loopback)).isEmpty && names(.prohibited([])) == ["wwan0", "wlan0", "eth0"])
    #expect(NWPath(network, .required(.other)).status == .unsatisfied)
    #expect(NWPath(nil, .prohibited([])).status == .requiresConnection)
  }

  @Test("releasing an NWPathMonitor stops watching the network")
  func release() {
    let network = TestNetwork(TestNetwork.online)
    var monitor: NWPathMonitor? = NWPathMonitor(.prohibited([]), source: network.source)
    let queue = DispatchQueue(label: "test")
    monitor?.start(queue: queue)
    // While the monitor reports the path, the queue retains the monitor.
    queue.sync {}
    #expect(network.watcherCount == 1)
    monitor = nil
    #expect(network.watcherCount == 0)
  }
}
