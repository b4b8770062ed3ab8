// FoundationJSONTests: LupineJSON returns Foundation's values, and leaves the rest to Foundation.

import Foundation
import LupineJSONDifferential
import LupineTestSupport
import Testing

@testable import LupineFormats
@testable import LupineJSON

@Suite struct FoundationJSONTests {
  @Test("random documents, types and settings: LupineJSON never returns a value that Foundation doesn't return")
  func differential() {
    var counts: [String: Int] = [:]
    for seed in 0..<UInt64(repetitions(of: 6000)) {
      let (outcome, name) = Comparison.outcome(seed: seed)
      if case .wrong(let text) = outcome { Issue.record("seed \(seed), \(name): \(text)") }
      counts["\(outcome)".prefix { $0 != "(" }.description, default: 0] += 1
    }
    // The documents are such that each outcome occurs, and ordinary ones rarely need Foundation.
    #expect(counts["equal", default: 0] > counts["slow", default: 0] * 10)
    #expect(counts["bothFail", default: 0] > 0)
  }

  private struct Account: Codable, Equatable {
    var id: Int
    var userName: String
  }

  private let document = Data(#"{"id": 7, "userName": "Ada"}"#.utf8)

  @Test("a plain JSONDecoder's document is decoded by LupineJSON")
  func fast() throws {
    let value = FoundationJSON.fastValue(Account.self, from: document, with: JSONDecoder())
    #expect(value == Account(id: 7, userName: "Ada"))
  }

  private final class Subclass: JSONDecoder, @unchecked Sendable {
    override func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
      guard let account = Account(id: 1, userName: "subclass") as? T else { throw CocoaError(.coderInvalidValue) }
      return account
    }
  }

  @Test("subclasses, JSON5, documents without braces and other encodings are left to Foundation")
  func leftToFoundation() throws {
    #expect(FoundationJSON.fastValue(Account.self, from: document, with: Subclass()) == nil)
    #expect(try FoundationJSON.decode(Account.self, from: document, with: Subclass()).userName == "subclass")

    let json5 = JSONDecoder()
    json5.allowsJSON5 = true
    #expect(FoundationJSON.fastValue(Account.self, from: document, with: json5) == nil)
    let relaxed = Data("{id: 0x7, userName: 'Ada',}".utf8)
    #expect(try FoundationJSON.decode(Account.self, from: relaxed, with: json5).id == 7)

    let open = JSONDecoder()
    open.assumesTopLevelDictionary = true
    #expect(FoundationJSON.fastValue(Account.self, from: document, with: open) == nil)
    let members = Data(#""id": 7, "userName": "Ada""#.utf8)
    #expect(try FoundationJSON.decode(Account.self, from: members, with: open).id == 7)

    for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .utf32LittleEndian] {
      let text = try #require(String(decoding: document, as: UTF8.self).data(using: encoding))
      #expect(FoundationJSON.fastValue(Account.self, from: text, with: JSONDecoder()) == nil)
    }
    let utf16 = try #require(String(decoding: document, as: UTF8.self).data(using: .utf16BigEndian))
    #expect(try FoundationJSON.decode(Account.self, from: utf16, with: JSONDecoder()).id == 7)
  }

  @Test("if LupineJSON fails, Foundation decodes the document, and its value or error is the result")
  func failures() throws {
    // Foundation accepts a comma before the end.
    let comma = Data(#"{"id": 7, "userName": "Ada",}"#.utf8)
    #expect(FoundationJSON.fastValue(Account.self, from: comma, with: JSONDecoder()) == nil)
    #expect(try FoundationJSON.decode(Account.self, from: comma, with: JSONDecoder()).id == 7)

    for text in [#"{"id": "7"}"#, #"{"id": 7}"#, #"{"id": 7, "#, #"{"id": 7.5, "userName": ""}"#, "", "[1]"] {
      let error = #expect(throws: DecodingError.self) {
        try FoundationJSON.decode(Account.self, from: Data(text.utf8), with: JSONDecoder())
      }
      let expected = #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(Account.self, from: Data(text.utf8))
      }
      #expect(try #require(error).shown == #require(expected).shown)
    }
  }

  /// Keeps its decoder, and reads the value later.
  private struct Kept: Decodable {
    let decoder: any Decoder

    init(from decoder: any Decoder) { self.decoder = decoder }
  }

  @Test("a type that keeps its decoder gets Foundation's, which stays valid")
  func keptDecoder() throws {
    let value: Kept
    do {
      // The document's memory is freed at the end of this scope.
      let copy = Data([UInt8](document))
      #expect(FoundationJSON.fastValue(Kept.self, from: copy, with: JSONDecoder()) == nil)
      value = try FoundationJSON.decode(Kept.self, from: copy, with: JSONDecoder())
    }
    #expect(try Account(from: value.decoder) == Account(id: 7, userName: "Ada"))
  }

  @Test("a value isn't used if its initializer has caught an error that Foundation's decoder might not throw")
  func caughtError() throws {
    struct Guess: Decodable {
      let number: Double
      init(from decoder: any Decoder) throws {
        number = (try? decoder.singleValueContainer().decode(Double.self)) ?? -1
      }
    }
    for text in ["0e-999999", "0e5"] {
      #expect(FoundationJSON.fastValue(Guess.self, from: Data(text.utf8), with: JSONDecoder()) == nil, "\(text)")
    }
    #expect(FoundationJSON.fastValue(Guess.self, from: Data("0.0".utf8), with: JSONDecoder())?.number == 0)

    struct FloatGuess: Decodable, Equatable {
      let number: Float
      init(from decoder: any Decoder) throws {
        number = (try? decoder.singleValueContainer().decode(Float.self)) ?? -1
      }
    }
    // Foundation accepts some numbers that are too small, depending on their length.
    for zeros in 44..<52 {
      let document = Data("0.\(String(repeating: "0", count: zeros))1e0".utf8)
      let expected = try JSONDecoder().decode(FloatGuess.self, from: document)
      #expect(try FoundationJSON.decode(FloatGuess.self, from: document, with: JSONDecoder()) == expected)
    }
  }

  @Test(
    "a dictionary is decoded as by Foundation: values of repeated keys, and the path of an error that a type catches")
  func dictionaries() throws {
    enum Guess: Decodable, Equatable {
      case integers([String: Int])
      case dates([String: Date])
      case path([String])

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let integers = try? container.decode([String: Int].self) {
          self = .integers(integers)
          return
        }
        do {
          self = .dates(try container.decode([String: Date].self))
        } catch DecodingError.dataCorrupted(let context) {
          self = .path(context.codingPath.map(\.stringValue))
        } catch DecodingError.typeMismatch(_, let context) {
          self = .path(context.codingPath.map(\.stringValue))
        }
      }
    }
    for strategy in [JSONDecoder.KeyDecodingStrategy.useDefaultKeys, .convertFromSnakeCase] {
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = strategy
      decoder.dateDecodingStrategy = .iso8601
      for text in [
        #"{"x":1,"x":"y"}"#, #"{"x":"y","x":1}"#, #"{"x":"2001-01-01T00:00:00Z","x":2}"#, #"{"x":"yesterday"}"#,
      ] {
        let document = Data("{\"outer\":\(text)}".utf8)
        let expected = try decoder.decode([String: Guess].self, from: document)
        #expect(try FoundationJSON.decode([String: Guess].self, from: document, with: decoder) == expected, "\(text)")
      }
    }
  }

  @Test("a custom conversion of keys is called again for an object that is read a second time, with the path of then")
  func pathOfConversion() throws {
    struct Names: Decodable, Equatable {
      let names: [String]
      init(from decoder: any Decoder) throws {
        names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue).sorted()
      }
    }
    struct Twice: Decodable, Equatable {
      let (entries, members): ([String: Names], Names)

      init(from decoder: any Decoder) throws {
        entries = try decoder.singleValueContainer().decode([String: Names].self)
        let container = try decoder.container(keyedBy: AnyKey.self)
        members = try container.decode(Names.self, forKey: AnyKey(stringValue: "A"))
      }

      static func == (left: Twice, right: Twice) -> Bool {
        left.entries == right.entries && left.members == right.members
      }
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .custom { path in
      AnyKey(stringValue: path.map(\.stringValue).joined(separator: ".").uppercased())
    }
    let document = Data(#"{"a":{"b":1,"é":2}}"#.utf8)
    let expected = try decoder.decode(Twice.self, from: document)
    #expect(FoundationJSON.fastValue(Twice.self, from: document, with: decoder) == expected)
    #expect(expected.members.names == ["A.B", "A.É"])
  }

  @Test("of equal keys, the first one counts, even if keys are asked for more than once")
  func duplicateKeys() throws {
    struct Twice: Decodable {
      let values: [Int]
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: AnyKey.self)
        values = try ["a", "b", "a", "K", "a"].map { try container.decode(Int.self, forKey: AnyKey(stringValue: $0)) }
      }
    }
    // The second document has only ASCII keys, which are compared as bytes.
    for text in [
      "{\"a\":1,\"b\":2,\"a\":3,\"\u{212A}\":4,\"K\":5,\"\\u0061\":6}",
      "{\"a\":1,\"b\":2,\"a\":3,\"K\":4,\"b\":5,\"a\":6}",
    ] {
      let decoder = JSONDecoder()
      #expect(FoundationJSON.fastValue(Twice.self, from: Data(text.utf8), with: decoder)?.values == [1, 2, 1, 4, 1])
      #expect(try decoder.decode(Twice.self, from: Data(text.utf8)).values == [1, 2, 1, 4, 1])
    }
  }

  @Test("keys in snake case are converted as by Foundation, except in dictionaries")
  func snakeCase() {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    var keys =
      DocumentSource.keys + ["a1_b2c", "_a_b_", "__a__b__", "a_1", "A_B", "ÄB_çd", "x_1y2", "i_ı", "ﬁ_x", "a_ǆx"]
      + ["x_22b3c", "x_b.c", "x_b'c"]
    keys.removeAll { $0.contains("\u{301}") || $0 == "\u{212A}" }
    struct Keys: Decodable, Equatable {
      let names: Set<String>
      init(from decoder: any Decoder) throws {
        names = Set(try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue))
      }
    }
    for key in keys {
      let document = Data("{\"\(key)\":{\"\(key)\":1}}".utf8)
      let expected = try? decoder.decode(Keys.self, from: document)
      #expect(FoundationJSON.fastValue(Keys.self, from: document, with: decoder) == expected, "\(key)")
      let dictionary = FoundationJSON.fastValue([String: [String: Int]].self, from: document, with: decoder)
      #expect(dictionary == [key: [key: 1]])
    }
    for word in ["b2c", "22b", "b.c:d", "b'c", "b-c", "ßa", "ǆx1ǆy", "ﬁx"] {
      #expect(SnakeCase.capitalized(word[...]) == word.capitalized)
    }
  }

  @Test("dates in the usual form of ISO 8601 are Foundation's, and other forms are left to Foundation")
  func dates() throws {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    var texts = [
      "1600-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2000-02-29T12:00:00Z", "1900-02-28T23:59:59Z",
      "1599-12-31T00:00:00Z",
      "2001-01-01T00:00:00Z", "2024-03-05T06:07:08+01:00", "0001-01-01T00:00:00Z",
    ]
    // Every 11th day, which are all days of a month and of a week, and a day at the end of each month.
    for day in stride(from: 0, to: 400 * 366, by: 11) {
      texts.append(Date(timeIntervalSinceReferenceDate: Double(day - 80_000) * 86400 + 3661).formatted(.iso8601))
    }
    for month in 1...12 {
      for day in 28...32 { texts.append("2023-\(month < 10 ? "0" : "")\(month)-\(day)T00:00:00Z") }
    }
    for text in texts + [
      "2024-13-01T00:00:00Z", "2024-00-01T00:00:00Z", "2024-01-00T00:00:00Z", "2024-01-01T24:00:00Z",
      "2024-01-01T00:60:00Z",
    ] {
      let document = Data("[\"\(text)\"]".utf8)
      let expected = try? decoder.decode([Date].self, from: document)
      #expect(FoundationJSON.fastValue([Date].self, from: document, with: decoder) == expected, "\(text)")
    }
  }
}

extension DecodingError {
  /// All parts of the error.
  fileprivate var shown: String { Script.description(self) }
}
