// Features: the features that programs use in addition to a plain request. `Benchmarks/counts --features` shows the cost of each.

import Foundation
import Lupine
import Synchronization

enum Features {
  /// Six fields as a program with an API key sends them.
  static let fields: HTTPHeaders = [
    "Accept-Language": "en", "Authorization": "Bearer 0123456789abcdef", "X-Client": "benchmarks", "X-Request": "1",
    "X-Session": "1", "X-Version": "1.0",
  ]

  static let interceptor = Adapter { request, _, completion in
    var request = request
    request.setValue("Bearer 0123456789abcdef", forHTTPHeaderField: "Authorization")
    completion(.success(request))
  }

  /// Receives three events of each request.
  static let monitor: ClosureEventMonitor = {
    let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "monitor"))
    monitor.requestDidResume = { _ in seen.add(1, ordering: .relaxed) }
    monitor.requestDidCompleteTaskWithError = { _, _, _ in seen.add(1, ordering: .relaxed) }
    monitor.requestDidFinish = { _ in seen.add(1, ordering: .relaxed) }
    return monitor
  }()

  private static let seen = Atomic(0)

  /// The number of other servers in the storages of cookies and credentials.
  private static let otherServerCount = 100
  /// The number of cookies for the server.
  private static let cookieCount = 5

  /// Prepares a session's settings for a mode. `url` is the URL that will be requested.
  static func prepare(_ configuration: URLSessionConfiguration, for mode: Mode, _ url: String) {
    switch mode {
    case .cookies:
      let storage = URLSessionConfiguration.ephemeral.httpCookieStorage
      let own = (0..<cookieCount).map { ("name\($0)", URL(string: url)?.host() ?? "") }
      let others = (0..<otherServerCount).map { ("name", "server\($0).test") }
      for (name, domain) in own + others {
        let properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: "value", .domain: domain, .path: "/"]
        if let cookie = HTTPCookie(properties: properties) { storage?.setCookie(cookie) }
      }
      configuration.httpCookieStorage = storage
    case .credentials:
      let storage = URLSessionConfiguration.ephemeral.urlCredentialStorage
      for number in 0..<otherServerCount {
        let space = URLProtectionSpace(
          host: "server\(number).test", port: 443, protocol: "https", realm: "realm",
          authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        storage?.set(URLCredential(user: "user", password: "password", persistence: .forSession), for: space)
      }
      configuration.urlCredentialStorage = storage
    default: break
    }
  }
}
