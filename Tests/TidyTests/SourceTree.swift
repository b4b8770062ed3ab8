// SourceTree: the files of the package, read once for the tests of its structure.

import Foundation
import Testing

/// A Swift file of this package.
struct SourceFile: Sendable, CustomTestStringConvertible {
  /// The path of the file relative to the package's root, such as "Sources/LupineWire/Fields/Fields.swift".
  let path: String
  let lines: [String]
  /// The lines of the file, without comments.
  let code: [Substring]

  init(path: String, lines: [String]) {
    self.path = path
    self.lines = lines
    code = lines.map { line in line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line[...] }
  }

  /// The name of the file's target, which is the name of its folder in Sources or Tests.
  var target: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }

  /// The names of the modules that the file imports, with any attribute or access level.
  var imports: [String] {
    lines.compactMap { line in
      let words = line.split(separator: " ")
      guard let index = words.firstIndex(of: "import"), index + 1 < words.count else { return nil }
      let isImport = words[..<index].allSatisfy { $0.hasPrefix("@") || ["public", "internal", "package"].contains($0) }
      return isImport ? words[index + 1].split(separator: ".").first.map(String.init) : nil
    }
  }

  /// Returns the numbers of the lines that contain `text` outside of comments. The first line has number 1.
  func lineNumbers(of text: String) -> [Int] {
    code.enumerated().compactMap { index, code in code.contains(text) ? index + 1 : nil }
  }

  var testDescription: String { path }
}

enum SourceTree {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static let sources = files(under: "Sources")
  static let tests = files(under: "Tests")

  private static func files(under folder: String) -> [SourceFile] {
    let base = root.appending(path: folder).path
    let paths = FileManager.default.enumerator(atPath: base)?.compactMap { $0 as? String } ?? []
    // The tutorials' code shows programs that use the package.
    let own = paths.filter { $0.hasSuffix(".swift") && !$0.contains(".build/") && !$0.contains(".docc/") }
    return own.sorted().compactMap { path in
      guard let text = try? String(contentsOfFile: "\(base)/\(path)", encoding: .utf8) else { return nil }
      return SourceFile(path: "\(folder)/\(path)", lines: text.components(separatedBy: "\n"))
    }
  }
}
