// SentenceTests: each sentence in the table has a test, and a mutation that breaks its rule.

import Foundation
import Testing

@Suite struct SentenceTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

  /// Returns the joined text of all files below a folder of `Tests` whose names end with `suffix`.
  private static func text(in path: String, suffix: String) -> String {
    let folder = folder.appending(path: path)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(suffix) }
      .compactMap { try? String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
  }

  /// The source code of all tests of the cache, of its disk store and of its use by `URLSession`.
  private static let tests = ["LupineCacheTests", "LupineCacheStoreTests", "LupineURLSessionTests/Caching"]
    .map { text(in: $0, suffix: "Tests.swift") }.joined()

  /// The sentences that a mutation breaks, as quoted in Tests/Mutants/*.txt: the RFC's section and the sentence's first words.
  private static let mutated = text(in: "Mutants", suffix: ".txt").split(separator: "\n")
    .filter { $0.hasPrefix("sentence: ") }.map { $0.dropFirst("sentence: ".count) }

  @Test("each sentence of RFC 9111 and RFC 5861 that applies to a private cache has a test", arguments: Sentence.all)
  func sentence(_ sentence: Sentence) {
    #expect(Self.tests.contains("\"\(sentence.test)\""), "no test \"\(sentence.test)\"")
  }

  @Test(
    "each rule of RFC 9111 that the cache implements has a mutation test that removes the rule",
    arguments: Sentence.all)
  func mutation(_ sentence: Sentence) {
    let isMutated = Self.mutated.contains { "\(sentence.section) \(sentence.text)".hasPrefix($0) }
    #expect(isMutated != sentence.isByAbsence)
  }
}
