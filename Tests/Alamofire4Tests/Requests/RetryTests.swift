// RetryTests: adapters and retriers, among them the documentation's handler for OAuth 2.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Alamofire4

@Suite(.timeLimit(.minutes(5))) struct RetryTests {
  private struct Refusal: Error, Equatable {}

  private final class Marker: RequestAdapter {
    func adapt(_ urlRequest: URLRequest) throws -> URLRequest {
      var request = urlRequest
      request.setValue("marked", forHTTPHeaderField: "X-Adapter")
      return request
    }
  }

  private final class Refuser: RequestAdapter, RequestRetrier {
    let failures: Shared<Int>

    init(failures: Int) { self.failures = Shared(failures) }

    func adapt(_ urlRequest: URLRequest) throws -> URLRequest {
      let left = failures.update { count in
        count -= 1
        return count
      }
      if left >= 0 { throw Refusal() }
      return urlRequest
    }

    func should(
      _ manager: SessionManager, retry request: Request, with error: any Error,
      completion: @escaping RequestRetryCompletion
    ) {
      completion(error is Refusal, 0)
    }
  }

  private final class Repeater: RequestRetrier {
    let limit: UInt
    let delay: TimeInterval
    let errors = Shared<[Int?]>([])

    init(limit: UInt, delay: TimeInterval = 0) {
      self.limit = limit
      self.delay = delay
    }

    func should(
      _ manager: SessionManager, retry request: Request, with error: any Error,
      completion: @escaping RequestRetryCompletion
    ) {
      let code = (error as? AFError)?.responseCode
      errors.update { $0.append(code) }
      completion(request.retryCount < limit, delay)
    }
  }

  /// Returns a server that responds with 503 to the first `failures` requests, and with 200 to all further requests.
  private func unsteadyServer(failures: Int) throws -> OriginServer {
    let left = Shared(failures)
    return try OriginServer.serving { request in
      let count = left.update { count in
        count -= 1
        return count
      }
      return count >= 0 ? .text("down", status: 503) : .text(request.fields.first("x-adapter") ?? "up")
    }
  }

  @Test("an adapter can change each URLRequest, and Request.request returns the changed URLRequest")
  func adapter() async throws {
    let server = try unsteadyServer(failures: 0)
    let manager = makeManager()
    manager.adapter = Marker()
    let request = manager.request(server.url)
    #expect(await request.string().value == "marked")
    #expect(request.request?.value(forHTTPHeaderField: "X-Adapter") == "marked")
  }

  @Test(
    "if an adapter fails, the request fails with the adapter's error, and Request.request is the original URLRequest")
  func adapterError() async throws {
    let manager = makeManager()
    manager.adapter = Refuser(failures: 10)
    let response = await manager.request("http://localhost/x").finished()
    #expect(response.error is Refusal)
    #expect(response.request?.url?.path == "/x")
    #expect(await manager.download("http://localhost/x").finished().error is Refusal)
    #expect(await manager.upload(Data(), to: "http://localhost/x").finished().error is Refusal)
  }

  @Test("if a request can't be adapted, a retrier can retry it")
  func adapterRetry() async throws {
    let server = try unsteadyServer(failures: 0)
    let manager = makeManager()
    let refuser = Refuser(failures: 1)
    manager.adapter = refuser
    manager.retrier = refuser
    let request = manager.request(server.url)
    #expect(await request.string().value == "up")
    #expect(request.retryCount == 1)
  }

  @Test("a request that fails validation is retried, after the retrier's delay, until the retrier stops retrying")
  func retries() async throws {
    let server = try unsteadyServer(failures: 2)
    let manager = makeManager()
    let retrier = Repeater(limit: 5, delay: 0.02)
    manager.retrier = retrier
    // The request starts only after the validation has been added.
    manager.startRequestsImmediately = false
    let start = Date()
    let request = manager.request(server.url).validate()
    request.resume()
    let response = await request.string()
    #expect(response.value == "up")
    #expect(request.retryCount == 2 && retrier.errors.value == [503, 503])
    #expect(Date().timeIntervalSince(start) >= 0.04)

    let down = try unsteadyServer(failures: 100)
    let other = makeManager()
    other.retrier = Repeater(limit: 3)
    other.startRequestsImmediately = false
    let failed = other.request(down.url).validate()
    failed.resume()
    #expect((await failed.finished().error as? AFError)?.responseCode == 503)
    #expect(failed.retryCount == 3 && down.requestCount == 4)
  }

  @Test("a validation that fails on a completed request causes a retry, unless a response handler was added earlier")
  func lateValidation() async throws {
    for (limit, failures, retryCount) in [(5, 1, 1), (5, 2, 2), (1, 9, 1), (0, 9, 0)] as [(UInt, Int, UInt)] {
      let server = try unsteadyServer(failures: failures)
      let manager = makeManager()
      let retrier = Repeater(limit: limit)
      manager.retrier = retrier
      let completed = Gate()
      manager.delegate.taskDidComplete = { _, _, _ in completed.open() }
      let request = manager.request(server.url)
      await completed.wait()
      let response = await request.validate().string()
      let isUp = failures <= Int(limit)
      #expect(response.value == (isUp ? "up" : nil))
      #expect((response.error as? AFError)?.responseCode == (isUp ? nil : 503))
      #expect(request.retryCount == retryCount && server.requestCount == Int(retryCount) + 1)
      #expect(retrier.errors.value == [Int?](repeating: 503, count: Int(retryCount) + (isUp ? 0 : 1)))
      withExtendedLifetime(manager) {}
    }
    let server = try unsteadyServer(failures: 1)
    let manager = makeManager()
    manager.retrier = Repeater(limit: 5)
    let request = manager.request(server.url)
    #expect(await request.finished().response?.statusCode == 503)
    #expect((await request.validate().finished().error as? AFError)?.responseCode == 503)
    #expect(request.retryCount == 0)
    withExtendedLifetime(manager) {}
  }

  @Test("the body of a failed attempt is discarded before the retry")
  func bodies() async throws {
    let server = try unsteadyServer(failures: 1)
    let manager = makeManager()
    manager.retrier = Repeater(limit: 1)
    manager.startRequestsImmediately = false
    let request = manager.request(server.url).validate()
    request.resume()
    #expect(await request.string().value == "up")
  }

  @Test("a cancelled request isn't retried")
  func cancelled() async throws {
    let server = try demoServer()
    let manager = makeManager()
    manager.retrier = Repeater(limit: .max)
    let request = manager.request("\(server.url)/slow")
    request.cancel()
    #expect((await request.finished().error as? URLError)?.code == .cancelled)
    #expect(request.retryCount == 0)
  }

  @Test("a retried upload sends the complete data again")
  func uploads() async throws {
    let bodies = Shared<[Int]>([])
    let server = try OriginServer.serving { request in
      let count = request.body.count
      let attempts = bodies.update { bodies in
        bodies.append(count)
        return bodies.count
      }
      return .text("", status: attempts == 1 ? 500 : 200)
    }
    let manager = makeManager()
    manager.retrier = Repeater(limit: 1)
    manager.startRequestsImmediately = false
    let upload = manager.upload(Data(repeating: 7, count: 5_000), to: server.url).validate()
    upload.resume()
    let response = await upload.finished()
    #expect(response.error == nil && bodies.value == [5_000, 5_000])
  }
}
