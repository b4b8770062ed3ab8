// VersionTests: all files of the package name the same version of Lupine and of Swift, and the README's links lead to files.

import Foundation
import Testing

@Suite struct VersionTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOf: SourceTree.root.appending(path: path), encoding: .utf8)
  }

  @Test("the manifest, the bootstrap, the articles and the files for other services name the same version of Swift")
  func swift() throws {
    let manifest = try text("Package.swift")
    let version = String(try #require(manifest.firstMatch(of: /^\/\/ swift-tools-version: ([0-9]+\.[0-9]+)/)).1)
    let parts = version.split(separator: ".")
    let mentions = [
      ".ci/bootstrap": "swift_major=\(parts[0])\nswift_minor=\(parts[1])\n",
      ".ci/run": "Swift \(version) ",
      "README.md": "Lupine needs Swift \(version) or later",
      "README.zh-CN.md": "Lupine 需要 Swift \(version) 或更高版本",
      "SECURITY.md": "Swift \(version) or later",
      ".spi.yml": "swift_version: '\(version)'",
      ".github/workflows/gate.yml": "image: swift:\(version)-",
      "Sources/Lupine/Lupine.docc/GettingStarted.md": "Swift \(version) or later",
    ]
    for (path, mention) in mentions {
      #expect(try text(path).contains(mention), "\(path) doesn't say: \(mention)")
    }
    for path in ["README.md", "README.zh-CN.md"] {
      #expect(try text(path).contains("    // swift-tools-version: \(version)\n"), "\(path)")
    }
  }

  @Test("the command, the library and the changelog have the same version")
  func own() throws {
    let changelog = try text("CHANGELOG.md")
    let version = String(try #require(changelog.firstMatch(of: #/\n## ([0-9]+\.[0-9]+\.[0-9]+) - /#)).1)
    #expect(try text("Sources/LupineCommand/Help.swift").contains("static let version = \"\(version)\""))
    #expect(try text("Sources/Lupine/Lupine.swift").contains("static let version = \"\(version)\""))
  }

  @Test("the service that runs the gate calls the command that contributors call")
  func gate() throws {
    let steps = try text(".github/workflows/gate.yml").split(separator: "\n").filter { $0.contains("- run: ") }
    #expect(steps.last == "      - run: .ci/run", "\(steps)")
  }

  @Test(
    "each relative link of the package's pages leads to a file",
    arguments: [
      "README.md", "README.zh-CN.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", ".github/RELEASING.md",
    ])
  func links(page: String) throws {
    let links = try text(page).matches(of: /\]\(([^)#]+)\)/).map { String($0.1) }.filter { !$0.contains("://") }
    #expect(!links.isEmpty)
    let folder = SourceTree.root.appending(path: page).deletingLastPathComponent()
    for link in links {
      #expect(FileManager.default.fileExists(atPath: folder.appending(path: link).path), "\(page): \(link)")
    }
  }
}
