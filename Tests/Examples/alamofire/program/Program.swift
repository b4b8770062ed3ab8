// A program written for Alamofire: sequential steps, each of which prints its result.

import Alamofire
import Foundation

@main
enum Program {
  static func main() async throws {
    try await route()
    await chain()
    try await authenticate()
    try await retry()
    try await download()
    try await upload()
    try await stream()
  }

  /// Sends requests whose URLRequests a router creates.
  static func route() async throws {
    let found = try await AF.request(Router.search(query: "blue sky", page: 2)).validate()
      .serializingDecodable(Echo.self).value
    print("router: q=\(found.args?["q"] ?? "nothing"), page=\(found.args?["page"] ?? "nothing")")

    let user = User(name: "Ada", born: 1815)
    let created = try await AF.request(Router.create(user)).validate().serializingDecodable(Echo.self).value
    print("router: created \(created.json == user ? "Ada" : "nobody")")
  }

  /// Adds several response handlers to one request, with closures as in a program with a main run loop.
  static func chain() async {
    await withCheckedContinuation { continuation in
      AF.request(Router.base + "/encoding/utf8")
        .validate()
        .responseString { response in print("chain: text", response.value?.contains("∮ E⋅da = Q") == true) }
        .responseData { response in print("chain: data", response.value?.isEmpty == false) }
        .response { response in
          print("chain: status", response.response?.statusCode ?? 0)
          continuation.resume()
        }
    }
  }

  /// Sends ten concurrent requests with an expired OAuth token, which is refreshed once.
  static func authenticate() async throws {
    let authenticator = OAuthAuthenticator()
    let expired = OAuthCredential(accessToken: "stale", expiration: Date(timeIntervalSince1970: 0))
    let interceptor = AuthenticationInterceptor(authenticator: authenticator, credential: expired)
    let session = Session(interceptor: interceptor)
    struct Bearer: Decodable, Sendable {
      let token: String
    }
    let tokens = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<10 {
        group.addTask {
          try await session.request(Router.bearer).validate().serializingDecodable(Bearer.self).value.token
        }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    print("oauth: tokens \(tokens.sorted()), refreshed \(authenticator.refreshCount) time")
  }

  /// Sends a request that a `RetryPolicy` retries.
  static func retry() async throws {
    let request = AF.request(
      Router.base + "/status/503", interceptor: .retryPolicy(retryLimit: 2, exponentialBackoffScale: 0.01))
    let response = await request.validate().serializingData().response
    print("retry: status \(response.response?.statusCode ?? 0), sent \(request.tasks.count) times")
  }

  /// Downloads a file to a destination, and observes the progress.
  static func download() async throws {
    let target = FileManager.default.temporaryDirectory.appendingPathComponent("alamofire-program-\(UUID())/bytes.bin")
    let progress = Highest()
    let queue = DispatchQueue(label: "progress")
    let destination: DownloadRequest.Destination = { _, _ in
      (target, [.removePreviousFile, .createIntermediateDirectories])
    }
    let response = await AF.download(Router.base + "/bytes/65536", to: destination)
      .downloadProgress(queue: queue) { progress.note($0.fractionCompleted) }
      .validate()
      .serializingDownloadedFileURL().response
    // Waits for the last call of the progress handler.
    queue.sync {}
    let count = try Data(contentsOf: response.result.get()).count
    print("download: \(count) bytes at the destination: \(response.fileURL == target), progress \(progress.value)")
    try FileManager.default.removeItem(at: target.deletingLastPathComponent())
  }

  /// Uploads a multipart form that contains a file.
  static func upload() async throws {
    let echo = try await AF.upload(
      multipartFormData: { form in
        form.append(Data("one".utf8), withName: "first")
        form.append(Data("two".utf8), withName: "second", fileName: "second.txt", mimeType: "text/plain")
      }, to: Router.base + "/post"
    )
    .uploadProgress { _ in }
    .validate()
    .serializingDecodable(Echo.self).value
    print("upload: form \(echo.form?["first"] ?? "nothing"), file \(echo.files?["second"] ?? "nothing")")
  }

  /// Streams a response: reads its body while it is being received.
  static func stream() async throws {
    struct Line: Decodable, Sendable {
      let id: Int
    }
    var ids: [Int] = []
    let task = AF.streamRequest(Router.lines(count: 1)).validate().streamTask()
    for await stream in task.streamingDecodables(Line.self) {
      if let line = stream.value { ids.append(line.id) }
    }
    print("stream: decoded \(ids)")

    var text = ""
    for await stream in AF.streamRequest(Router.lines(count: 20)).streamTask().streamingStrings() {
      text += stream.value ?? ""
    }
    print("stream: \(text.split(separator: "\n").count) lines")
  }
}

/// Records the highest of the values that it receives.
final class Highest: @unchecked Sendable {
  private let lock = NSLock()
  private var highest = 0.0

  var value: Double { lock.withLock { highest } }

  func note(_ value: Double) { lock.withLock { highest = max(highest, value) } }
}
