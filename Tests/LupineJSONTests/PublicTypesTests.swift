// PublicTypesTests: LupineJSONDecoder and LupineJSONEncoder, without and with Foundation's settings.

import Foundation
import LupineFormats
import LupineJSONDifferential
import Testing

@Suite struct PublicTypesTests {
  private struct Account: Codable, Equatable {
    var userID: Int
    var name: String
    var score: Double?
    var created: Date?
  }

  private let bytes = Array(#"{"user_id": 7, "na_me": "a\/b", "score": "inf"}"#.utf8)

  @Test("a decoder without Foundation decodes arrays of bytes with its strategies")
  func decoder() throws {
    var decoder = LupineJSONDecoder()
    decoder.keyDecodingStrategy = .custom { path in
      AnyKey(stringValue: ["user_id": "userID", "na_me": "name"][path[path.count - 1].stringValue] ?? "score")
    }
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    #expect(try decoder.decode(Account.self, from: bytes) == Account(userID: 7, name: "a/b", score: .infinity))
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let keys = Array(#"{"one_two": 1, "été_chaud": 2, "_x_y_": 3, "a1_b2c": 4}"#.utf8)
    struct Names: Decodable {
      let names: [String]
      init(from decoder: any Decoder) throws {
        names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue).sorted()
      }
    }
    #expect(try decoder.decode(Names.self, from: keys).names == ["_xY_", "a1B2C", "oneTwo", "étéChaud"])
  }

  @Test("a malformed document, a wrong type and a number that doesn't fit are DecodingErrors")
  func decodingErrors() throws {
    for text in ["", "{", "[1,]", "nul", "[300]", "[\"1\"]", "[1e400]", String(repeating: "[", count: 600)] {
      #expect(throws: DecodingError.self) { try LupineJSONDecoder().decode([UInt8].self, from: Array(text.utf8)) }
    }
    #expect(throws: DecodingError.self) { try LupineJSONDecoder().decode([Double].self, from: Array("[0e5]".utf8)) }
    // The text of the error doesn't grow with the document.
    let digits = Array("[\(String(repeating: "9", count: 10_000))]".utf8)
    let error = #expect(throws: DecodingError.self) { try LupineJSONDecoder().decode([Int].self, from: digits) }
    #expect("\(try #require(error))".utf8.count < 300)
  }

  private struct Kept: Decodable {
    let decoder: any Decoder
    init(from decoder: any Decoder) { self.decoder = decoder }
  }

  @Test("a type may keep its decoder, which stays valid")
  func keptDecoder() throws {
    let kept = try LupineJSONDecoder().decode(Kept.self, from: Array("[1, 2]".utf8))
    #expect(try [Int](from: kept.decoder) == [1, 2])
  }

  private struct KeptContainer: Decodable {
    let container: KeyedDecodingContainer<AnyKey>
    init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: AnyKey.self) }
  }

  @Test("a type may keep its container, which stays at its object")
  func keptContainer() throws {
    let document = Array(#"[{"id": 1}, {"id": 2}, {"id": 3}]"#.utf8)
    let kept = try LupineJSONDecoder().decode([KeptContainer].self, from: document).map(\.container)
    #expect(try kept.map { try $0.decode(Int.self, forKey: AnyKey(stringValue: "id")) } == [1, 2, 3])
    #expect(kept.map { $0.codingPath.map(\.intValue) } == [[0], [1], [2]])
  }

  /// Reads objects while the container of the object around them is in use.
  private struct Tree: Decodable, Equatable {
    var branches: [Tree]?
    var name: String
  }

  @Test("objects within objects of the same type are decoded, and the path of an error tells which one is wrong")
  func nestedObjects() throws {
    let text = #"{"branches": [{"name": "a"}, {"branches": [{"name": "c"}, {"name": "d"}], "name": "b"}], "name": "e"}"#
    let inner = Tree(branches: [Tree(name: "c"), Tree(name: "d")], name: "b")
    let tree = Tree(branches: [Tree(name: "a"), inner], name: "e")
    #expect(try LupineJSONDecoder().decode(Tree.self, from: Array(text.utf8)) == tree)
    let error = #expect(throws: DecodingError.self) {
      try LupineJSONDecoder().decode(
        [[Tree]].self, from: Array("[[], [\(text), \(text.replacing("\"d\"", with: "4"))]]".utf8))
    }
    guard case .typeMismatch(_, let context)? = error else { throw try #require(error) }
    let path = ["Index 1", "Index 1", "branches", "Index 1", "branches", "Index 1", "name"]
    #expect(context.codingPath.map(\.stringValue) == path)
  }

  @Test("an encoder without Foundation writes arrays of bytes with its settings")
  func encoder() throws {
    var encoder = LupineJSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    #expect(encoder.outputFormatting == [.sortedKeys, .withoutEscapingSlashes])
    let account = Account(userID: 7, name: "a/b", score: -.infinity)
    let text = String(decoding: try encoder.encode(account), as: UTF8.self)
    #expect(text == #"{"name":"a/b","score":"-inf","user_id":7}"#)
    encoder.outputFormatting = .prettyPrinted
    #expect(try encoder.encode([1]) == Array("[\n  1\n]".utf8))
    // An option that LupineJSON doesn't know has no effect on the others.
    let foundation = JSONEncoder()
    foundation.outputFormatting = [.sortedKeys, .init(rawValue: 1 << 40)]
    foundation.dateEncodingStrategy = .secondsSince1970
    let dates = ["b": Date(timeIntervalSince1970: 1), "a": Date(timeIntervalSince1970: 2)]
    #expect(try LupineJSONEncoder(foundation).encode(dates) == Array(#"{"a":2,"b":1}"#.utf8))
  }

  /// Writes to its container after values have used containers with the same type of keys.
  private struct Node: Encodable {
    struct Failure: Error {}

    var name: String
    var nodes: [Node] = []
    var fails = false

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(nodes, forKey: AnyKey(stringValue: "nodes"))
      var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(stringValue: "nested"))
      try nested.encode(1, forKey: AnyKey(stringValue: "a"))
      try Name(name: name).encode(to: container.superEncoder())
      if fails { throw Failure() }
      try container.encode(Name(name: name), forKey: AnyKey(stringValue: "name"))
      try container.encode(true, forKey: AnyKey(stringValue: "end"))
    }

    struct Name: Encodable {
      var name: String

      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(name, forKey: AnyKey(stringValue: "is"))
      }
    }
  }

  @Test("a type may use its container after other values have used containers with the same type of keys")
  func containersInUse() throws {
    func text(_ name: String, _ nodes: String = "") -> String {
      #"{"nodes":[\#(nodes)],"nested":{"a":1},"super":{"is":"\#(name)"},"name":{"is":"\#(name)"},"end":true}"#
    }
    let inner = [Node(name: "b"), Node(name: "c", nodes: [Node(name: "d")])]
    let nodes = [Node(name: "a", nodes: inner), Node(name: "e")]
    let expected = "[\(text("a", "\(text("b")),\(text("c", text("d")))")),\(text("e"))]"
    var encoder = LupineJSONEncoder()
    #expect(String(decoding: try encoder.encode(nodes), as: UTF8.self) == expected)
    encoder.keyEncodingStrategy = .custom { AnyKey(stringValue: $0.map(\.stringValue).joined(separator: "/")) }
    let paths = String(decoding: try encoder.encode(nodes), as: UTF8.self)
    #expect(paths.contains(#""Index 0\/nodes\/Index 1\/nodes\/Index 0\/name\/is":"d"}"#))
    #expect(paths.hasSuffix(#""Index 1\/name":{"Index 1\/name\/is":"e"},"Index 1\/end":true}]"#))
  }

  /// Keeps the container with which it has encoded itself.
  private final class Keeper: Encodable {
    private var container: Any?

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: AnyKey(stringValue: "a"))
      self.container = container
    }

    func release() { container = nil }
  }

  @Test("a container that a type keeps for a while doesn't delay the end of a superclass's value")
  func containerKept() throws {
    struct Root: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        let keeper = Keeper()
        do {
          var inherited = container.superEncoder().container(keyedBy: AnyKey.self)
          try inherited.encode(keeper, forKey: AnyKey(stringValue: "kept"))
          keeper.release()
        }
        try container.encode(2, forKey: AnyKey(stringValue: "b"))
      }
    }
    let text = String(decoding: try LupineJSONEncoder().encode(Root()), as: UTF8.self)
    #expect(text == #"{"super":{"kept":{"a":1}},"b":2}"#)
  }

  @Test("an encoder keeps nothing after a document, also if a type throws an error")
  func nothingKept() throws {
    final class Token: Sendable {}
    let key = try #require(CodingUserInfoKey(rawValue: "token"))
    weak var token: Token?
    do {
      let strong = Token()
      token = strong
      var encoder = LupineJSONEncoder()
      encoder.userInfo[key] = strong
      _ = try encoder.encode([Node(name: "a"), Node(name: "b", nodes: [Node(name: "c")])])
      #expect(throws: Node.Failure.self) { try encoder.encode([Node(name: "a"), Node(name: "b", fails: true)]) }
      #expect(throws: Node.Failure.self) { try encoder.encode(Node(name: "a", nodes: [Node(name: "b", fails: true)])) }
    }
    #expect(token == nil)
  }

  @Test("a value that can't be written in order is an EncodingError")
  func encodingErrors() {
    struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }
    struct Twice: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        for value in 0...1 { try container.encode(value, forKey: AnyKey(stringValue: "a")) }
      }
    }
    let values: [any Encodable] = [Nothing(), Twice(), [Double.nan]]
    for value in values { #expect(throws: EncodingError.self) { try LupineJSONEncoder().encode(value) } }
  }

  @Test("with Foundation's settings, both write and read dates, data, URLs and decimal numbers as Foundation does")
  func foundation() throws {
    struct Special: Codable, Equatable {
      var date = Date(timeIntervalSince1970: 1_700_000_000)
      var data = Data([1, 2, 3])
      var url = URL(string: "https://example.org/a?b=c")
      var price = Decimal(1234) / 100
    }
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = .sortedKeys
    let document = try LupineJSONEncoder(encoder).encode(Special())
    #expect(try Data(document) == encoder.encode(Special()))
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    #expect(try LupineJSONDecoder(decoder).decode(Special.self, from: document) == Special())
    #expect(try LupineJSONDecoder(decoder).decode(Special.self, from: Data(document)) == Special())
  }
}
