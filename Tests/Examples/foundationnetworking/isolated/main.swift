// main: a program for URLSession with the default isolation MainActor, compiled in the language mode of Swift 6.

import Foundation
import FoundationNetworking

// The delegate's methods are called on the session's delegate queue.
nonisolated final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    Task { await Screen.shared.end(error) }
  }
}

final class Screen {
  static let shared = Screen()
  var text = ""

  func end(_ error: (any Error)?) { if let error { text = error.localizedDescription } }

  func load(_ url: URL) async throws {
    let (data, response) = try await URLSession.shared.data(from: url)
    text = "\((response as? HTTPURLResponse)?.statusCode ?? 0), \(data.count) bytes"
  }

  func loadWithHandler(_ url: URL) {
    // The completion handler is called on the session's queue, so that it passes the result to the main actor.
    URLSession.shared.dataTask(with: url) { data, _, _ in
      let count = data?.count ?? 0
      Task { @MainActor in self.text = "\(count) bytes" }
    }.resume()
  }
}

let delegated = URLSession(configuration: .ephemeral, delegate: Delegate(), delegateQueue: nil)
if let url = URL(string: "data:text/plain,isolated") {
  try await Screen.shared.load(url)
  print(Screen.shared.text)
}
delegated.invalidateAndCancel()
