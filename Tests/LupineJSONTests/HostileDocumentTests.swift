// HostileDocumentTests: documents that are made to cost much take time and memory in proportion to their length.

import Foundation
import LupineTestSupport
import Testing

@testable import LupineFormats
@testable import LupineJSON

@Suite struct HostileDocumentTests {
  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Asks for keys in the reverse order of the document, and for as many that are missing.
  private struct Reversed: Decodable {
    var sum = 0

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      let count = decoder.userInfo[CodingUserInfoKey(rawValue: "count")!] as? Int ?? 0
      for number in (0..<count).reversed() {
        sum += try container.decode(Int.self, forKey: Key(stringValue: "key\(number)"))
        if container.contains(Key(stringValue: "other\(number)")) { sum = -1 }
      }
    }
  }

  @Test(
    "100,000 keys read in reverse order, with missing ones, take time in proportion to their number",
    .timeLimit(.minutes(2)), arguments: ["", "\\u0065", "_a_"])
  func reverseOrder(_ infix: String) throws {
    // Comparing each key with each other would take more than the test's time limit.
    let count = 100_000 / testsDivisor
    let decoder = JSONDecoder()
    decoder.userInfo[CodingUserInfoKey(rawValue: "count")!] = count
    if infix == "_a_" { decoder.keyDecodingStrategy = .custom { Key(stringValue: $0.last?.stringValue ?? "") } }
    let prefix = infix == "_a_" ? "key" : infix.isEmpty ? "key" : "k\(infix)y"
    let document = "{" + (0..<count).map { "\"\(prefix)\($0)\":1" }.joined(separator: ",") + "}"
    #expect(FoundationJSON.fastValue(Reversed.self, from: Data(document.utf8), with: decoder)?.sum == count)
  }

  @Test("keys whose first and last bytes are equal don't slow down the search", .timeLimit(.minutes(2)))
  func equalEnds() throws {
    let count = 20_000 / testsDivisor
    let document = "{" + (0..<count).map { "\"aaaaaaaa\($0)bbbbbbbb\":\($0)" }.joined(separator: ",") + "}"
    let value = FoundationJSON.fastValue([String: Int].self, from: Data(document.utf8), with: JSONDecoder())
    #expect(value?.count == count)
  }

  /// A document that consists of many equal parts. An argument of a test, which is printed by its name.
  enum LongDocument: CaseIterable {
    case objects, arrays, keys, text

    var bytes: [UInt8] {
      let count = 500_000 / testsDivisor
      let text =
        switch self {
        case .objects: "[" + String(repeating: "{},", count: count) + "{}]"
        case .arrays: "[" + String(repeating: "[],", count: count) + "[]]"
        case .keys: "{" + (0..<count / 5).map { "\"key\($0)\":1" }.joined(separator: ",") + "}"
        case .text: "\"" + String(repeating: "a", count: 10 * count) + "\""
        }
      return Array(text.utf8)
    }
  }

  @Test("the tape of a document has at most three bytes for each of its bytes", arguments: LongDocument.allCases)
  func memory(_ document: LongDocument) throws {
    let bytes = document.bytes
    try bytes.withUnsafeBufferPointer { buffer in
      let start = try #require(buffer.baseAddress)
      let tape = try #require(JSONScanner.tape(of: JSONBytes(start: start, count: buffer.count)))
      defer { tape.free() }
      #expect(tape.count * MemoryLayout<UInt64>.size <= 3 * buffer.count)
    }
  }

  @Test("ten million opening brackets are refused at the limit of the depth")
  func brackets() {
    let document = Data(repeating: UInt8(ascii: "["), count: 10_000_000 / testsDivisor)
    #expect(FoundationJSON.fastValue([Int].self, from: document, with: JSONDecoder()) == nil)
  }

  /// A value whose size is independent of its document's.
  private struct Large: Decodable {
    var bytes = InlineArray<16_384, UInt64>(repeating: 0)

    init(from decoder: any Decoder) throws {
      if try decoder.singleValueContainer().decode(Int.self) != 0 { throw CocoaError(.coderReadCorrupt) }
    }
  }

  @Test("arrays and dictionaries of large values need no memory for values that can't be decoded")
  func largeValues() {
    // The values would take 130 GB.
    let zeros = Data("[1\(String(repeating: ",0", count: 1_000_000))]".utf8)
    #expect(FoundationJSON.fastValue([Large].self, from: zeros, with: JSONDecoder()) == nil)
    let entries = Data("{\"\":1\(String(repeating: ",\"\":0", count: 1_000_000))}".utf8)
    #expect(FoundationJSON.fastValue([String: Large].self, from: entries, with: JSONDecoder()) == nil)
  }

  @Test("a tape that grows keeps its words, for documents that become denser or sparser", .timeLimit(.minutes(1)))
  func growth() throws {
    let texts = (0..<3000).map { "\"\(String(repeating: "x", count: $0 % 200))\"" }
    let numbers = (0..<200_000 / testsDivisor).map { "\($0 % 10)" }
    for parts in [texts + numbers, numbers + texts] {
      let document = "[" + parts.joined(separator: ",") + "]"
      struct Part: Decodable {
        let text: String
        init(from decoder: any Decoder) throws {
          let container = try decoder.singleValueContainer()
          text = try (try? container.decode(String.self)).map { "\"\($0)\"" } ?? "\(container.decode(Int.self))"
        }
      }
      let values = FoundationJSON.fastValue([Part].self, from: Data(document.utf8), with: JSONDecoder())
      #expect(values?.map(\.text) == parts)
    }
  }
}
