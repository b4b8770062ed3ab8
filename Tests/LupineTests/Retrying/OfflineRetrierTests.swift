// OfflineRetrierTests: requests that fail without a network are sent again when there is one.

import Foundation
import LupineOrigin
import LupineTestSupport
import Synchronization
import Testing

@testable import Lupine
@testable import LupineEngine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite("OfflineRetrier: retries after the network is back", .timeLimit(.minutes(10)))
struct OfflineRetrierTests {
  private let network = TestNetwork(TestNetwork.offline)
  private let failures = Counter()

  private final class Counter: Sendable {
    private let count = Mutex(0)
    func withLock<Value>(_ body: (inout Int) -> Value) -> Value { count.withLock { body(&$0) } }
  }

  private func retrier(_ wait: DispatchTimeInterval = .never) -> OfflineRetrier {
    OfflineRetrier(monitor: NWPathMonitor(.prohibited([]), source: network.source), maximumWait: wait)
  }

  /// An adapter that throws notConnectedToInternet while the simulated network is down.
  private var failing: Adapter {
    Adapter { [network, failures] request, _, completion in
      guard network.source.isOffline() else { return completion(.success(request)) }
      failures.withLock { $0 += 1 }
      completion(.failure(URLError(.notConnectedToInternet)))
    }
  }

  private func isOffline(_ error: any Error) -> Bool { OfflineRetrier.defaultIsOfflineError(error) }

  @Test("Lupine's OfflineRetrier has the same defaults as Alamofire's OfflineRetrier")
  func defaults() {
    #expect(OfflineRetrier.defaultWait == .seconds(5))
    #expect(OfflineRetrier.defaultURLErrorOfflineCodes == [.notConnectedToInternet])
    #expect(isOffline(URLError(.notConnectedToInternet)))
    #expect(isOffline(AFError.sessionTaskFailed(error: URLError(.notConnectedToInternet))))
    #expect(!isOffline(URLError(.timedOut)) && !isOffline(AFError.explicitlyCancelled))
  }

  @Test("OfflineRetrier sends a request that failed without a network, with its body, once a network is available")
  func retry() async throws {
    try await withServer {
      .text(String(decoding: $0.body, as: UTF8.self))
    } _: { origin in
      try await withSession { session in
        let request = session.upload(Data("content".utf8), to: origin.url, interceptor: retrier()).adapt(using: failing)
        let response = Task { await request.serializingString().response }
        #expect(await settles { network.watcherCount == 1 })
        network.change(to: TestNetwork.online)
        #expect(await response.value.value == "content")
        #expect(request.retryCount == 1)
        #expect(await settles { network.watcherCount == 0 })
      }
    }
  }

  @Test("OfflineRetrier doesn't retry a request after its maximum wait, or after an error that isn't about the network")
  func limits() async throws {
    try await withServer { _ in
      .text("")
    } _: { origin in
      try await withSession { session in
        let late = await session.request(origin.url, interceptor: retrier(.milliseconds(50))).adapt(using: failing)
          .serializingData().response
        #expect(isOffline(late.error?.underlyingError ?? URLError(.unknown)))
        let other = Adapter { _, _, completion in completion(.failure(URLError(.timedOut))) }
        let request = session.request(origin.url, interceptor: retrier()).adapt(using: other)
        #expect(await request.serializingData().response.error != nil && request.retryCount == 0)
        #expect(await settles { network.watcherCount == 0 })
      }
    }
  }

  @Test("a request that is cancelled while OfflineRetrier waits for a network ends immediately, and isn't sent")
  func cancellation() async throws {
    let requests = Mutex(0)
    try await withServer { _ in
      requests.withLock { $0 += 1 }
      return .text("")
    } _: { origin in
      try await withSession { session in
        let request = session.request(origin.url, interceptor: retrier()).adapt(using: failing)
        let response = Task { await request.serializingData().response }
        #expect(await settles { network.watcherCount == 1 })
        request.cancel()
        // As in Alamofire, a request that is cancelled before a retry keeps the error of its failed attempt.
        #expect(await response.value.error?.isRequestAdaptationError == true)
        network.change(to: TestNetwork.online)
        #expect(await settles { network.watcherCount == 0 })
        #expect(requests.withLock { $0 } == 0)
      }
    }
  }

  @Test("1,000 requests that wait for a network share one network watcher, and all of them are sent later")
  func many() async throws {
    try await withServer { _ in
      .text("ok")
    } _: { origin in
      try await withSession { session in
        let retrier = retrier()
        let requests = (0..<1_000).map { _ in
          session.request(origin.url, interceptor: retrier).adapt(using: failing)
        }
        let values = Task {
          await withTaskGroup(of: String?.self) { group in
            for request in requests { group.addTask { await request.serializingString().response.value } }
            return await group.reduce(into: 0) { count, value in count += value == "ok" ? 1 : 0 }
          }
        }
        #expect(await settles { failures.withLock { $0 } == 1_000 })
        #expect(network.watcherCount == 1)
        network.change(to: TestNetwork.online)
        #expect(await values.value == 1_000)
      }
    }
  }

  @Test(
    "a closure passed to `request.lupine` is called after the adapters that were added to the request before the closure"
  )
  func ownSettings() async throws {
    try await withServer { _ in
      .text(String(repeating: "x", count: 100))
    } _: { origin in
      try await withSession { session in
        let adapter = Adapter { request, _, completion in
          var request = request
          request.lupine.bodyBytesMax = 1_000
          completion(.success(request))
        }
        let limited = session.request(origin.url).adapt(using: adapter).lupine { $0.bodyBytesMax? -= 901 }
        let response = await limited.serializingData().response
        #expect((response.error?.underlyingError as? URLError)?.code == .dataLengthExceedsMaximum)
        let sufficient = session.request(origin.url).adapt(using: adapter).lupine { $0.bodyBytesMax? -= 900 }
        #expect(await sufficient.serializingData().response.value?.count == 100)
      }
    }
  }

  @Test("the static factories create an OfflineRetrier with a path monitor or with interface types")
  func forms() {
    func take(_ interceptor: some RequestInterceptor) -> Bool { interceptor is OfflineRetrier }
    #expect(take(.offlineRetrier()) && take(.offlineRetrier(monitor: NWPathMonitor(), maximumWait: .seconds(1))))
    #expect(take(.offlineRetrier(requiredInterfaceType: .wifi)))
    #expect(take(.offlineRetrier(prohibitedInterfaceTypes: [.cellular])))
  }
}
