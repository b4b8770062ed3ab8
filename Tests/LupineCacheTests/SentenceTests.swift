// SentenceTests: each test in the table of sentences exists.

import Foundation
import Testing

@Suite struct SentenceTests {
  /// The text of the tests of the cache and of its store.
  private static let tests: String = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let files = ["LupineCacheTests", "LupineCacheStoreTests"].flatMap { target in
      let names = try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: target).path)
      return (names ?? []).filter { $0.hasSuffix("Tests.swift") }.map { folder.appending(path: "\(target)/\($0)") }
    }
    return files.compactMap { try? String(contentsOf: $0, encoding: .utf8) }.joined()
  }()

  @Test("each sentence of RFC 9111 and RFC 5861 has a test", arguments: Sentence.all)
  func sentence(_ sentence: Sentence) {
    #expect(Self.tests.contains("\"\(sentence.test)\""), "no test \"\(sentence.test)\"")
  }
}
