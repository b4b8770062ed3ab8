// The kinds of calls in Alamofire's README and articles on usage, in the language modes of Swift 5 and Swift 6.
// Never run; it has to compile without warnings.

import Alamofire
import Foundation

struct Reading: Codable, Sendable {
  let station: String
  let degrees: Double
}

extension HTTPMethod {
  static let purge = HTTPMethod(rawValue: "PURGE")
}

// MARK: Requests

func makeRequests(_ url: String, _ reading: Reading) throws {
  let query = ["station": "Delft"]
  let headers: HTTPHeaders = [.authorization(username: "ada", password: "secret"), .accept("application/json")]
  _ = AF.request(url)
  _ = try AF.request(url.asURL(), method: .purge, headers: ["Accept": "*/*"])
  _ = AF.request(url, parameters: query, headers: headers)
  _ = AF.request(url, parameters: ["station": "Delft", "days": 3])
  _ = AF.request(url, method: .post, parameters: query, encoding: JSONEncoding.default)
  _ = AF.request(url, parameters: query, encoder: URLEncodedFormParameterEncoder(destination: .methodDependent))
  _ = AF.request(url, method: .post, parameters: reading, encoder: JSONParameterEncoder.prettyPrinted)
  _ = AF.request(url, method: .post, parameters: reading, encoder: .json, interceptor: .deflateCompressor)
  _ = AF.request(
    url, method: .post, parameters: reading, encoder: .json,
    interceptor: .deflateCompressor(duplicateHeaderBehavior: .replace))
  let form = URLEncodedFormEncoder(arrayEncoding: .noBrackets, boolEncoding: .literal, keyEncoding: .convertToSnakeCase)
  _ = AF.request(url, method: .post, parameters: reading, encoder: URLEncodedFormParameterEncoder(encoder: form))
  _ = AF.request(url, requestModifier: { $0.timeoutInterval = 5 })
  _ = try AF.request(URLRequest(url: url, method: .get, headers: headers), interceptor: .retryPolicy)
}

func awaitChain(_ url: String) async -> AFDataResponse<Reading> {
  await AF.request(url, interceptor: .retryPolicy)
    .authenticate(username: "ada", password: "secret")
    .cacheResponse(using: .cache)
    .redirect(using: .follow)
    .validate()
    .cURLDescription { description in print(description) }
    .serializingDecodable(Reading.self)
    .response
}

func awaitTwo(_ url: String) async -> (AFDataResponse<String>, AFDataResponse<Data>) {
  async let first = AF.request(url).serializingString().response
  async let second = AF.request(url).serializingData().response
  return await (first, second)
}

// MARK: Responses

struct WordsSerializer: ResponseSerializer {
  func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: Error?) throws -> [String] {
    let text = try StringResponseSerializer().serialize(request: request, response: response, data: data, error: error)
    return text.split(separator: " ").map(String.init)
  }
}

func addHandlers(_ url: String) {
  AF.request(url) { urlRequest in
    urlRequest.timeoutInterval = 5
    urlRequest.allowsConstrainedNetworkAccess = false
  }
  .response { response in debugPrint(response) }
  AF.request(url)
    .validate(statusCode: 200..<300)
    .validate(contentType: ["application/json"])
    .validate { _, response, data in
      if response.statusCode == 200, data == nil { return .failure(URLError(.badServerResponse)) }
      return .success(())
    }
    .onURLRequestCreation { request in print(request) }
    .onURLSessionTaskCreation { task in print(task) }
    .uploadProgress { progress in print(progress) }
    .downloadProgress(queue: .global(qos: .utility)) { progress in print(progress.fractionCompleted) }
    .resume()
  AF.request(url)
    .responseData { response in
      switch response.result {
      case .success: print("valid")
      case let .failure(error): print(error)
      }
    }
    .responseDecodable(of: Reading.self, queue: .global(qos: .utility)) { response in
      debugPrint(response.map { $0.station })
      debugPrint(response.tryMap { try JSONEncoder().encode($0) })
    }
    .response(responseSerializer: WordsSerializer()) { response in print(response.value ?? []) }
}

func addStreamHandlers(_ url: String) -> InputStream? {
  AF.streamRequest(url).responseStream { stream in
    switch stream.event {
    case let .stream(result):
      switch result {
      case let .success(data): print(data)
      }
    case let .complete(completion): print(completion)
    }
  }
  AF.streamRequest(url).validate().responseStreamString { stream in
    if stream.value == "end" { stream.cancel() }
  }
  AF.streamRequest(url, automaticallyCancelOnStreamError: true)
    .responseStreamDecodable(of: Reading.self) { stream in
      if let reading = stream.value { print(reading.station) }
      if let error = stream.error { print(error) }
    }
    .responseStream(using: DecodableStreamSerializer<Reading>(decoder: JSONDecoder())) { stream in
      if let completion = stream.completion { print(completion) }
    }
  return AF.streamRequest(url).asInputStream()
}

// MARK: Files

func download(_ url: String, into folder: URL) {
  let destination: DownloadRequest.Destination = { _, response in
    let file = folder.appendingPathComponent(response.suggestedFilename ?? "file")
    return (file, [.removePreviousFile, .createIntermediateDirectories])
  }
  AF.download(url, to: DownloadRequest.suggestedDownloadDestination(for: .documentDirectory))
    .validate { _, _, fileURL in fileURL == nil ? .failure(URLError(.badServerResponse)) : .success(()) }
    .responseDecodable(of: Reading.self) { response in debugPrint(response) }
  let download = AF.download(url, to: destination)
    .downloadProgress { progress in print(progress.fractionCompleted) }
    .responseURL { response in print(response.fileURL ?? folder) }
  download.cancel { resumeData in
    guard let resumeData = resumeData else { return }
    AF.download(resumingWith: resumeData, to: destination).responseData { response in debugPrint(response) }
  }
  download.cancel(producingResumeData: true)
}

func upload(_ file: URL, to url: String) {
  AF.upload(Data("data".utf8), to: url).responseDecodable(of: Reading.self) { response in debugPrint(response) }
  AF.upload(file, to: url, method: .put).uploadProgress { progress in print(progress) }.response { _ in }
  AF.upload(
    multipartFormData: { form in
      form.append(Data("one".utf8), withName: "one")
      form.append(file, withName: "file")
    }, to: url
  )
  .responseString { response in debugPrint(response) }
}

// MARK: Sessions

final class Journal: EventMonitor {
  let queue = DispatchQueue(label: "journal")

  func requestDidResume(_ request: Request) { print("resumed: \(request)") }
}

final class DomainTrustManager: ServerTrustManager, @unchecked Sendable {
  override func serverTrustEvaluator(forHost host: String) throws -> ServerTrustEvaluating? {
    if host.hasSuffix(".example.org") { return DefaultTrustEvaluator() }
    return try super.serverTrustEvaluator(forHost: host)
  }
}

func makeSessions() -> [Session] {
  let root = DispatchQueue(label: "root")
  let queue = OperationQueue()
  queue.maxConcurrentOperationCount = 1
  queue.underlyingQueue = root
  let delegate = SessionDelegate(fileManager: .default)
  let configuration = URLSessionConfiguration.af.default
  let urlSession = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
  let wrapping = Session(session: urlSession, delegate: delegate, rootQueue: root)
  let manual = Session(
    rootQueue: root, startRequestsImmediately: false, requestQueue: DispatchQueue(label: "requests"),
    serializationQueue: DispatchQueue(label: "serialization"))
  let compressor = DeflateRequestCompressor { bodyData in bodyData.count > 100 * 1024 }
  let handling = Session(
    interceptor: Interceptor(interceptors: [RetryPolicy(), compressor]),
    redirectHandler: Redirector(behavior: .follow), cachedResponseHandler: ResponseCacher(behavior: .cache),
    eventMonitors: [Journal(), ClosureEventMonitor()])
  let evaluators: [String: ServerTrustEvaluating] = [
    "cert.example.org": PinnedCertificatesTrustEvaluator(), "keys.example.org": PublicKeysTrustEvaluator(),
  ]
  let pinning = Session(serverTrustManager: ServerTrustManager(evaluators: evaluators))
  let trusting = Session(serverTrustManager: DomainTrustManager(allHostsMustBeEvaluated: false, evaluators: [:]))
  return [wrapping, manual, handling, pinning, trusting]
}

func stopAll(_ session: Session) {
  session.withAllRequests { requests in requests.forEach { $0.suspend() } }
  session.cancelAllRequests(completingOnQueue: .main) { print("cancelled") }
}
