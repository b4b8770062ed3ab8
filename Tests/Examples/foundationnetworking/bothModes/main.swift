// A program for URLSession, as it is written for all platforms: completion handlers, a delegate, async, and a stub.

import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

final class Collector: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private var received = Data()
  private let isDone = DispatchSemaphore(value: 0)

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    received.append(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
    isDone.signal()
  }

  func body() -> Data {
    isDone.wait()
    return received
  }
}

final class Stub: URLProtocol {
  override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "stub.example" }
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  override func startLoading() {
    guard let url = request.url,
      let response = HTTPURLResponse(url: url, statusCode: 418, httpVersion: "HTTP/1.1", headerFields: nil)
    else { return }
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: Data("short and stout".utf8))
    client?.urlProtocolDidFinishLoading(self)
  }

  override func stopLoading() {}
}

struct Reply: Decodable {
  let args: [String: String]
}

func url(_ path: String) -> URL {
  guard CommandLine.arguments.count > 1, let url = URL(string: CommandLine.arguments[1] + path) else {
    fatalError("usage: program URL")
  }
  return url
}

func args(_ data: Data) -> [String: String] {
  (try? JSONDecoder().decode(Reply.self, from: data))?.args ?? [:]
}

func callBack() {
  let isDone = DispatchSemaphore(value: 0)
  var request = URLRequest(url: url("/get?by=handler"), cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 30)
  request.allowsCellularAccess = false
  request.networkServiceType = .background
  request.setValue("application/json", forHTTPHeaderField: "Accept")
  URLSession.shared.dataTask(with: request) { data, response, error in
    print((response as? HTTPURLResponse)?.statusCode ?? 0, args(data ?? Data()), error == nil)
    isDone.signal()
  }.resume()
  isDone.wait()
}

func delegate() {
  let collector = Collector()
  let configuration = URLSessionConfiguration.default
  configuration.httpAdditionalHeaders = ["X-Example": "1"]
  configuration.httpCookieStorage = nil
  let session = URLSession(configuration: configuration, delegate: collector, delegateQueue: nil)
  session.dataTask(with: url("/get?by=delegate")).resume()
  session.finishTasksAndInvalidate()
  print(args(collector.body()))
}

func wait() async throws {
  let (data, response) = try await URLSession.shared.data(from: url("/get?by=async"))
  print((response as? HTTPURLResponse)?.statusCode ?? 0, args(data))
  let (file, _) = try await URLSession.shared.download(from: url("/bytes/100"))
  print(try Data(contentsOf: file).count)
  try FileManager.default.removeItem(at: file)
  do {
    _ = try await URLSession.shared.data(from: URL(string: "http://127.0.0.1:1/") ?? url("/"))
  } catch let error as URLError {
    print(error.code == .cannotConnectToHost)
  }
}

func stub() async throws {
  let configuration = URLSessionConfiguration.ephemeral
  configuration.protocolClasses = [Stub.self]
  let session = URLSession(configuration: configuration)
  let (data, response) = try await session.data(from: URL(string: "https://stub.example/pot") ?? url("/"))
  print((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
}

callBack()
delegate()
try await wait()
try await stub()
try await mock()
try await decide()
