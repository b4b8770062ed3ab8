// ScannerTests: which documents the scanner accepts, and that it reads no byte beyond them.

import Foundation
import Glibc
import LupineTestSupport
import Testing

@testable import LupineJSON

/// Accepts any document.
struct Anything: Decodable, Equatable {
  init() {}

  init(from decoder: any Decoder) {}
}

@Suite struct ScannerTests {
  private func accepts(_ bytes: [UInt8]) throws -> Bool {
    try JSONDecoding.decode(Anything.self, from: bytes.span, JSONDecodingOptions()) != nil
  }

  @Test("a document that RFC 8259 allows is accepted", arguments: DocumentVector.accepted)
  func accepted(_ vector: DocumentVector) throws { #expect(try accepts(vector.bytes)) }

  @Test("a document that RFC 8259 forbids is refused", arguments: DocumentVector.refused)
  func refused(_ vector: DocumentVector) throws { #expect(try !accepts(vector.bytes)) }

  @Test("documents that RFC 8259 leaves open are accepted if their text can be represented")
  func undecided() throws {
    for (vector, isAccepted) in DocumentVector.undecided {
      #expect(try accepts(vector.bytes) == isAccepted, "\(vector.name)")
    }
  }

  @Test("512 nested containers are accepted and 513 are refused, as by Foundation", arguments: ["[]", "{}"])
  func depth(_ brackets: String) throws {
    func document(_ depth: Int) -> [UInt8] {
      let isArray = brackets == "[]"
      let open = isArray ? "[" : "{\"\":"
      return Array(
        (String(repeating: open, count: depth - 1) + brackets + String(repeating: isArray ? "]" : "}", count: depth - 1))
          .utf8)
    }
    #expect(try accepts(document(JSONScanner.depthMax)))
    #expect(try !accepts(document(JSONScanner.depthMax + 1)))
    #expect((try? JSONDecoder().decode(Anything.self, from: Data(document(JSONScanner.depthMax)))) != nil)
    #expect((try? JSONDecoder().decode(Anything.self, from: Data(document(JSONScanner.depthMax + 1)))) == nil)
  }

  /// Places the bytes directly before a page that can't be read.
  private func atPageEnd(_ bytes: ArraySlice<UInt8>, _ body: (borrowing Span<UInt8>) throws -> Void) throws {
    let page = Int(sysconf(CInt(_SC_PAGESIZE)))
    let room = (bytes.count + page - 1) / page * page
    let memory = try #require(mmap(nil, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    try #require(memory != MAP_FAILED && mprotect(memory + room, page, PROT_NONE) == 0)
    defer { munmap(memory, room + page) }
    let start = (memory + room - bytes.count).bindMemory(to: UInt8.self, capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { start[index] = byte }
    try body(UnsafeBufferPointer(start: start, count: bytes.count).span)
  }

  @Test("the scanner reads no byte beyond a document, whole or truncated at any byte")
  func guardPage() throws {
    let documents =
      DocumentVector.accepted.filter { $0.bytes.count < 200 }.map(\.bytes) + [
        Array(#"{"a":1,"key of 16 bytes!":"text of some length","b":[true,false,null,-1.5e3,"\ud83d\ude00é"]}"#.utf8),
        Array("12345678901234567890".utf8), Array("true".utf8), Array("\"ends with é\"".utf8),
      ]
    for bytes in documents {
      for end in 1...bytes.count {
        try atPageEnd(bytes[..<end]) { span in
          // Reads the keys and values too.
          let values = try? JSONDecoding.decode([String: Anything].self, from: span, JSONDecodingOptions())
          let list = try? JSONDecoding.decode([String].self, from: span, JSONDecodingOptions())
          let number = try? JSONDecoding.decode(Double.self, from: span, JSONDecodingOptions())
          if end < bytes.count, bytes[end] > 0x20, bytes.first == 0x7B || bytes.first == 0x5B {
            #expect((values, list, number) == (nil, nil, nil), "\(String(decoding: bytes[..<end], as: UTF8.self))")
          }
        }
      }
    }
  }
}

private func == (
  left: ([String: Anything]?, [String]?, Double?), right: ([String: Anything]?, [String]?, Double?)
) -> Bool { left.0 == right.0 && left.1 == right.1 && left.2 == right.2 }
