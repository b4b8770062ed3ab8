// URLEncodedFormEncoderTests: the exact output of the form encoder, for each kind of value and each option.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

/// A test vector: a value, the options of a URLEncodedFormEncoder, and the expected form, such as `a=1&b=2`.
struct FormVector: CustomTestStringConvertible, Sendable {
  let name: String
  let expected: String
  let encode: @Sendable () throws -> String

  init(
    _ name: String, _ expected: String, _ value: any Encodable & Sendable,
    with encoder: @escaping @Sendable () -> URLEncodedFormEncoder = { URLEncodedFormEncoder() }
  ) {
    self.name = name
    self.expected = expected
    encode = { try encoder().encode(value) }
  }

  var testDescription: String { name }
}

private struct Address: Encodable {
  var street = "Main St"
  var lines = ["a", "b"]
}

private struct Person: Encodable {
  var name = "Ann"
  var address = Address()
}

private struct Optionals: Encodable {
  var a: Int? = nil
  var b: String? = nil
  var c: Bool? = nil
  var d: Double? = nil
  var e: Float? = nil
  var f: Int8? = nil
  var g: Int16? = nil
  var h: Int32? = nil
  var i: Int64? = nil
  var j: UInt? = nil
  var k: UInt8? = nil
  var l: UInt16? = nil
  var m: UInt32? = nil
  var n: UInt64? = nil
  var o: Int128? = nil
  var p: UInt128? = nil
  var q: Date? = nil
  var r: [Int]? = nil
  var z = 1
}

private struct Numbers: Encodable {
  var a = Int8.min
  var b = UInt64.max
  var c = Int128.max
  var d: Float = 1.5
  var e = 1.0
  var f = UInt128.max
}

private class Animal: Encodable {
  var legs = 4
}

private final class Dog: Animal {
  var name = "Rex"

  enum CodingKeys: CodingKey { case name }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try super.encode(to: container.superEncoder())
  }
}

/// A value whose `encode(to:)` uses each kind of nested container.
private struct ByHand: Encodable {
  enum Keys: String, CodingKey { case keyed, list, twice, null, early }

  func encode(to encoder: any Encoder) throws {
    var root = encoder.container(keyedBy: Keys.self)
    var keyed = root.nestedContainer(keyedBy: Keys.self, forKey: .keyed)
    var list = root.nestedUnkeyedContainer(forKey: .list)
    try root.encode(1, forKey: .twice)
    try root.encode(2, forKey: .twice)
    try root.encodeNil(forKey: .null)
    try list.encode("x")
    try list.encodeNil()
    var inner = list.nestedUnkeyedContainer()
    try inner.encode("y")
    var innerKeyed = list.nestedContainer(keyedBy: Keys.self)
    try innerKeyed.encode("z", forKey: .early)
    try keyed.encode(list.count, forKey: .early)
  }
}

@Suite struct URLEncodedFormEncoderTests {
  private static let date = Date(timeIntervalSinceReferenceDate: 123.456)

  static let values: [FormVector] = [
    FormVector("a string", "a=b", ["a": "b"]),
    FormVector("an empty dictionary", "", [String: String]()),
    FormVector("an empty key and value", "=", ["": ""]),
    FormVector("pairs are sorted", "a=1&b=2&c=3", ["c": 3, "a": 1, "b": 2]),
    FormVector("integer keys", "1=a&2=b", [2: "b", 1: "a"]),
    FormVector(
      "every number",
      "a=-128&b=18446744073709551615&c=170141183460469231731687303715884105727&d=1.5&e=1.0"
        + "&f=340282366920938463463374607431768211455", Numbers()),
    FormVector("a decimal", "a=1.25", ["a": Decimal(string: "1.25") ?? 0]),
    FormVector(
      "nested structs", "address%5Blines%5D%5B%5D=a&address%5Blines%5D%5B%5D=b&address%5Bstreet%5D=Main%20St&name=Ann",
      Person()),
    FormVector("a nested dictionary", "a%5Bb%5D%5Bc%5D=1", ["a": ["b": ["c": 1]]]),
    FormVector("nested arrays", "a%5B%5D%5B%5D=1&a%5B%5D%5B%5D=2", ["a": [[1], [2]]]),
    FormVector("an array of dictionaries", "a%5B%5D%5Bb%5D=1&a%5B%5D%5Bb%5D=2", ["a": [["b": 2], ["b": 1]]]),
    FormVector(
      "empty arrays and dictionaries are omitted", "b=1", ["a": [], "b": [1]],
      with: { URLEncodedFormEncoder(arrayEncoding: .noBrackets) }),
    FormVector("a superclass encodes through superEncoder into its subclass's container", "legs=4&name=Rex", DogBox()),
    FormVector(
      "nested containers",
      "keyed%5Bearly%5D=3&list%5B%5D%5B%5D=y&list%5B%5D%5Bearly%5D=z&list%5B%5D=x&twice=2", ByHand()),
    FormVector("a raw-value enumeration", "a=WIDE", ["a": Width.wide]),
    FormVector(
      "a key and a value with delimiters", "a%26%3D%5B%5D=%23?%2B", ["a&=[]": "#?+"]),
    FormVector("every ASCII character", Self.asciiEscaped, ["a": String(decoding: 0..<128, as: UTF8.self)]),
    FormVector("two, three and four byte characters", "a=%C3%A9%E2%82%AC%F0%9F%98%83", ["a": "é€😃"]),
    FormVector(
      "20 000 Chinese characters", "a=" + String(repeating: "%E4%B8%80", count: 20_000),
      ["a": String(repeating: "一", count: 20_000)]),
  ]

  private enum Width: String, Encodable { case wide = "WIDE" }

  private struct DogBox: Encodable, Sendable {
    func encode(to encoder: any Encoder) throws { try Dog().encode(to: encoder) }
  }

  // The unreserved characters of RFC 3986, and the two that §3.4 allows in queries, aren't escaped.
  private static let asciiEscaped: String = {
    let kept = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?".utf8)
    return "a="
      + (UInt8.min..<128).map { kept.contains($0) ? String(UnicodeScalar($0)) : String(format: "%%%02X", Int($0)) }
      .joined()
  }()

  @Test("URLEncodedFormEncoder encodes each kind of value, such as a date or nil, as documented", arguments: values)
  func value(_ vector: FormVector) throws {
    #expect(try vector.encode() == vector.expected)
  }

  static let options: [FormVector] = [
    FormVector("array: brackets", "a%5B%5D=1&a%5B%5D=2", ["a": [2, 1]]),
    FormVector(
      "array: no brackets", "a=1&a=2", ["a": [1, 2]], with: { URLEncodedFormEncoder(arrayEncoding: .noBrackets) }),
    FormVector(
      "array: index", "a%5B0%5D=x&a%5B1%5D=y", ["a": ["x", "y"]],
      with: { URLEncodedFormEncoder(arrayEncoding: .indexInBrackets) }),
    FormVector(
      "array: index without gaps for nil", "a%5B0%5D=1&a%5B1%5D=3", ["a": [1, nil, 3]],
      with: { URLEncodedFormEncoder(arrayEncoding: .indexInBrackets) }),
    FormVector(
      "array: custom", "a.0=x&a.1=y", ["a": ["x", "y"]],
      with: { URLEncodedFormEncoder(arrayEncoding: .custom { "\($0).\($1)" }) }),
    FormVector("bool: numeric", "a=1&b=0", ["a": true, "b": false]),
    FormVector(
      "bool: literal", "a=true&b=false", ["a": true, "b": false],
      with: { URLEncodedFormEncoder(boolEncoding: .literal) }),
    FormVector("data: base64", "a=%2B/8%3D", ["a": Data([0xFB, 0xFF])]),
    FormVector(
      "data: deferred", "a%5B0%5D=251&a%5B1%5D=255", ["a": Data([0xFB, 0xFF])],
      with: { URLEncodedFormEncoder(arrayEncoding: .indexInBrackets, dataEncoding: .deferredToData) }),
    FormVector(
      "data: custom", "a=2%20bytes", ["a": Data([1, 2])],
      with: { URLEncodedFormEncoder(dataEncoding: .custom { "\($0.count) bytes" }) }),
    FormVector("date: deferred", "a=123.456", ["a": date]),
    FormVector(
      "date: seconds", "a=978307323.456", ["a": date],
      with: { URLEncodedFormEncoder(dateEncoding: .secondsSince1970) }),
    FormVector(
      "date: milliseconds", "a=978307323456.0", ["a": date],
      with: { URLEncodedFormEncoder(dateEncoding: .millisecondsSince1970) }),
    FormVector(
      "date: ISO 8601", "a=2001-01-01T00%3A02%3A03Z", ["a": date],
      with: { URLEncodedFormEncoder(dateEncoding: .iso8601) }),
    FormVector(
      "date: formatted", "a=2001-01-01%2000%3A02", ["a": date],
      with: {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy-MM-dd HH:mm"
        return URLEncodedFormEncoder(dateEncoding: .formatted(formatter))
      }),
    FormVector(
      "date: custom", "a=then", ["a": date], with: { URLEncodedFormEncoder(dateEncoding: .custom { _ in "then" }) }),
    FormVector(
      "date: in an optional", "a=then", ["a": Optional(date)],
      with: { URLEncodedFormEncoder(dateEncoding: .custom { _ in "then" }) }),
    FormVector(
      "key path: dots", "address.lines=a&address.lines=b&address.street=Main%20St&name=Ann", Person(),
      with: { URLEncodedFormEncoder(arrayEncoding: .noBrackets, keyPathEncoding: .dots) }),
    FormVector(
      "key path: custom", "a-b=1", ["a": ["b": 1]], with: { URLEncodedFormEncoder(keyPathEncoding: .init { "-\($0)" }) }
    ),
    FormVector("nil: drop the key", "z=1", Optionals()),
    FormVector(
      "nil: drop the value", "a=&b=&c=&d=&e=&f=&g=&h=&i=&j=&k=&l=&m=&n=&o=&p=&q=&r=&z=1", Optionals(),
      with: { URLEncodedFormEncoder(nilEncoding: .dropValue) }),
    FormVector(
      "nil: null", "a%5B%5D=1&a%5B%5D=null", ["a": [nil, 1]], with: { URLEncodedFormEncoder(nilEncoding: .null) }),
    FormVector(
      "nil: custom", "a=none", ["a": Int?.none], with: { URLEncodedFormEncoder(nilEncoding: .init { "none" }) }),
    FormVector("nil: dropped in a dictionary", "b=1", ["a": nil, "b": 1]),
    FormVector("nil: as the root", "", [String: Int]?.none),
    FormVector("space: percent", "a%20b=c%20d%2Be", ["a b": "c d+e"]),
    FormVector(
      "space: plus", "a+b=c+d%2Be", ["a b": "c d+e"], with: { URLEncodedFormEncoder(spaceEncoding: .plusReplaced) }),
    FormVector(
      "allowed: brackets", "a[]=1", ["a": [1]],
      with: { URLEncodedFormEncoder(allowedCharacters: .afURLQueryAllowed.union(CharacterSet(charactersIn: "[]"))) }),
    FormVector(
      "allowed: only a character outside ASCII, which is escaped all the same", "%61=%C3%A9", ["a": "é"],
      with: { URLEncodedFormEncoder(allowedCharacters: CharacterSet(charactersIn: "é")) }),
    FormVector(
      "allowed: a space, which the space encoding writes all the same", "a=%20", ["a": " "],
      with: { URLEncodedFormEncoder(allowedCharacters: CharacterSet(charactersIn: " a")) }),
    FormVector(
      "allowed: set after the encoder's creation", "%61=1", ["a": 1],
      with: {
        let encoder = URLEncodedFormEncoder()
        encoder.allowedCharacters = .decimalDigits
        return encoder
      }),
  ]

  @Test("each option of URLEncodedFormEncoder changes the encoded form as documented", arguments: options)
  func option(_ vector: FormVector) throws {
    #expect(try vector.encode() == vector.expected)
  }

  @Test(
    "each key encoding of the form encoder converts keys as expected, and splits camelCase like JSONEncoder",
    arguments: [
      ("oneTwoThree", "one_two_three", "OneTwoThree"),
      ("one", "one", "One"),
      ("", "", ""),
      ("A", "a", "A"),
      ("ABC", "a_bc", "ABC"),
      ("myURLPath", "my_url_path", "MyURLPath"),
      ("endsWithURL", "ends_with_url", "EndsWithURL"),
      ("one2Three", "one2_three", "One2Three"),
      ("already_snake", "already_snake", "Already_snake"),
      ("éÉé", "é_éé", "ÉÉé"),
    ])
  func keys(key: String, snake: String, capitalized: String) throws {
    func encoded(_ encoding: URLEncodedFormEncoder.KeyEncoding) throws -> String? {
      let form: String = try URLEncodedFormEncoder(keyEncoding: encoding).encode([key: "v"])
      return form.dropLast(2).removingPercentEncoding
    }

    #expect(try encoded(.useDefaultKeys) == key)
    #expect(try encoded(.convertToSnakeCase) == snake)
    #expect(try encoded(.convertToKebabCase) == snake.replacing(try Regex("_(?!snake)"), with: "-"))
    #expect(try encoded(.capitalized) == capitalized)
    #expect(try encoded(.uppercased) == key.uppercased())
    #expect(try encoded(.lowercased) == key.lowercased())
    #expect(try encoded(.custom { "<\($0)>" }) == "<\(key)>")
  }

  @Test(
    "the form encoder's convertToSnakeCase converts a key in the same way as JSONEncoder's",
    arguments: ["oneTwo", "URLs", "aURL", "ABc", "aBCDe1F", "x1Y", "HTTPSProxyURL"])
  func snakeCaseAgreesWithJSONEncoder(key: String) throws {
    let json = JSONEncoder()
    json.keyEncodingStrategy = .convertToSnakeCase
    let expected = String(decoding: try json.encode(AnyKey.Holder(key: key)), as: UTF8.self)
    let form: String = try URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase).encode([key: 1])
    #expect("{\"\(form.dropLast(2))\":1}" == expected)
  }

  @Test("the form encoder applies the key encoding to each key in a path of nested keys")
  func keyEncodingOfPath() throws {
    let encoder = URLEncodedFormEncoder(keyEncoding: .convertToSnakeCase)
    let form: String = try encoder.encode(["oneTwo": ["threeFour": [1]]])
    #expect(form == "one_two%5Bthree_four%5D%5B%5D=1")
  }

  @Test("if alphabetizeKeyValuePairs is false, the form encoder keeps the order in which key-value pairs were encoded")
  func encodingOrder() throws {
    let encoder = URLEncodedFormEncoder(alphabetizeKeyValuePairs: false)
    let form: String = try encoder.encode(Person())
    #expect(form == "name=Ann&address%5Bstreet%5D=Main%20St&address%5Blines%5D%5B%5D=a&address%5Blines%5D%5B%5D=b")
  }

  @Test(
    "the form encoder refuses a top-level value without keys, such as a number or an array",
    arguments: [[1, 2] as any Encodable & Sendable, [Int](), "a", 1, Date(timeIntervalSince1970: 0)])
  func invalidRoot(root: any Encodable & Sendable) {
    #expect {
      let _: String = try URLEncodedFormEncoder().encode(root)
    } throws: { error in
      guard case URLEncodedFormEncoder.Error.invalidRootObject(let text) = error else { return false }
      return error.localizedDescription == text && text.contains("dictionary")
    }
  }

  @Test("the form encoder rethrows an error that a custom encoding closure throws")
  func closureThrows() {
    struct Refusal: Error {}
    let encoder = URLEncodedFormEncoder(dateEncoding: .custom { _ in throw Refusal() })
    #expect(throws: Refusal.self) { let _: String = try encoder.encode(["a": [Date(timeIntervalSince1970: 0)]]) }
  }

  @Test("the form encoder produces the same bytes for a form as Data and as a String")
  func data() throws {
    let data: Data = try URLEncodedFormEncoder().encode(["a": "é"])
    #expect(data == Data("a=%C3%A9".utf8))
  }

  @Test("the encoded form of a dictionary with 50,000 keys contains each key once")
  func manyKeys() throws {
    let count = 50_000
    let form: String = try URLEncodedFormEncoder().encode(
      Dictionary(uniqueKeysWithValues: (0..<count).map { ("k\($0)", $0) }))
    #expect(Set(form.split(separator: "&")).count == count)
  }
}

/// A coding key that is created from any string at run time.
private struct AnyKey: CodingKey {
  struct Holder: Encodable {
    let key: String

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: AnyKey(stringValue: key))
    }
  }

  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }
}
