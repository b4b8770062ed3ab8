// OAuth2Tests: the documentation's OAuth 2 handler: many requests fail with 401 at once, and one refresh serves them all.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Alamofire4

/// The adapter and retrier from Alamofire 4's documentation: all requests that fail with 401 wait for a single token refresh.
final class OAuth2Handler: RequestAdapter, RequestRetrier {
  private let manager = makeManager()
  private let lock = NSLock()
  private let baseURL: String
  private var accessToken: String
  private var refreshToken: String
  private var isRefreshing = false
  private var waiting: [RequestRetryCompletion] = []
  /// Called for each request that waits for the token refresh, with the number of waiting requests.
  private let onWaiting: (Int) -> Void

  init(baseURL: String, accessToken: String, refreshToken: String, onWaiting: @escaping (Int) -> Void) {
    self.onWaiting = onWaiting
    self.baseURL = baseURL
    self.accessToken = accessToken
    self.refreshToken = refreshToken
  }

  func adapt(_ urlRequest: URLRequest) throws -> URLRequest {
    guard let url = urlRequest.url?.absoluteString, url.hasPrefix(baseURL) else { return urlRequest }
    var request = urlRequest
    request.setValue("Bearer \(lock.withLock { accessToken })", forHTTPHeaderField: "Authorization")
    return request
  }

  func should(
    _ manager: SessionManager, retry request: Request, with error: any Error,
    completion: @escaping RequestRetryCompletion
  ) {
    guard let response = request.task?.response as? HTTPURLResponse, response.statusCode == 401 else {
      return completion(false, 0)
    }
    let (isFirst, count) = lock.withLock {
      waiting.append(completion)
      defer { isRefreshing = true }
      return (!isRefreshing, waiting.count)
    }
    if isFirst { refresh() }
    onWaiting(count)
  }

  private func refresh() {
    manager.request(
      "\(baseURL)/oauth2/token", method: .post, parameters: ["refresh_token": refreshToken],
      encoding: JSONEncoding.default
    ).responseJSON(queue: .global()) { [self] response in
      let tokens = response.result.value as? [String: Any]
      let completions = lock.withLock {
        if let token = tokens?["access_token"] as? String { accessToken = token }
        defer { (waiting, isRefreshing) = ([], false) }
        return waiting
      }
      for completion in completions { completion(tokens?["access_token"] != nil, 0) }
    }
  }
}

@Suite(.timeLimit(.minutes(5))) struct OAuth2Tests {
  @Test("ten concurrent requests that are answered with 401 cause a single token refresh, and then succeed")
  func refresh() async throws {
    let refreshes = Shared(0)
    let refused = Shared(0)
    let allWait = Gate()
    let server = try OriginServer.serving { request in
      if request.path == "/oauth2/token" {
        refreshes.update { $0 += 1 }
        allWait.waitBlocking()
        return .json(["access_token": "new", "refresh_token": "next"])
      }
      guard request.fields.first("authorization") == "Bearer new" else {
        refused.update { $0 += 1 }
        return .text("expired", status: 401)
      }
      return .text("secret \(request.path)")
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = 10
    let manager = SessionManager(configuration: configuration)
    let handler = OAuth2Handler(baseURL: server.url, accessToken: "old", refreshToken: "refresh") { count in
      if count == 10 { allWait.open() }
    }
    manager.adapter = handler
    manager.retrier = handler
    // A response that arrived before the validation was added wouldn't be retried.
    manager.startRequestsImmediately = false
    let requests = (0..<10).map { manager.request("\(server.url)/\($0)").validate() }
    for request in requests { request.resume() }
    for (number, request) in requests.enumerated() {
      let response = await request.string()
      #expect(response.value == "secret /\(number)")
      #expect(request.retryCount == 1)
    }
    #expect(refreshes.value == 1 && refused.value == 10)
  }
}
