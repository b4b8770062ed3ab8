// ReadmeTests: the READMEs in English and Chinese have the same code and links.

import Foundation
import Testing

@Suite struct ReadmeTests {
  /// The code blocks of a README without their comments, and the targets of its links.
  private struct Readme: Equatable {
    var code: [String] = []
    var links: Set<String> = []

    init(_ name: String) throws {
      let text = try String(contentsOf: SourceTree.root.appending(path: name), encoding: .utf8)
      var isFenced = false
      for line in text.split(separator: "\n") {
        if line.hasPrefix("```") {
          isFenced.toggle()
          code.append(String(line))
        } else if isFenced || line.hasPrefix("    ") {
          code.append(String(line.replacing(#/ +// .*/#, with: "")))
        }
      }
      links = Set(text.matches(of: /\]\(([^)]*)\)/).map { String($0.1) })
      // Each README has a link to the other one.
      links.formSymmetricDifference(["README.md", "README.zh-CN.md"].filter { $0 != name })
    }
  }

  @Test("README.zh-CN.md has the code, the commands and the links of README.md, and the two refer to each other")
  func languages() throws {
    let (english, chinese) = (try Readme("README.md"), try Readme("README.zh-CN.md"))
    #expect(english.code.count > 30 && english.links.count > 10)
    #expect(english.code == chinese.code)
    #expect(english.links == chinese.links)
  }
}
