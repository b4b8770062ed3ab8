// Isolated: what a program with the default isolation MainActor writes, compiled in the language mode of Swift 6.

import Alamofire
import Foundation

// Types that are decoded are decoded on a queue of the session, so that they aren't isolated.
nonisolated struct Reply: Decodable, Sendable {
  let url: String
  let headers: [String: String]
}

nonisolated struct Order: Encodable, Sendable {
  let count: Int
}

// A model of a view. It is isolated without an annotation.
final class Model {
  private(set) var url = ""
  private(set) var fraction = 0.0
  private(set) var lines: [String] = []

  func load() async throws {
    // The function waits on the main actor, and continues there.
    url = try await AF.request("https://httpbin.org/get").validate().serializingDecodable(Reply.self).value.url
  }

  func loadWithClosures() {
    AF.request("https://httpbin.org/get")
      .downloadProgress { progress in
        // Closures are called on the main queue unless they get another one, so that this is never wrong.
        MainActor.assumeIsolated { self.fraction = progress.fractionCompleted }
      }
      .responseDecodable(of: Reply.self) { response in
        MainActor.assumeIsolated { self.url = response.value?.url ?? "" }
      }
  }

  func send() async throws {
    _ = try await AF.request(
      "https://httpbin.org/post", method: .post, parameters: Order(count: 2), encoder: JSONParameterEncoder.default
    ).serializingData().value
  }

  func follow() async {
    for await line in AF.streamRequest("https://httpbin.org/stream/3").streamTask().streamingStrings() {
      if let text = line.value { lines.append(text) }
    }
  }
}

// An interceptor is called on a queue of the session. State that it shares with the user interface is awaited.
final class Token {
  private(set) var text = "first"

  func renew() async -> String {
    text = "second"
    return text
  }
}

nonisolated final class TokenInterceptor: RequestInterceptor {
  let token: Token

  init(_ token: Token) { self.token = token }

  func adapt(
    _ urlRequest: URLRequest, for session: Session,
    completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
  ) {
    Task {
      var request = urlRequest
      request.setValue("Bearer \(await token.text)", forHTTPHeaderField: "Authorization")
      completion(.success(request))
    }
  }

  func retry(
    _ request: Request, for session: Session, dueTo error: any Error,
    completion: @escaping @Sendable (RetryResult) -> Void
  ) {
    guard request.response?.statusCode == 401, request.retryCount == 0 else { return completion(.doNotRetry) }
    Task {
      _ = await token.renew()
      completion(.retry)
    }
  }
}

// The methods of a monitor are called on its queue.
nonisolated final class Log: EventMonitor {
  let queue = DispatchQueue(label: "log")

  func requestDidFinish(_ request: Request) { print(request.description) }
}

nonisolated struct ReplySerializer: ResponseSerializer {
  func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws -> Int {
    if let error { throw error }
    return data?.count ?? 0
  }
}

nonisolated enum Endpoint: URLRequestConvertible {
  case get, status(Int)

  func asURLRequest() throws -> URLRequest {
    switch self {
    case .get: try URLRequest(url: "https://httpbin.org/get", method: .get)
    case .status(let code): try URLRequest(url: "https://httpbin.org/status/\(code)", method: .get)
    }
  }
}

let isolatedSession = Session(interceptor: TokenInterceptor(Token()), eventMonitors: [Log()])

func count() async throws -> Int {
  try await isolatedSession.request(Endpoint.get)
    // A validation is called on a queue of the session.
    .validate { @Sendable _, response, _ in
      response.statusCode < 400 ? .success(()) : .failure(URLError(.badServerResponse))
    }
    .serializingResponse(using: ReplySerializer()).value
}
