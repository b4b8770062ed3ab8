// ParameterEncodingTests: dictionaries of parameters as JSON and as property lists, alone and in a session's requests.

import Foundation
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct ParameterEncodingTests {
  private func request(_ method: HTTPMethod = .post) throws -> URLRequest {
    try URLRequest(url: "https://example.org/path", method: method)
  }

  private func json(_ object: Any?, _ encoding: JSONEncoding = .default) throws -> String? {
    try encoding.encode(request(), withJSONObject: object).httpBody.map { String(decoding: $0, as: UTF8.self) }
  }

  // MARK: JSON

  @Test("JSONEncoding writes the parameters to the body, whatever the method", arguments: [HTTPMethod.get, .post])
  func jsonBody(method: HTTPMethod) throws {
    let parameters: Parameters = ["a": [1, 2.5, true, "é", NSNull()] as [any Sendable], "b": ["c": "d"]]
    let encoded = try JSONEncoding(options: .sortedKeys).encode(request(method), with: parameters)
    #expect(encoded.httpBody == Data(#"{"a":[1,2.5,true,"é",null],"b":{"c":"d"}}"#.utf8))
    #expect(encoded.value(forHTTPHeaderField: "Content-Type") == "application/json")
    #expect(encoded.url?.absoluteString == "https://example.org/path")
  }

  @Test("JSONEncoding distinguishes Bool values from numbers")
  func jsonNumbers() throws {
    #expect(try json([NSNumber(value: true), NSNumber(value: 1), NSNumber(value: Int8(1)), 1.0]) == "[true,1,1,1]")
    #expect(try json([UInt64.max, Int64.min] as [any Sendable]) == "[18446744073709551615,-9223372036854775808]")
  }

  @Test("JSONEncoding accepts an array as the top-level value, and a single value only with fragmentsAllowed")
  func jsonRoots() throws {
    #expect(try json([1, 2]) == "[1,2]")
    #expect(try json([String: Int]()) == "{}")
    #expect(try json("x", JSONEncoding(options: .fragmentsAllowed)) == #""x""#)
    #expect(throws: AFError.self) { try json("x") }
  }

  @Test("JSONEncoding indents the JSON if the option prettyPrinted is set")
  func prettyJSON() throws {
    #expect(try json(["a": 1], .prettyPrinted) == "{\n  \"a\" : 1\n}")
    #expect(JSONEncoding.prettyPrinted.options == .prettyPrinted)
    #expect(JSONEncoding.default.options == [])
  }

  @Test("encoding nil instead of parameters doesn't change the request")
  func noParameters() throws {
    let plain = try request()
    #expect(try JSONEncoding.default.encode(plain, with: nil) == plain)
    #expect(try JSONEncoding.default.encode(plain, withJSONObject: nil) == plain)
    #expect(try JSONEncoding.default.encode(plain) == plain)
    #expect(try PropertyListEncoding.default.encode(plain, with: nil) == plain)
    #expect(try URLEncoding.default.encode(plain, with: nil) == plain)
  }

  @Test("encoding parameters keeps a Content-Type field that is already set in the request")
  func existingType() throws {
    var typed = try request()
    typed.setValue("text/x-own", forHTTPHeaderField: "content-type")
    for encoding in [JSONEncoding.default, PropertyListEncoding.default, URLEncoding.default] as [any ParameterEncoding]
    {
      let encoded = try encoding.encode(typed, with: ["a": 1])
      #expect(encoded.headers["Content-Type"] == "text/x-own")
      #expect(encoded.httpBody != nil)
    }
  }

  @Test(
    "JSONEncoding throws invalidJSONObject for a value that JSON can't represent, and doesn't trap",
    arguments: [["a": Date.now], ["a": Double.nan], ["a": [Data()]], ["a": Int128.max]] as [Parameters])
  func invalidJSON(parameters: Parameters) throws {
    #expect {
      _ = try JSONEncoding.default.encode(request(), with: parameters)
    } throws: { error in
      guard case AFError.parameterEncodingFailed(.jsonEncodingFailed(let inner as JSONEncoding.Error)) = error else {
        return false
      }
      return inner == .invalidJSONObject && error.localizedDescription.contains(inner.localizedDescription)
    }
    #expect(throws: AFError.self) { try json([1: 2]) }
  }

  // MARK: Property lists

  @Test("PropertyListEncoding writes the parameters in XML or binary format")
  func propertyList() throws {
    let parameters: Parameters = ["a": 1, "d": Data([1]), "t": Date(timeIntervalSince1970: 0), "y": true]
    let xml = try PropertyListEncoding.default.encode(request(), with: parameters)
    #expect(xml.headers["Content-Type"] == "application/x-plist")
    #expect(
      String(decoding: try #require(xml.httpBody), as: UTF8.self) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>a</key>
        \t<integer>1</integer>
        \t<key>d</key>
        \t<data>
        \tAQ==
        \t</data>
        \t<key>t</key>
        \t<date>1970-01-01T00:00:00Z</date>
        \t<key>y</key>
        \t<true/>
        </dict>
        </plist>

        """)
    #expect(try PropertyListEncoding.xml.encode(request(), with: parameters) == xml)

    let binary = try #require(PropertyListEncoding.binary.encode(request(), with: ["a": "b"]).httpBody)
    #expect(binary.starts(with: Data("bplist00".utf8)))
    #expect(try PropertyListDecoder().decode([String: String].self, from: binary) == ["a": "b"])
  }

  @Test(
    "PropertyListEncoding refuses a value that a property list can't represent",
    arguments: [["a": NSNull()], ["a": Int128.max]] as [Parameters])
  func invalidPropertyList(parameters: Parameters) throws {
    for encoding in [PropertyListEncoding.xml, .binary] {
      #expect {
        _ = try encoding.encode(request(), with: parameters)
      } throws: { error in
        if case AFError.parameterEncodingFailed(.customEncodingFailed) = error { true } else { false }
      }
    }
  }

  // MARK: Sessions

  @Test(
    "the request modifier is called before the parameters are encoded, and an encoding error makes the request fail")
  func session() async throws {
    struct Failure: Error {}
    struct Failing: ParameterEncoding {
      func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        throw Failure()
      }
    }

    try await withSession { session in
      let encoded = session.request(
        "https://example.org/", method: .post, parameters: ["a": 1.0, "b": "x y"], encoding: URLEncoding.default,
        headers: ["X-Own": "1"], requestModifier: { $0.httpMethod = "GET" })
      let request = try encoded.convertible.asURLRequest()
      #expect(request.url?.absoluteString == "https://example.org/?a=1&b=x%20y")
      #expect(request.headers["X-Own"] == "1")

      let plain = session.request("https://example.org/")
      #expect(try plain.convertible.asURLRequest() == URLRequest(url: "https://example.org/", method: .get))

      let failing = session.request("https://example.org/", parameters: ["a": 1], encoding: Failing())
      let response = await failing.serializingData().response
      #expect(response.error?.isCreateURLRequestError == true)
      #expect(response.error?.underlyingError is Failure)
    }
  }

  @Test("a server receives the parameters that the request's encoder has encoded")
  func overTheWire() async throws {
    try await withServer { request in
      .text("\(request.method) \(request.target) " + String(decoding: request.body, as: UTF8.self))
    } _: { origin in
      try await withSession { session in
        let query = await session.request(
          origin.url + "/p", parameters: ["a": [1, 2], "b": true], encoding: URLEncoding(boolEncoding: .literal)
        ).serializingString().response
        #expect(query.value == "GET /p?a%5B%5D=1&a%5B%5D=2&b=true ")
        let body = await session.request(
          origin.url + "/p", method: .put, parameters: ["a": true], encoding: JSONEncoding.default
        ).serializingString().response
        #expect(body.value == #"PUT /p {"a":true}"#)
      }
    }
  }
}
