// NetworkReachabilityManagerTests: the status of this machine, and the listener.

import Foundation
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct NetworkReachabilityManagerTests {
  @Test("a loopback address is reported as reachable through Ethernet or Wi-Fi, not through a mobile network")
  func status() throws {
    let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
    #expect(manager.networkReachabilityStatus == .reachable(.ethernetOrWiFi))
    #expect(manager.isReachable && manager.isReachableOnEthernetOrWiFi && !manager.isReachableOnWWAN)
    #expect(manager.flags?.contains([.reachable, .isLocalAddress]) == true)
    #expect(NetworkReachabilityManager(host: "") == nil)
    #expect(NetworkReachabilityManager() != nil)
  }

  @Test("startListening calls the listener on its queue with the status, and updates previousFlags")
  func listener() async throws {
    let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
    #expect(manager.listener == nil && manager.previousFlags == [])
    let queue = DispatchQueue(label: "listener")
    manager.listenerQueue = queue
    let statuses = Shared<[NetworkReachabilityManager.NetworkReachabilityStatus]>([])
    await withCheckedContinuation { continuation in
      manager.listener = { status in
        dispatchPrecondition(condition: .onQueue(queue))
        let isFirst = statuses.update { statuses in
          statuses.append(status)
          return statuses.count == 1
        }
        if isFirst { continuation.resume() }
      }
      #expect(manager.startListening())
    }
    #expect(statuses.value.first == .reachable(.ethernetOrWiFi))
    #expect(manager.previousFlags.contains(.reachable))
    manager.stopListening()
    #expect(manager.previousFlags == [])
  }
}
