// PropertyListCheckTests: the check refuses hostile property lists, and Foundation reads the others without a crash.

import Foundation
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineFormats
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct PropertyListCheckTests {
  private static let list: [String: any Sendable] = [
    "values": [1, 2.5, true, "text", "é😀", Date(timeIntervalSince1970: 1e9), Data([1, 2, 3])] as [any Sendable],
    "nested": ["c": ["d": [[1], [2, 3], []]]], "long": String(repeating: "x", count: 40), "least": Int.min,
  ]

  private func written(_ format: PropertyListSerialization.PropertyListFormat) throws -> Data {
    try PropertyListSerialization.data(fromPropertyList: Self.list, format: format, options: 0)
  }

  /// Decodes the data with each API for property lists in responses. A harmful list that passes the check would crash here.
  private func read(_ data: Data) {
    _ = (try? PropertyListResponseSerializer().serialize(request: nil, response: nil, data: data, error: nil))
      .map { "\($0)" }
    let decoder: any DataDecoder = PropertyListDecoder()
    _ = try? decoder.decode(Tree.self, from: data)
  }

  @Test("each kind of malformed binary property list is refused with a specific error")
  func binaries() {
    for vector in PropertyListVectors.binaries { expect(vector.error, vector.data, vector.name) }
  }

  @Test("each kind of malformed XML property list is refused with a specific error")
  func texts() {
    for vector in PropertyListVectors.texts { expect(vector.error, vector.data, vector.name) }
  }

  private func expect(_ expected: PropertyListError?, _ data: Data, _ name: String) {
    var found: PropertyListError?
    do throws(PropertyListError) { try PropertyListCheck.check(data) } catch { found = error }
    #expect(found == expected, "\(name)")
    read(data)
  }

  @Test("property lists that Foundation writes pass the property list check in both formats")
  func honest() throws {
    for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
      try PropertyListCheck.check(written(format))
    }
    let flat = try PropertyListSerialization.data(
      fromPropertyList: (0..<10_000).map { ["name": "track \($0)", "kind": "MPEG audio file"] }, format: .binary,
      options: 0)
    try PropertyListCheck.check(flat)
  }

  @Test("the property list decoder refuses a property list that is truncated at any byte")
  func truncated() throws {
    let decoder: any DataDecoder = PropertyListDecoder()
    for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
      let data = try written(format)
      let content = format == .xml ? String(decoding: data, as: UTF8.self).utf8.count - 1 : data.count
      for length in 0..<content {
        #expect(throws: (any Error).self) { try decoder.decode(Tree.self, from: data.prefix(length)) }
      }
    }
  }

  @Test("no random mutation of a property list crashes or hangs the decoders")
  func mutations() throws {
    let originals = try [written(.xml), written(.binary)].map(Array.init)
    let inserted = ["<array>", "</array>", "<!--", "-->", "<![CDATA[", "]]>", "<?", "[", "/>", "\"", "&#0;", "<date>"]
    let markers: [UInt8] = [0x00, 0x08, 0x13, 0x33, 0x4F, 0x5F, 0x7F, 0x80, 0xA1, 0xAF, 0xC1, 0xD1, 0xFF]
    var generator = SplitMix64(seed: 7)
    var passed = 0
    let count = repetitions(of: 3000)
    for round in 0..<count {
      var bytes = originals[round % 2]
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let index = bytes.indices.randomElement(using: &generator) ?? 0
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: bytes[index] = markers.randomElement(using: &generator) ?? 0
        case 2: bytes.remove(at: index)
        case 3: bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &generator))
        default: bytes.insert(contentsOf: (inserted.randomElement(using: &generator) ?? "").utf8, at: index)
        }
      }
      let data = Data(bytes)
      if (try? PropertyListCheck.check(data)) != nil { passed += 1 }
      read(data)
    }
    // Enough mutated lists must pass the check, so that the test also exercises Foundation's parser.
    #expect(passed > count / 30)
  }

  @Test("a PropertyListDecoder that is used as a DataDecoder checks the property list before it decodes the list")
  func decoder() throws {
    let decoder: any DataDecoder = PropertyListDecoder()
    #expect(try decoder.decode([String: Int].self, from: PropertyListEncoder().encode(["a": 1])) == ["a": 1])
    #expect(throws: PropertyListError.cyclic(object: 0)) {
      try decoder.decode(Tree.self, from: PropertyListVectors.binary([[0xA1, 0]]))
    }
    #expect {
      _ = try DecodableResponseSerializer<Tree>(decoder: PropertyListDecoder()).serialize(
        request: nil, response: nil, data: PropertyListVectors.chain(100_000), error: nil)
    } throws: { error in
      error.asAFError?.underlyingError as? PropertyListError == .nestsTooDeep(levelsMax: 512)
    }
  }

  @Test("JSONDecoder throws an error for JSON that is nested 100,000 levels deep")
  func json() {
    for text in [String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 100_000)] {
      let data = Data(text.utf8)
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(Tree.self, from: data) }
    }
  }

  @Test("each error of the property list check has a distinct description that contains its numbers")
  func sentences() {
    let errors: [(PropertyListError, String)] = [
      (.unknownFormat, "bplist00"), (.unsupportedEncoding, "UTF-8"), (.declaresDocumentType, "entities"),
      (.malformed(part: "key", offset: 41), "malformed key at byte 41"), (.nestsTooDeep(levelsMax: 512), "512"),
      (.cyclic(object: 7), "Object 7"), (.expandsTooFar(bytesMax: 99), "99 bytes"),
      (.unsupportedValue(type: "Kind"), "Kind"),
    ]
    for (error, text) in errors { #expect(error.localizedDescription.contains(text)) }
    #expect(Set(errors.map(\.0.localizedDescription)).count == errors.count)
  }
}

/// A value that can be decoded from any property list or JSON. Decoding visits each value in arrays and dictionaries.
private indirect enum Tree: Decodable {
  case leaf
  case node([Tree])

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if var values = try? decoder.unkeyedContainer() {
      var trees: [Tree] = []
      while !values.isAtEnd { trees.append(try values.decode(Tree.self)) }
      self = .node(trees)
    } else if let values = try? decoder.container(keyedBy: Key.self) {
      self = .node(try values.allKeys.map { try values.decode(Tree.self, forKey: $0) })
    } else {
      self = .leaf
    }
  }
}
