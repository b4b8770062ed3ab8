// Mocks of URLSession, its tasks and its storages, as tests of existing programs contain them.

import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

final class MockTask: URLSessionDataTask, @unchecked Sendable {
  private let onResume: @Sendable () -> Void
  private var isCancelled = false

  init(onResume: @escaping @Sendable () -> Void) {
    self.onResume = onResume
  }

  override var taskIdentifier: Int { 42 }
  override var originalRequest: URLRequest? { nil }
  override var state: URLSessionTask.State { isCancelled ? .canceling : .running }
  override var priority: Float {
    get { 0.5 }
    set {}
  }

  override func resume() { onResume() }
  override func suspend() {}
  override func cancel() { isCancelled = true }
}

final class MockSession: URLSession, @unchecked Sendable {
  private let data: Data
  private var paths: [String] = []

  init(data: Data) {
    self.data = data
    super.init(configuration: .default)
  }

  override func dataTask(
    with url: URL, completionHandler: @escaping @Sendable (Data?, URLResponse?, Error?) -> Void
  ) -> URLSessionDataTask {
    dataTask(with: URLRequest(url: url), completionHandler: completionHandler)
  }

  override func dataTask(
    with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, Error?) -> Void
  ) -> URLSessionDataTask {
    paths.append(request.url?.path ?? "")
    let data = data
    return MockTask {
      let response = request.url.flatMap {
        HTTPURLResponse(url: $0, statusCode: 200, httpVersion: nil, headerFields: nil)
      }
      completionHandler(data, response, nil)
    }
  }

  override func uploadTask(
    with request: URLRequest, from bodyData: Data?,
    completionHandler: @escaping @Sendable (Data?, URLResponse?, Error?) -> Void
  ) -> URLSessionUploadTask {
    fatalError("this test uploads nothing")
  }

  override func downloadTask(
    with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, Error?) -> Void
  ) -> URLSessionDownloadTask {
    fatalError("this test downloads nothing")
  }

  func requestedPaths() -> [String] { paths }
}

final class MockCredential: URLCredential, @unchecked Sendable {
  override var password: String? { "secret" }
}

func mock() async throws {
  guard let url = URL(string: "https://mock.example/path") else { return }
  let session = MockSession(data: Data("mocked".utf8))
  session.dataTask(with: url) { data, response, _ in
    print((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data ?? Data(), as: UTF8.self))
  }.resume()
  let (data, _) = try await session.data(from: url)
  print(String(decoding: data, as: UTF8.self), session.requestedPaths())
  let task = session.dataTask(with: url) { _, _, _ in }
  task.cancel()
  print(task.taskIdentifier, task.state == .canceling)
  let credential = MockCredential(user: "user", password: "", persistence: .none)
  let archive = try NSKeyedArchiver.archivedData(
    withRootObject: URLCredential(user: "user", password: "secret", persistence: .none), requiringSecureCoding: true)
  let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClass: URLCredential.self, from: archive)
  print(credential.password ?? "none", decoded?.password ?? "none")
}
