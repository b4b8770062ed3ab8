// Worker: one process of the soak. It loads pages through its session's cache until it is killed.

import Foundation
import Glibc
import LupineRandom
import LupineURLSession

/// Loads random pages in one process, and writes one letter per page to standard output: h for a cache hit, n for a response from
/// the network, and f for a failure. If a body is wrong, the process ends with status 3.
struct Worker: Sendable {
  let port: UInt16
  let folder: String
  let capacity: Int
  let seed: UInt64

  private static let tasks = 4

  func run() async -> Never {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = URLCache(
      memoryCapacity: 300_000, diskCapacity: capacity, directory: URL(filePath: folder))
    let session = URLSession(configuration: configuration, delegate: HitCounter(), delegateQueue: nil)
    await withTaskGroup { group in
      for task in 0..<Self.tasks { group.addTask { await load(in: session, SplitMix64(seed: seed &+ UInt64(task))) } }
    }
    exit(4)
  }

  private func load(in session: URLSession, _ random: SplitMix64) async {
    var random = random
    while true {
      let number = Int(random.next() % UInt64(Page.count))
      let language = Page.languages[Int(random.next() % UInt64(Page.languages.count))]
      guard let url = URL(string: "http://127.0.0.1:\(port)/\(number)") else { exit(4) }
      var request = URLRequest(url: url)
      request.setValue(language, forHTTPHeaderField: "Accept-Language")
      switch random.next() % 20 {
      case 0: request.httpMethod = "POST"
      case 1: request.cachePolicy = .reloadIgnoringLocalCacheData
      case 2...4: request.cachePolicy = .returnCacheDataElseLoad
      case 5: request.cachePolicy = .reloadRevalidatingCacheData
      default: break
      }
      guard let (data, response) = try? await session.data(for: request), let head = response as? HTTPURLResponse else {
        HitCounter.write("f")
        continue
      }
      if request.httpMethod == "GET" { check(data, head, number, language, request.cachePolicy) }
    }
  }

  private func check(
    _ data: Data, _ head: HTTPURLResponse, _ number: Int, _ language: String, _ policy: URLRequest.CachePolicy
  ) {
    let version = data.split(separator: UInt8(ascii: "\n")).first.flatMap { line in
      String(decoding: line, as: UTF8.self).split(separator: " ").last.flatMap { Int($0) }
    }
    let page = Page(number: number, language: language, version: version ?? 0)
    let isRight =
      head.statusCode == 200 && data == Data(page.body) && head.value(forHTTPHeaderField: "ETag") == page.entityTag
    // A fresh response is at most a second old, and the machine may be busy.
    let isRecent = policy != .useProtocolCachePolicy || Page.currentVersion - page.version < 15
    guard isRight, isRecent else {
      let line = "wrong: /\(number) \(language) at \(Page.currentVersion), got \(data.prefix(30)) \(head)\n"
      FileHandle.standardError.write(Data(line.utf8))
      exit(3)
    }
  }
}

/// Writes one letter to standard output for each completed task: h for a cache hit, n for a response from the network.
private final class HitCounter: NSObject, URLSessionTaskDelegate, Sendable {
  static func write(_ letter: String) { FileHandle.standardOutput.write(Data(letter.utf8)) }

  func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
    guard let last = metrics.transactionMetrics.last, last.response != nil else { return }
    Self.write(last.resourceFetchType == .localCache ? "h" : "n")
  }
}
