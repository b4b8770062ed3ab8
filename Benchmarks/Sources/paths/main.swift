// paths: sends one request after another, in the way that the first argument names. `Benchmarks/paths` counts what each executes.
//
// Usage: paths serializingDecodable|data|redirect|digest|disk COUNT URL

import Foundation
import Lupine

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[2]), let url = URL(string: arguments[3]) else {
  print("paths: usage: paths PATH COUNT URL")
  exit(2)
}
do {
  try await send(arguments[1], count, url)
} catch {
  print("paths: \(error)")
  exit(1)
}

// Concurrent, so that no request begins or ends with a hop to or from the main actor.
@concurrent func send(_ path: String, _ count: Int, _ url: URL) async throws {
  let configuration = URLSessionConfiguration.default
  let folder = FileManager.default.temporaryDirectory.appending(path: "lupine-paths-\(getpid())")
  defer { try? FileManager.default.removeItem(at: folder) }
  // Without memory, each hit is read from its file.
  configuration.urlCache = path == "disk" ? URLCache(memoryCapacity: 0, diskCapacity: 1 << 20, directory: folder) : nil
  if path == "serializingDecodable" {
    let session = Session(configuration: configuration)
    for _ in 0..<count {
      try check(await session.request(url).serializingDecodable(Greeting.self).value == .expected)
    }
  } else {
    let session = URLSession(
      configuration: configuration, delegate: path == "digest" ? Login() : nil, delegateQueue: nil)
    for _ in 0..<count {
      let (data, response) = try await session.data(from: url)
      try check((response as? HTTPURLResponse)?.statusCode == 200 && data.count == Greeting.byteCount)
    }
  }
}

struct Unexpected: Error {}

func check(_ isExpected: Bool) throws {
  guard isExpected else { throw Unexpected() }
}

/// The body of each response, a JSON object.
struct Greeting: Decodable, Equatable, Sendable {
  let greeting: String

  static let expected = Greeting(greeting: "Hello, world!")
  static let byteCount = 28
}

/// A session's delegate that answers challenges with a password.
final class Login: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    completionHandler(.useCredential, URLCredential(user: "lupine", password: "wolf", persistence: .forSession))
  }
}
