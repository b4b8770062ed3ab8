// URLEncodingTests: dictionaries of parameters as forms: the text of each value, and the form's place in the request.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct URLEncodingTests {
  private func form(_ parameters: Parameters, _ encoding: URLEncoding = .queryString) throws -> String? {
    try encoding.encode(URLRequest(url: "https://h/", method: .get), with: parameters).url?.query
  }

  @Test(
    "URLEncoding encodes each kind of value as the expected text",
    arguments: [
      ("x", "x"), (1, "1"), (-1, "-1"), (1.0, "1"), (0.1, "0.1"), (2.50, "2.5"), (1e20, "1e%2B20"), (-0.0, "-0"),
      (Float(0.1), "0.1"), (Float(3), "3"), (true, "1"), (false, "0"), (UInt64.max, "18446744073709551615"),
      (Int64.min, "-9223372036854775808"), (Int8(1), "1"), (UInt8(0), "0"), (NSNumber(value: true), "1"),
      (NSNumber(value: 1), "1"), (NSNumber(value: 1.0), "1"), (NSNumber(value: 1.5), "1.5"),
      (Decimal(string: "1.10") ?? 0, "1.1"), (NSNull(), "%3Cnull%3E"), (Optional("x"), "x"), (Optional(3), "3"),
      (Optional(true), "1"), (Int128.max, "\(Int128.max)"),
      (Data([1, 2, 3]), "3%20bytes"), (URL(filePath: "/a?"), "file%3A///a%253F"), ("", ""),
    ] as [(any Sendable, String)])
  func values(value: any Sendable, text: String) throws {
    #expect(try form(["a": value]) == "a=\(text)")
  }

  @Test("URLEncoding distinguishes Bool values from the numbers 0 and 1")
  func bools() throws {
    let values: [any Sendable] = [
      true, false, NSNumber(value: true), NSNumber(value: false), 1, 0, 1.0, NSNumber(value: 1), NSNumber(value: 0),
      NSNumber(value: 1.0), Int8(1), NSNumber(value: Int8(1)), Optional(true),
    ]
    let literal = values.map { URLEncoding(boolEncoding: .literal).queryComponents(fromKey: "a", value: $0)[0].1 }
    #expect(literal == ["true", "false", "true", "false", "1", "0", "1", "1", "0", "1", "1", "1", "true"])
    let numeric = values.map { URLEncoding().queryComponents(fromKey: "a", value: $0)[0].1 }
    #expect(numeric == ["1", "0", "1", "0", "1", "0", "1", "1", "0", "1", "1", "1", "1"])
    // JSONSerialization returns Foundation's objects, not Swift's types.
    let json = try JSONSerialization.jsonObject(with: Data("[true,1,0,false]".utf8))
    let parsed = URLEncoding(boolEncoding: .literal).queryComponents(fromKey: "a", value: json).map(\.1)
    #expect(parsed == ["true", "1", "0", "false"])
  }

  @Test("URLEncoding sorts the keys on every level")
  func order() throws {
    let parameters: Parameters = ["b": 1, "a": ["z": 1, "y": ["x": 2, "w": 3]] as [String: any Sendable], "B": 2]
    #expect(try form(parameters) == "B=2&a%5By%5D%5Bw%5D=3&a%5By%5D%5Bx%5D=2&a%5Bz%5D=1&b=1")
  }

  @Test("URLEncoding applies the array encoding to arrays on every level")
  func arrays() throws {
    let parameters: Parameters = ["a": [1, [2, 3], ["k": 4]] as [any Sendable], "e": [Int]()]
    #expect(try form(parameters) == "a%5B%5D=1&a%5B%5D%5B%5D=2&a%5B%5D%5B%5D=3&a%5B%5D%5Bk%5D=4")
    #expect(
      try form(parameters, URLEncoding(destination: .queryString, arrayEncoding: .noBrackets))
        == "a=1&a=2&a=3&a%5Bk%5D=4")
    #expect(
      try form(parameters, URLEncoding(destination: .queryString, arrayEncoding: .indexInBrackets))
        == "a%5B0%5D=1&a%5B1%5D%5B0%5D=2&a%5B1%5D%5B1%5D=3&a%5B2%5D%5Bk%5D=4")
    #expect(
      try form(
        ["a": [1, 2]],
        URLEncoding(destination: .queryString, arrayEncoding: .custom { key, index in "\(key).\(index + 1)" }))
        == "a.1=1&a.2=2")
  }

  @Test("URLEncoding encodes Foundation's collections in the same way as Swift's")
  func foundationCollections() {
    let value = NSDictionary(dictionary: ["k": NSArray(array: [1, "x" as NSString])])
    let components = URLEncoding().queryComponents(fromKey: "a", value: value)
    #expect(components.map { "\($0)=\($1)" } == ["a%5Bk%5D%5B%5D=1", "a%5Bk%5D%5B%5D=x"])
  }

  @Test("URLEncoding escapes all characters of keys and values except unreserved ones, / and ?")
  func escaping() throws {
    let ascii = String(decoding: UInt8(0x20)..<0x7F, as: UTF8.self)
    #expect(
      URLEncoding().escape(ascii)
        == "%20%21%22%23%24%25%26%27%28%29%2A%2B%2C-./0123456789%3A%3B%3C%3D%3E?%40ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        + "%5B%5C%5D%5E_%60abcdefghijklmnopqrstuvwxyz%7B%7C%7D~")
    #expect(try form(["kéy&": "日本=🐺"]) == "k%C3%A9y%26=%E6%97%A5%E6%9C%AC%3D%F0%9F%90%BA")
    let long = String(repeating: "一", count: 20_000)
    #expect(try form(["a": long]) == "a=" + String(repeating: "%E4%B8%80", count: 20_000))
  }

  @Test(
    "URLEncoding adds the form to the query for GET, HEAD and DELETE, and to the body for other methods",
    arguments: [(HTTPMethod.get, true), (.head, true), (.delete, true), (.post, false), (.put, false), (.query, false)])
  func methodDependent(method: HTTPMethod, isQuery: Bool) throws {
    let encoded = try URLEncoding.default.encode(URLRequest(url: "https://h/", method: method), with: ["a": 1])
    #expect(encoded.url?.query == (isQuery ? "a=1" : nil))
    #expect(encoded.httpBody == (isQuery ? nil : Data("a=1".utf8)))
    let type = isQuery ? nil : "application/x-www-form-urlencoded; charset=utf-8"
    #expect(encoded.headers["Content-Type"] == type)
  }

  @Test("an explicit destination of URLEncoding takes precedence over the request's method")
  func destination() throws {
    let body = try URLEncoding.httpBody.encode(URLRequest(url: "https://h/", method: .get), with: ["a": 1])
    #expect(body.httpBody == Data("a=1".utf8))
    #expect(body.url?.query == nil)
    let query = try URLEncoding.queryString.encode(URLRequest(url: "https://h/", method: .post), with: ["a": 1])
    #expect(query.httpBody == nil)
    #expect(query.url?.query == "a=1")
  }

  @Test(
    "URLEncoding appends the form to the URL's query, and leaves the URL unchanged if there are no parameters",
    arguments: [
      ("https://h/p?x=1", ["a": 1], "https://h/p?x=1&a=1"), ("https://h/p?#f", ["a": 1], "https://h/p?a=1#f"),
      ("https://h/p", [:], "https://h/p"), ("https://h/p?x#f", [:], "https://h/p?x#f"),
    ] as [(String, [String: Int], String)])
  func existingQuery(url: String, parameters: [String: Int], expected: String) throws {
    let encoded = try URLEncoding.default.encode(URLRequest(url: url, method: .get), with: parameters)
    #expect(encoded.url?.absoluteString == expected)
  }

  @Test("URLEncoding throws missingURL if the parameters belong in the query and the request has no URL")
  func missingURL() throws {
    var homeless = try URLRequest(url: "https://h/", method: .get)
    homeless.url = nil
    #expect {
      _ = try URLEncoding.default.encode(homeless, with: ["a": 1])
    } throws: { error in
      if case AFError.parameterEncodingFailed(.missingURL) = error { true } else { false }
    }
  }

  @Test("URLEncoding rethrows an error that asURLRequest throws")
  func invalidRequest() {
    struct Broken: URLRequestConvertible {
      func asURLRequest() throws -> URLRequest { try URLRequest(url: "", method: .get) }
    }
    #expect {
      _ = try URLEncoding.default.encode(Broken(), with: nil)
    } throws: { error in
      error.asAFError?.isInvalidURLError == true
    }
  }
}
