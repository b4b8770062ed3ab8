// NetworkReachabilityManagerTests: statuses and flags that hold on any machine, and listeners. Tests/Namespaces/reachability
// changes a network.

import Dispatch
import Foundation
import Glibc
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite("NetworkReachabilityManager: status, flags and listeners", .timeLimit(.minutes(10)))
struct NetworkReachabilityManagerTests {
  private typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

  @Test(
    "a reachability manager reports localhost and loopback addresses as directly reachable",
    arguments: ["localhost", "127.0.0.1", "::1"])
  func local(host: String) throws {
    let manager = try #require(NetworkReachabilityManager(host: host))
    #expect(manager.status == .reachable(.ethernetOrWiFi))
    #expect(manager.isReachable && manager.isReachableOnEthernetOrWiFi && !manager.isReachableOnCellular)
    #expect(manager.flags == [.reachable, .isLocalAddress, .isDirect])
  }

  @Test("a reachability manager reports a host without an address as not reachable")
  func missing() throws {
    let manager = try #require(NetworkReachabilityManager(host: "no\0name"))
    #expect(manager.status == .notReachable)
    #expect(!manager.isReachable && !manager.isReachableOnEthernetOrWiFi && !manager.isReachableOnCellular)
    #expect(manager.flags == [])
  }

  @Test("a reachability manager can't be created for an empty host, but can always be created without a host")
  func creation() throws {
    #expect(NetworkReachabilityManager(host: "") == nil)
    let shared = try #require(NetworkReachabilityManager.default)
    #expect(shared === NetworkReachabilityManager.default && shared !== NetworkReachabilityManager())
    #expect(shared.status != .unknown)
    #expect(shared.reachabilityQueue.label == "org.alamofire.reachabilityQueue")
  }

  @Test("the route to a host determines the reachability flags, and the flags determine the status")
  func flags() {
    for (path, flags, status) in [
      (HostPath.unknown, nil, Status.unknown), (.missing, [], .notReachable),
      (.route(isCellular: false, isLocal: false, isDirect: false), [.reachable], .reachable(.ethernetOrWiFi)),
      (.route(isCellular: true, isLocal: false, isDirect: false), [.reachable, .isWWAN], .reachable(.cellular)),
      (
        .route(isCellular: true, isLocal: false, isDirect: true), [.reachable, .isWWAN, .isDirect],
        .reachable(.cellular)
      ),
    ] as [(HostPath, SCNetworkReachabilityFlags?, Status)] {
      #expect(SCNetworkReachabilityFlags(path) == flags)
      #expect(Status(flags) == status)
    }
  }

  @Test("a reachability listener is called on its queue with the current status, and a new listener replaces it")
  func listening() async throws {
    let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
    for _ in 0..<3 {
      let queue = DispatchQueue(label: "test")
      let status = await withCheckedContinuation { continuation in
        let isListening = manager.startListening(onQueue: queue) { status in
          dispatchPrecondition(condition: .onQueue(queue))
          continuation.resume(returning: status)
        }
        #expect(isListening)
      }
      #expect(status == .reachable(.ethernetOrWiFi))
    }
    manager.stopListening()
    manager.stopListening()
    #expect(manager.isReachable)
  }

  @Test("releasing a reachability manager while it is listening deallocates it")
  func release() async {
    var manager = NetworkReachabilityManager(host: "localhost")
    #expect(manager?.startListening { _ in } == true)
    weak let left = manager
    manager = nil
    // While the reachability queue notifies the manager, it retains the manager.
    #expect(await settles { left == nil })
  }

  @Test("a listener can be removed or replaced even if its release stops listening")
  func releasedListener() throws {
    final class Owner: Sendable {
      let manager: NetworkReachabilityManager
      init(_ manager: NetworkReachabilityManager) { self.manager = manager }
      deinit { manager.stopListening() }
    }
    let manager = try #require(NetworkReachabilityManager(host: "localhost"))
    for _ in 0..<2 {
      let owner = Owner(manager)
      #expect(manager.startListening(onQueue: .global()) { _ in withExtendedLifetime(owner) {} })
    }
    manager.stopListening()
  }

  // The test runs in a dedicated process, because other tests need descriptors.
  @Test("without free file descriptors, the reachability status is unknown, and listening can't be started")
  func noDescriptors() async {
    await #expect(processExitsWith: .success) {
      let manager = NetworkReachabilityManager(host: "127.0.0.1")
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none) == 0)
      let isListening = manager?.startListening { _ in } ?? true
      let (status, flags) = (manager?.status, manager?.flags)
      // The limit is restored, because LeakSanitizer needs descriptors when the process ends, and would wait forever.
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      try #require(status == .unknown && flags == nil && !isListening)
    }
  }
}
