// The sections of Alamofire 4's migration guide: each function uses what version 4 has changed or added.

import Alamofire4
import Foundation

func creatingRequests(done: @escaping () -> Void) {
  let parameters: Parameters = ["foo": "bar"]
  Alamofire.request("\(base)/post", method: .post, parameters: parameters, encoding: JSONEncoding.default)
    .downloadProgress(queue: DispatchQueue.global(qos: .utility)) { progress in
      if progress.fractionCompleted > 1 { print("impossible") }
    }
    .validate { request, response, data in
      response.statusCode == 200 && data?.isEmpty == false ? .success : .failure(URLError(.badServerResponse))
    }
    .responseJSON { response in
      print("data request:", response.result)
      done()
    }
}

func downloading(done: @escaping () -> Void) {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("alamofire4-\(UUID().uuidString)")
  Alamofire.download(
    "\(base)/bytes/1000",
    to: { (folder.appendingPathComponent($1.suggestedFilename ?? $0.path), [.createIntermediateDirectories]) }
  )
  .validate { request, response, temporaryURL, destinationURL in
    destinationURL == nil ? .failure(URLError(.cannotCreateFile)) : .success
  }
  .response { response in
    print("download request:", response.destinationURL?.lastPathComponent ?? "none", response.resumeData == nil)
    try? FileManager.default.removeItem(at: folder)
    done()
  }
}

class AccessTokenAdapter: RequestAdapter {
  private let accessToken: String

  init(accessToken: String) { self.accessToken = accessToken }

  func adapt(_ urlRequest: URLRequest) throws -> URLRequest {
    var urlRequest = urlRequest
    if urlRequest.url?.absoluteString.hasPrefix(base) == true {
      urlRequest.setValue("Bearer " + accessToken, forHTTPHeaderField: "Authorization")
    }
    return urlRequest
  }
}

class Retrier: RequestRetrier {
  var attempts = 0

  func should(
    _ manager: SessionManager, retry request: Request, with error: Error, completion: @escaping RequestRetryCompletion
  ) {
    attempts += 1
    if let response = request.task?.response as? HTTPURLResponse, response.statusCode == 503, request.retryCount < 2 {
      completion(true, 0.01)
    } else {
      completion(false, 0.0)
    }
  }
}

func adaptersAndRetriers(done: @escaping () -> Void) {
  let sessionManager = SessionManager()
  let retrier = Retrier()
  sessionManager.adapter = AccessTokenAdapter(accessToken: "1234")
  sessionManager.retrier = retrier
  sessionManager.request("\(base)/bearer").responseJSON { response in
    print("adapter:", (response.result.value as? [String: Any])?["token"] ?? "none")
    let request = sessionManager.request("\(base)/status/503").validate()
    request.responseJSON { response in
      print("retrier:", retrier.attempts, request.retryCount, (response.error as? AFError)?.responseCode ?? 0)
      withExtendedLifetime(sessionManager) { done() }
    }
  }
}

func taskMetrics(done: @escaping () -> Void) {
  Alamofire.request("\(base)/get").response { response in
    print("metrics:", response.metrics != nil, response.timeline.latency >= 0)
    done()
  }
}

func errors(done: @escaping () -> Void) {
  Alamofire.request("\(base)/get").validate(contentType: ["image/png"]).responseJSON { response in
    guard case .failure(let error) = response.result, let afError = error as? AFError else { return done() }
    switch afError {
    case .invalidURL(let url): print("Invalid URL: \(url)")
    case .parameterEncodingFailed(let reason): print("Parameter encoding failed:", reason)
    case .multipartEncodingFailed(let reason): print("Multipart encoding failed:", reason)
    case .responseValidationFailed(let reason):
      switch reason {
      case .dataFileNil, .dataFileReadFailed: print("Downloaded file could not be read")
      case .missingContentType(let acceptable): print("Content Type Missing: \(acceptable)")
      case .unacceptableContentType(let acceptable, let type): print("error:", type, "isn't", acceptable[0])
      case .unacceptableStatusCode(let code): print("Response status code was unacceptable: \(code)")
      }
    case .responseSerializationFailed(let reason): print("Response serialization failed:", reason)
    }
    done()
  }
}

struct CustomEncoding: ParameterEncoding {
  func encode(_ urlRequest: URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
    var request = try urlRequest.asURLRequest()
    request.httpBody = Data((parameters ?? [:]).map { "\($0.key)=\($0.value)" }.joined().utf8)
    request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
    return request
  }
}

func parameterEncoding(done: @escaping () -> Void) {
  Alamofire.request("\(base)/post", method: .post, parameters: ["a": 1], encoding: CustomEncoding()).responseJSON {
    response in
    print("custom encoding:", (response.result.value as? [String: Any])?["data"] ?? "none")
    done()
  }
}

func results(done: @escaping () -> Void) {
  Alamofire.request("\(base)/get").responseJSON { response in
    let url: Result<String> = response.result.flatMap { object in
      guard let url = (object as? [String: Any])?["url"] as? String else { throw URLError(.cannotParseResponse) }
      return url
    }
    print("flatMap:", url.isSuccess, response.map { $0 is [String: Any] }.value ?? false)
    done()
  }
}

run([
  creatingRequests, downloading, uploading, adaptersAndRetriers, taskMetrics, errors, underlyingErrors,
  parameterEncoding, results,
])
dispatchMain()
