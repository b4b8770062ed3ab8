// SecurityArticleTests: the tests and limits named in Security.md exist, and the quoted tests detect the promises' mutations.

import Foundation
import Testing

@Suite struct SecurityArticleTests {
  private struct Row {
    let cells: [Substring]
    let heading: String
  }

  private static let article = SourceTree.root.appending(path: "Sources/Lupine/Lupine.docc/Security.md")

  /// Returns the rows of all tables in Security.md, without the header rows.
  private static func rows() throws -> [Row] {
    var heading = ""
    var rows: [Row] = []
    let lines = try String(contentsOf: article, encoding: .utf8).split(separator: "\n")
    for (index, line) in lines.enumerated() {
      if line.hasPrefix("## ") { heading = String(line.dropFirst(3)) }
      let isHead = index + 1 < lines.count && lines[index + 1].hasPrefix("| ---")
      guard line.hasPrefix("| "), !line.hasPrefix("| ---"), !isHead else { continue }
      let cells = line.split(separator: " | ").map { $0.trimming { $0 == "|" || $0 == " " } }
      rows.append(Row(cells: cells, heading: heading))
    }
    return rows
  }

  /// Returns the tests that a table cell quotes as `File`: "name of the test".
  private static func tests(in cell: Substring) -> [(file: String, words: String)] {
    cell.matches(of: /`([A-Za-z0-9+\/]+)`: "([^"]+)"/).map { (String($0.1), String($0.2)) }
  }

  /// Returns the joined text of the test files with that name, which several targets may have, or nil if there is none.
  private static func text(of file: String) throws -> String? {
    let sources = SourceTree.tests.filter { $0.path.hasSuffix("/\(file).swift") }
    if !sources.isEmpty { return sources.flatMap(\.lines).joined(separator: "\n") }
    return try? String(contentsOf: SourceTree.root.appending(path: "Tests/\(file)"), encoding: .utf8)
  }

  @Test("each promise in Security.md quotes at least one test, and each quoted test exists")
  func promises() throws {
    let promises = try Self.rows().filter { $0.heading != "Limits" }
    #expect(promises.count > 30)
    for row in promises {
      let tests = Self.tests(in: try #require(row.cells.last))
      #expect(!tests.isEmpty, "the promise quotes no test: \(row.cells[0])")
      for test in tests {
        let text = try #require(try Self.text(of: test.file), "no test file has the name \(test.file)")
        #expect(text.contains("\"\(test.words)"), "\(test.file) has no test \"\(test.words)\"")
      }
    }
  }

  /// Promises of Security.md that no edit of the sources can break, quoted, each with the reason.
  private static let promisesWithoutMutation = [
    "Transfers are complete despite loss, delay and reordering": "TCP keeps this promise; Tests/Namespaces tries it",
    "A server that isn't trusted gets no client certificate":
      "OpenSSL keeps this promise: it verifies the server's certificate before it chooses the client's",
  ]

  /// Returns the promises that the mutations of Tests/Mutants quote, each with the names of the tests that detect the mutation.
  private static func mutations() throws -> [(promise: String, tests: [String])] {
    let folder = SourceTree.root.appending(path: "Tests/Mutants")
    let tables = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "txt" }
    var mutations: [(promise: String, tests: [String])] = []
    for table in tables {
      for record in try String(contentsOf: table, encoding: .utf8).split(separator: "\n\n") {
        let lines = record.split(separator: "\n")
        guard let promise = lines.first(where: { $0.hasPrefix("promise: ") })?.dropFirst("promise: ".count) else {
          continue
        }
        let tests = lines.filter { $0.hasPrefix("test: ") }.flatMap { Self.tests(in: $0).map(\.words) }
        mutations.append((String(promise), tests))
      }
    }
    return mutations
  }

  @Test("each security promise in Security.md has a mutation test, and each mutation test belongs to one promise")
  func mutations() throws {
    // The rules in the table of advisories have tests, but need no mutations.
    let promises = try Self.rows().filter { !["Limits", "Advisories"].contains($0.heading) }.map { $0.cells[0] }
    let words = Set(try Self.mutations().map(\.promise)).union(Self.promisesWithoutMutation.keys)
    for promise in promises {
      #expect(words.contains { promise.contains($0) }, "no mutation in Tests/Mutants breaks the promise: \(promise)")
    }
    for words in words {
      #expect(promises.count { $0.contains(words) } == 1, "not a quote from exactly one promise: \(words)")
    }
  }

  @Test("each promise in Security.md quotes a test that has to detect one of its mutations")
  func detections() throws {
    // Entries of a table, which the test of the table runs, and scripts, which no mutation names.
    let others = ["Misbehaviour+", "ResponseVectors+", "Namespaces/"]
    let mutations = try Self.mutations()
    for row in try Self.rows() where !["Limits", "Advisories"].contains(row.heading) {
      let quoted = Self.tests(in: try #require(row.cells.last))
      let detecting = mutations.filter { row.cells[0].contains($0.promise) }.flatMap(\.tests)
      guard !detecting.isEmpty, !quoted.contains(where: { test in others.contains { test.file.hasPrefix($0) } }) else {
        continue
      }
      let isVerified = quoted.contains { detecting.contains($0.words) }
      #expect(isVerified, "the promise quotes no test of its mutations: \(row.cells[0])")
    }
  }

  @Test("each limit listed in Security.md is declared in the sources")
  func limits() throws {
    let limits = try Self.rows().filter { $0.heading == "Limits" }
    #expect(limits.count > 15)
    var declared: Set<Substring> = []
    for line in SourceTree.sources.flatMap(\.lines) where line.contains("var ") || line.contains("let ") {
      let words = line.split(separator: " ")
      for (word, next) in zip(words, words.dropFirst()) where word == "var" || word == "let" {
        declared.insert(next.prefix { $0.isLetter || $0.isNumber })
      }
    }
    for row in limits {
      let name = row.cells[0].trimming { $0 == "`" }
      #expect(declared.contains(name), "the sources declare no property \(name)")
    }
  }

  @Test("the default of each limit in Security.md is the default in the sources")
  func defaults() throws {
    let declaration =
      /\b([a-z]\w*)(?:: [A-Za-z0-9.?]+)? (?:= |\{ )(?:Duration)?(?:\.seconds\()?([0-9_]+(?: (?:\*|<<) [0-9_]+)*)/
    var declared: [String: Set<Int>] = [:]
    for line in SourceTree.sources.flatMap(\.lines)
    where line.contains("Max") || line.contains("Seconds") || line.contains("windowBytes") {
      guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { continue }
      for match in line.matches(of: declaration) {
        declared[String(match.1), default: []].insert(Self.value(of: match.2))
      }
    }
    var count = 0
    for row in try Self.rows() where row.heading == "Limits" {
      let name = String(row.cells[0].trimming { $0 == "`" })
      guard let documented = Self.number(in: row.cells[1]) else { continue }
      count += 1
      #expect(declared[name]?.contains(documented) == true, "\(name) isn't \(documented)")
    }
    #expect(count > 30)
  }

  /// Returns the number at the start of a cell, such as 65,536 for "64 KiB", or nil if the limit has no default.
  private static func number(in cell: Substring) -> Int? {
    guard let match = cell.firstMatch(of: /^([0-9,]+)(?: (KiB|MiB))?/),
      let number = Int(match.1.filter { $0 != "," })
    else { return nil }
    return number * (match.2 == "KiB" ? 1 << 10 : match.2 == "MiB" ? 1 << 20 : 1)
  }

  /// Returns the value of an expression such as `64 * 1024` or `1 << 20`.
  private static func value(of expression: Substring) -> Int {
    let words = expression.filter { $0 != "_" }.split(separator: " ")
    var value = words.first.flatMap { Int($0) } ?? 0
    for index in stride(from: 1, to: words.count - 1, by: 2) {
      let number = Int(words[index + 1]) ?? 0
      value = words[index] == "<<" ? value << number : value * number
    }
    return value
  }
}

extension Substring {
  fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> Substring {
    var rest = drop(while: isTrimmed)
    while let last = rest.last, isTrimmed(last) { rest.removeLast() }
    return rest
  }
}
