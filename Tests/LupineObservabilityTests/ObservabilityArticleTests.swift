// ObservabilityArticleTests: the code of the article Observability compiles, and its lists are complete.

#if Observability
  import Foundation
  import Lupine
  import LupineEngine
  import LupineObservability
  import Testing

  @Suite struct ObservabilityArticleTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

    /// The article's example. The test compares its lines with those of the article.
    private func example() async throws -> String {
      let configuration = URLSessionConfiguration.af.default
      configuration.engine.observability = Observability()
      let session = Session(configuration: configuration)

      let user = try await session.request("https://example.org/users/7") { $0.lupine.urlTemplate = "/users/{id}" }
        .validate()
        .serializingString().value
      return user
    }

    private func article() throws -> String {
      try String(contentsOf: Self.root.appending(path: "Sources/Lupine/Lupine.docc/Observability.md"), encoding: .utf8)
    }

    @Test("the article's example is code that the compiler has checked")
    func code() throws {
      func lines(_ text: some StringProtocol) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      }
      let source = lines(try String(contentsOfFile: #filePath, encoding: .utf8))
      let shown = lines(try article())
      let first = try #require(shown.firstIndex(of: "let configuration = URLSessionConfiguration.af.default"))
      let last = try #require(shown.firstIndex(of: ".serializingString().value"))
      #expect(source.firstRange(of: shown[first...last]) != nil)
      for module in ["Lupine", "LupineEngine", "LupineObservability"] {
        #expect(shown.contains("import \(module)") && source.contains("import \(module)"))
      }
    }

    @Test("the article lists each value of error.type, each metric's name and the environment variable's methods")
    func lists() throws {
      let article = try article()
      for code in EngineError.Code.allCases where code != .cancelled {
        let name = code.rawValue.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
        #expect(article.contains("`\(code == .timedOut ? "timeout" : name)`"), "\(code)")
      }
      for metric in Observability.AdditionalMetric.allCases { #expect(article.contains("`\(metric)`"), "\(metric)") }
      #expect(article.contains("0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10\n"))
    }
  }
#endif
