// GuideTests: articles that repeat others agree with them: the guide in Chinese, and the messages in the article on troubleshooting.

import Foundation
import Testing

@Suite struct GuideTests {
  private func article(_ name: String) throws -> String {
    let path = "Sources/Lupine/Lupine.docc/\(name).md"
    return try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8)
  }

  /// Returns the headings of an article, without those in blocks of code.
  private func headings(_ text: String) -> [Substring] {
    var isCode = false
    return text.split(separator: "\n").filter { line in
      if line.hasPrefix("```") { isCode.toggle() }
      return !isCode && (line.hasPrefix("## ") || line.hasPrefix("### "))
    }
  }

  @Test("each heading of the guide in Chinese names the heading of the English article that it follows, in its order")
  func headings() throws {
    let lines = try article("ChineseGuide").split(separator: "\n")
    var sources: [(article: String, heading: String)] = []
    for (heading, next) in zip(lines, lines.dropFirst()) where heading.hasPrefix("## ") || heading.hasPrefix("### ") {
      let source = try #require(next.wholeMatch(of: /<!-- ([A-Za-z]+): (.+) -->/), "\(heading) names no heading")
      sources.append((String(source.1), String(source.2)))
    }
    // The guide may leave out sections of these articles, except of the first one.
    for (name, isWhole) in [("GettingStarted", true), ("ComingFromAlamofire", false), ("Errors", false)] {
      let english = headings(try article(name)).map { String($0.drop { $0 == "#" || $0 == " " }) }
      let chinese = sources.filter { $0.article == name }.map(\.heading)
      #expect(chinese == english.filter { isWhole || chinese.contains($0) }, "\(name)")
      #expect(!chinese.isEmpty)
    }
    #expect(Set(sources.map(\.article)).count == 3)
  }

  @Test("the guide in Chinese has the code of the English article for beginners")
  func code() throws {
    func blocks(_ text: String) -> [String] { text.matches(of: /```swift\n((?s).*?)```/).map { String($0.1) } }
    let english = blocks(try article("GettingStarted"))
    #expect(english.count >= 4)
    #expect(Array(blocks(try article("ChineseGuide")).prefix(english.count)) == english)
  }

  @Test("the messages by which the article on troubleshooting finds an error are those in the table of all errors")
  func messages() throws {
    let errors = try article("Errors").replacing("\\", with: "")
    var isMessages = false
    var count = 0
    for line in try article("Troubleshooting").split(separator: "\n") {
      if line.hasPrefix("| Message contains") { isMessages = true }
      if !line.hasPrefix("|") { isMessages = false }
      guard isMessages, line.hasPrefix("| `") else { continue }
      for quoted in line.split(separator: " | ")[0].matches(of: /`([^`]+)`/) {
        count += 1
        #expect(errors.contains(quoted.1), "Errors.md has no message with: \(quoted.1)")
      }
    }
    #expect(count > 15)
  }
}
