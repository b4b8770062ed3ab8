// The sections of Alamofire 4's advanced usage: each function uses the API of one section.

import Alamofire4
import Foundation

func sessionManagers(done: @escaping () -> Void) {
  var defaultHeaders = Alamofire.SessionManager.defaultHTTPHeaders
  defaultHeaders["X-Sample"] = "sample"
  let configuration = URLSessionConfiguration.default
  configuration.httpAdditionalHeaders = defaultHeaders
  let sessionManager = Alamofire.SessionManager(configuration: configuration)
  sessionManager.request("\(base)/headers").responseJSON { response in
    let sent = (response.result.value as? [String: Any])?["headers"] as? [String: String]
    print("session manager:", sent?["X-Sample"] ?? "nothing", sessionManager.startRequestsImmediately)
    done()
  }
}

class LoggingSessionDelegate: SessionDelegate, @unchecked Sendable {
  var redirects = 0

  override func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    redirects += 1
    super.urlSession(
      session, task: task, willPerformHTTPRedirection: response, newRequest: request,
      completionHandler: completionHandler)
  }
}

func sessionDelegates(done: @escaping () -> Void) {
  let sessionManager = SessionManager(configuration: .default)
  sessionManager.delegate.taskWillPerformHTTPRedirection = { session, task, response, request in
    var finalRequest = request
    if let originalRequest = task.originalRequest, request.url?.path == "/get" {
      finalRequest = originalRequest
      finalRequest.url = URL(string: "\(base)/anything")
    }
    return finalRequest
  }
  sessionManager.request("\(base)/redirect/1").response { response in
    print("redirect closure:", response.response?.url?.path ?? "")
    let delegate = LoggingSessionDelegate()
    let subclassed = SessionManager(configuration: .default, delegate: delegate)
    subclassed.request("\(base)/redirect/2").response { response in
      print("redirect subclass:", response.response?.url?.path ?? "", delegate.redirects)
      // Keeps both managers, which cancel their requests when they are released.
      withExtendedLifetime((sessionManager, subclassed)) { done() }
    }
  }
}

func requests(done: @escaping () -> Void) {
  let sessionManager = SessionManager()
  sessionManager.startRequestsImmediately = false
  let request = sessionManager.request("\(base)/delay/1")
  request.resume()
  request.suspend()
  request.resume()
  request.cancel()
  request.response { response in
    let code = (response.error as? URLError)?.code
    print("request cancelled:", code == .cancelled)
    withExtendedLifetime(sessionManager) { done() }
  }
}

struct User {
  let username: String
}

extension User: URLConvertible {
  func asURL() throws -> URL { try "\(base)/anything/users/\(username)".asURL() }
}

enum Router: URLRequestConvertible {
  case createUser(parameters: Parameters)
  case readUser(username: String)
  case search(query: String, page: Int)

  var method: HTTPMethod {
    switch self {
    case .createUser: return .post
    case .readUser, .search: return .get
    }
  }

  func asURLRequest() throws -> URLRequest {
    let url = try "\(base)/anything".asURL()
    var urlRequest = URLRequest(url: url.appendingPathComponent("users"))
    urlRequest.httpMethod = method.rawValue
    switch self {
    case .createUser(let parameters): return try JSONEncoding.default.encode(urlRequest, with: parameters)
    case .readUser(let username):
      urlRequest.url = url.appendingPathComponent("users/\(username)")
      return urlRequest
    case .search(let query, let page):
      return try URLEncoding.default.encode(urlRequest, with: ["q": query, "offset": 50 * page])
    }
  }
}

func routing(done: @escaping () -> Void) {
  Alamofire.request(User(username: "mattt")).responseJSON { response in
    let echo = response.result.value as? [String: Any]
    print("URLConvertible:", (echo?["url"] as? String)?.hasSuffix("/users/mattt") == true)
    Alamofire.request(Router.search(query: "foo bar", page: 1)).responseJSON { response in
      let echo = response.result.value as? [String: Any]
      print("router:", echo?["args"] as? [String: String] == ["q": "foo bar", "offset": "50"])
      Alamofire.request(Router.createUser(parameters: ["name": "a"])).responseJSON { response in
        print("router:", (response.result.value as? [String: Any])?["method"] ?? "")
        done()
      }
    }
  }
}

class OAuth2Handler: RequestAdapter, RequestRetrier {
  private let sessionManager = SessionManager(configuration: .default)
  private let lock = NSLock()
  private var accessToken = "old"
  private var isRefreshing = false
  private var requestsToRetry: [RequestRetryCompletion] = []
  private(set) var refreshCount = 0

  func adapt(_ urlRequest: URLRequest) throws -> URLRequest {
    var urlRequest = urlRequest
    lock.lock()
    defer { lock.unlock() }
    // The local server accepts any bearer token, so the expired one is simply left out.
    if accessToken != "old" { urlRequest.setValue("Bearer \(accessToken)", forHTTPHeaderField: "Authorization") }
    return urlRequest
  }

  func should(
    _ manager: SessionManager, retry request: Request, with error: Error, completion: @escaping RequestRetryCompletion
  ) {
    lock.lock()
    defer { lock.unlock() }
    guard let response = request.task?.response as? HTTPURLResponse, response.statusCode == 401 else {
      completion(false, 0.0)
      return
    }
    requestsToRetry.append(completion)
    guard !isRefreshing else { return }
    isRefreshing = true
    refreshCount += 1
    sessionManager.request("\(base)/uuid").responseJSON(queue: .global()) { [weak self] response in
      guard let self = self else { return }
      self.lock.lock()
      self.accessToken = (response.result.value as? [String: Any])?["uuid"] as? String ?? "none"
      let waiting = self.requestsToRetry
      self.requestsToRetry.removeAll()
      self.isRefreshing = false
      self.lock.unlock()
      waiting.forEach { $0(response.result.isSuccess, 0.0) }
    }
  }
}

func adapting(done: @escaping () -> Void) {
  let sessionManager = SessionManager(configuration: .default)
  let handler = OAuth2Handler()
  sessionManager.adapter = handler
  sessionManager.retrier = handler
  var remaining = 10
  var successes = 0
  for _ in 0..<10 {
    sessionManager.request("\(base)/bearer").validate().responseJSON { response in
      remaining -= 1
      if response.result.isSuccess { successes += 1 }
      guard remaining == 0 else { return }
      print("retrier: \(successes) successes, refreshed", handler.refreshCount > 0)
      withExtendedLifetime(sessionManager) { done() }
    }
  }
}

enum BackendError: Error {
  case network(error: Error)
  case objectSerialization(reason: String)
}

protocol ResponseObjectSerializable {
  init?(response: HTTPURLResponse, representation: Any)
}

extension DataRequest {
  @discardableResult
  func responseObject<T: ResponseObjectSerializable>(
    queue: DispatchQueue? = nil, completionHandler: @escaping (DataResponse<T>) -> Void
  ) -> Self {
    let responseSerializer = DataResponseSerializer<T> { request, response, data, error in
      if let error = error { return .failure(BackendError.network(error: error)) }
      let jsonResponseSerializer = DataRequest.jsonResponseSerializer(options: .allowFragments)
      let result = jsonResponseSerializer.serializeResponse(request, response, data, nil)
      guard case .success(let jsonObject) = result else {
        return .failure(BackendError.objectSerialization(reason: "JSON could not be serialized"))
      }
      guard let response = response, let object = T(response: response, representation: jsonObject) else {
        return .failure(BackendError.objectSerialization(reason: "not a \(T.self)"))
      }
      return .success(object)
    }
    return response(queue: queue, responseSerializer: responseSerializer, completionHandler: completionHandler)
  }
}

struct Slideshow: ResponseObjectSerializable {
  let title: String

  init?(response: HTTPURLResponse, representation: Any) {
    let outer = representation as? [String: Any]
    guard let inner = outer?["slideshow"] as? [String: Any], let title = inner["title"] as? String else { return nil }
    self.title = title
  }
}

func serialization(done: @escaping () -> Void) {
  Alamofire.request("\(base)/json").responseObject { (response: DataResponse<Slideshow>) in
    print("responseObject:", response.result.value?.title ?? "nothing")
    Alamofire.request("\(base)/get").responseObject { (response: DataResponse<Slideshow>) in
      if case .failure(BackendError.objectSerialization(let reason)) = response.result {
        print("responseObject:", reason)
      }
      done()
    }
  }
}

func security(done: @escaping () -> Void) {
  let serverTrustPolicies: [String: ServerTrustPolicy] = [
    "test.example.com": .pinCertificates(
      certificates: ServerTrustPolicy.certificates(), validateCertificateChain: true, validateHost: true),
    "insecure.expired-apis.com": .disableEvaluation,
    "custom.example.com": .customEvaluation { trust, host in host == "custom.example.com" },
  ]
  let manager = ServerTrustPolicyManager(policies: serverTrustPolicies)
  let sessionManager = SessionManager(serverTrustPolicyManager: manager)
  sessionManager.request("\(base)/get").response { response in
    print("trust policies:", manager.policies.count, response.error == nil)
    withExtendedLifetime(sessionManager) { done() }
  }
}

func reachability(done: @escaping () -> Void) {
  let manager = NetworkReachabilityManager(host: "127.0.0.1")
  var isFirst = true
  manager?.listener = { status in
    guard isFirst else { return }
    isFirst = false
    print("Network Status Changed: \(status)")
    manager?.stopListening()
    manager?.listener = nil
    done()
  }
  manager?.startListening()
}

run([
  sessionManagers, configurations, sessionDelegates, requests, routing, adapting, serialization, customSerializers,
  security, customPolicies, reachability,
])
dispatchMain()
