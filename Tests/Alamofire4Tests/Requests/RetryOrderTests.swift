// RetryOrderTests: requests that fail together are sent again in the order in which their retrier calls its completions.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct RetryOrderTests {
  private struct Unready: Error {}

  /// An adapter and retrier that collects the completions of all requests, and then calls them in the given order.
  private final class Collecting: RequestAdapter, RequestRetrier {
    private let order: [String]
    /// Whether the first attempt fails because this adapter throws an error.
    private let throwsFirst: Bool
    private let lock = NSLock()
    private var completions: [String: RequestRetryCompletion] = [:]
    /// The paths of the requests that are adapted for another attempt, in this order.
    private var adapted: [String] = []
    private let isSecondAdapted = DispatchSemaphore(value: 0)

    init(order: [String], throwsFirst: Bool) { (self.order, self.throwsFirst) = (order, throwsFirst) }

    var adaptedPaths: [String] { lock.withLock { adapted } }

    func adapt(_ urlRequest: URLRequest) throws -> URLRequest {
      let count = lock.withLock {
        if completions.count == order.count { adapted.append(urlRequest.url?.path ?? "") }
        return adapted.count
      }
      if count == 0, throwsFirst { throw Unready() }
      guard count > 0 else { return urlRequest }
      // If requests were retried concurrently, later ones would overtake the first one here.
      if count == 1 { _ = isSecondAdapted.wait(timeout: .now() + .milliseconds(300)) } else { isSecondAdapted.signal() }
      var request = urlRequest
      request.setValue("2", forHTTPHeaderField: "Round")
      return request
    }

    func should(
      _ manager: SessionManager, retry request: Request, with error: any Error,
      completion: @escaping RequestRetryCompletion
    ) {
      let all = lock.withLock {
        completions[request.source?.request?.url?.path ?? ""] = completion
        return completions.count == order.count ? completions : [:]
      }
      for path in order { all[path]?(true, 0) }
    }
  }

  @Test(
    "twenty requests that fail together are sent again in the order in which a retrier calls its completions",
    arguments: [true, false])
  func order(throwsFirst: Bool) async throws {
    // Another order than the one in which the requests fail.
    let order = (0..<20).map { "/\(($0 * 7 + 3) % 20)" }
    let arrived = Shared<[String]>([])
    let server = try OriginServer.serving { request in
      guard request.fields.first("Round") == "2" else { return .text("refused", status: 401) }
      let path = request.path
      arrived.update { $0.append(path) }
      return .text(path)
    }
    // All requests share one connection, which serves them in the order in which they were submitted.
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = 1
    let manager = SessionManager(configuration: configuration)
    let handler = Collecting(order: order, throwsFirst: throwsFirst)
    (manager.adapter, manager.retrier) = (handler, handler)
    manager.startRequestsImmediately = false
    let requests = (0..<20).map { manager.request("\(server.url)/\($0)").validate() }
    if !throwsFirst { for request in requests { request.resume() } }
    for (number, request) in requests.enumerated() {
      #expect(await request.string().value == "/\(number)")
      #expect(request.retryCount == 1)
    }
    #expect(handler.adaptedPaths == order && arrived.value == order)
  }
}
