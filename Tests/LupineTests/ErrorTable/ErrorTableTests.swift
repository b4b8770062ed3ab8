// ErrorTableTests: the error table in Errors.md equals the table that the code generates.

import Foundation
import Testing

struct ErrorTableTests {
  private static let article = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources/Lupine/Lupine.docc/Errors.md")

  @Test("the error table in Errors.md contains the messages of the code, and `make tables` updates the table")
  func table() throws {
    let text = try String(contentsOf: Self.article, encoding: .utf8)
    let (start, end) = ErrorTable.markers
    let first = try #require(text.range(of: "\(start)\n"), "Errors.md lacks the line \(start)")
    let last = try #require(text.range(of: end), "Errors.md lacks the line \(end)")
    let table = try "\n" + ErrorTable.markdown() + "\n"
    if ProcessInfo.processInfo.environment["LUPINE_WRITE_TABLES"] == "1" {
      let new = text.replacingCharacters(in: first.upperBound..<last.lowerBound, with: table)
      try new.write(to: Self.article, atomically: true, encoding: .utf8)
    } else {
      let current = text[first.upperBound..<last.lowerBound].split(separator: "\n")
      for (index, line) in table.split(separator: "\n").enumerated() {
        #expect(index < current.count && current[index] == line, "run make tables: the row isn't \(line)")
      }
      #expect(current.count == table.split(separator: "\n").count, "run make tables: there are rows without a case")
    }
  }

  @Test("each row of the error table has a unique name and a one-line message, and each URLError code has a name")
  func rows() throws {
    let rows = try ErrorTable.rows()
    #expect(Set(rows.map(\.name)).count == rows.count)
    for row in rows {
      #expect(row.code.map { ErrorRow.codeNames[$0] != nil } ?? true, "\(row.name)")
      #expect(!row.message.contains("\n"), "\(row.name)")
    }
  }
}
