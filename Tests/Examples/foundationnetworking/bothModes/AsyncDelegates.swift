// Delegates with async methods, as programs for Apple's systems write them.

import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

final class NoRedirects: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest
  ) async -> URLRequest? {
    nil
  }
}

@MainActor final class Login: NSObject, URLSessionTaskDelegate {
  private(set) var count = 0

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    count += 1
    return (.useCredential, URLCredential(user: "user", password: "passwd", persistence: .none))
  }
}

final class Pinning: NSObject, URLSessionDataDelegate {
  func urlSession(
    _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    (.cancelAuthenticationChallenge, nil)
  }

  func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
    InputStream(data: Data())
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
  ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
    (.continueLoading, nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
  ) async -> URLSession.ResponseDisposition {
    .allow
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
  ) async -> CachedURLResponse? {
    nil
  }
}

func decide() async throws {
  let (_, refused) = try await URLSession.shared.data(from: url("/redirect/1"), delegate: NoRedirects())
  let login = await Login()
  let (_, accepted) = try await URLSession.shared.data(from: url("/basic-auth/user/passwd"), delegate: login)
  for response in [refused, accepted] { print((response as? HTTPURLResponse)?.statusCode ?? 0) }
  print(await login.count, Pinning().description.isEmpty)
}
