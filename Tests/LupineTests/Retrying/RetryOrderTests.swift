// RetryOrderTests: requests that fail together are sent again in the order in which their retrier calls its completions.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite("The order of retries", .timeLimit(.minutes(10))) struct RetryOrderTests {
  private static let count = 20

  /// A retrier that collects the completions of 20 requests, and then calls them in the given order, on another thread.
  private final class Collecting: RequestInterceptor {
    private let completions = Mutex<[String: @Sendable (RetryResult) -> Void]>([:])
    private let order: [String]

    init(order: [String]) { self.order = order }

    func adapt(
      _ urlRequest: URLRequest, using state: RequestAdapterState,
      completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
      var request = urlRequest
      if completions.withLock({ $0.count == order.count }) { request.setValue("2", forHTTPHeaderField: "Round") }
      completion(.success(request))
    }

    func retry(
      _ request: Request, for session: Session, dueTo error: any Error,
      completion: @escaping @Sendable (RetryResult) -> Void
    ) {
      let all = completions.withLock { completions in
        completions[request.request?.url?.path ?? ""] = completion
        return completions.count == order.count ? completions : [:]
      }
      DispatchQueue.global().async { [order] in
        for path in order { all[path]?(.retry) }
      }
    }
  }

  @Test(
    "twenty requests that fail together are sent again in the order in which a retrier calls its completions",
    arguments: [true, false])
  func order(isRefused: Bool) async throws {
    // Another order than the one in which the requests fail.
    let order = (0..<Self.count).map { "/\(($0 * 7 + 3) % Self.count)" }
    let arrived = Log<String>()
    try await withServer { request in
      guard request.fields.first("Round") == "2" else { return .text("refused", status: isRefused ? 401 : 200) }
      arrived.note(request.path)
      return .text("1")
    } _: { origin in
      // All requests share one connection, which serves them in the order in which they were submitted.
      try await withSession {
        $0.httpMaximumConnectionsPerHost = 1
      } _: { session in
        let retrier = Collecting(order: order)
        let requests = (0..<Self.count).map { number in
          session.request("\(origin.url)/\(number)", interceptor: retrier).validate()
        }
        // If the server accepts the requests, their responses can't be serialized, which calls the retrier on another path.
        let tasks = requests.map { $0.serializingDecodable(Int.self) }
        for task in tasks {
          let value = try await task.value
          #expect(value == 1)
        }
        #expect(arrived.entries == order && requests.allSatisfy { $0.retryCount == 1 })
      }
    }
  }
}
