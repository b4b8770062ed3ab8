// ParameterEncodingTests: the three encodings of parameters.

import Foundation
import Testing

@testable import Alamofire4

@Suite struct ParameterEncodingTests {
  private func request(_ method: HTTPMethod = .get, _ url: String = "http://localhost/p?q=1") throws -> URLRequest {
    try URLRequest(url: url, method: method)
  }

  @Test(
    "URLEncoding writes the parameters, sorted by key, into the query for GET, HEAD and DELETE",
    arguments: [HTTPMethod.get, .head, .delete])
  func query(method: HTTPMethod) throws {
    let parameters: Parameters = ["b": 2, "a": "x y&", "c": ["z", "y"], "d": ["k": 1, "j": true]]
    let encoded = try URLEncoding.default.encode(try request(method), with: parameters)
    let text = encoded.url?.absoluteString
    #expect(text == "http://localhost/p?q=1&a=x%20y%26&b=2&c%5B%5D=z&c%5B%5D=y&d%5Bj%5D=1&d%5Bk%5D=1")
    #expect(encoded.httpBody == nil)
  }

  @Test("URLEncoding writes the parameters into the body for other methods, and sets the media type")
  func body() throws {
    let encoded = try URLEncoding.default.encode(try request(.post), with: ["b": 2, "a": 1.5])
    #expect(encoded.httpBody.map { String(decoding: $0, as: UTF8.self) } == "a=1.5&b=2")
    #expect(encoded.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded; charset=utf-8")
    #expect(encoded.url?.query == "q=1")
  }

  @Test("URLEncoding's options control the destination, array keys and the encoding of Bool values")
  func options() throws {
    let parameters: Parameters = ["list": [1, 2], "flag": false]
    let encoding = URLEncoding(destination: .queryString, arrayEncoding: .noBrackets, boolEncoding: .literal)
    let encoded = try encoding.encode(try request(.post), with: parameters)
    #expect(encoded.url?.query == "q=1&flag=false&list=1&list=2")
    #expect(encoding.destination == .queryString && encoding.arrayEncoding == .noBrackets)
    #expect(encoding.boolEncoding == .literal)
    #expect(try URLEncoding.httpBody.encode(try request(), with: ["a": 1]).httpBody == Data("a=1".utf8))
    #expect(URLEncoding.queryString.escape("é /?") == "%C3%A9%20/?")
    #expect(
      URLEncoding.methodDependent.queryComponents(fromKey: "k", value: ["b": 1, "a": 2]).map(\.0) == [
        "k%5Ba%5D", "k%5Bb%5D",
      ])
  }

  @Test("encoding parameters into the query of a request without a URL fails")
  func missingURL() throws {
    var request = try request()
    request.url = nil
    #expect {
      try URLEncoding.default.encode(request, with: ["a": 1])
    } throws: { error in
      guard case .parameterEncodingFailed(.missingURL)? = error as? AFError else { return false }
      return true
    }
  }

  @Test("JSONEncoding sorts the keys, and sets Content-Type unless the request already has this field")
  func json() throws {
    let encoded = try JSONEncoding.default.encode(try request(.post), with: ["b": [1, 2], "a": "x"])
    #expect(encoded.httpBody.map { String(decoding: $0, as: UTF8.self) } == "{\"a\":\"x\",\"b\":[1,2]}")
    #expect(encoded.value(forHTTPHeaderField: "Content-Type") == "application/json")
    let array = try JSONEncoding.prettyPrinted.encode(try request(.post), withJSONObject: [1])
    #expect(array.httpBody.map { String(decoding: $0, as: UTF8.self).contains("\n") } == true)
    let typed = try URLRequest(url: "http://localhost/", method: .post, headers: ["Content-Type": "application/x"])
    let kept = try JSONEncoding.default.encode(typed, with: [:])
    #expect(kept.value(forHTTPHeaderField: "Content-Type") == "application/x")
    #expect(try JSONEncoding.default.encode(try request(), with: nil).httpBody == nil)
  }

  @Test("JSONEncoding and PropertyListEncoding fail for values that their formats can't represent")
  func unrepresentable() throws {
    let request = try request(.post)
    #expect {
      try JSONEncoding.default.encode(request, with: ["a": Date()])
    } throws: { error in
      (error as? AFError)?.isParameterEncodingError == true && (error as? AFError)?.underlyingError != nil
    }
    #expect {
      try PropertyListEncoding.default.encode(request, with: ["a": NSNull()])
    } throws: { error in (error as? AFError)?.isParameterEncodingError == true }
    #expect {
      try PropertyListEncoding(format: .openStep).encode(request, with: ["a": 1])
    } throws: { error in (error as? AFError)?.isParameterEncodingError == true }
  }

  @Test(
    "PropertyListEncoding writes property lists as XML or in the binary format",
    arguments: [PropertyListEncoding.xml, .binary])
  func propertyLists(encoding: PropertyListEncoding) throws {
    let encoded = try encoding.encode(try request(.post), with: ["a": 1, "b": ["x"]])
    #expect(encoded.value(forHTTPHeaderField: "Content-Type") == "application/x-plist")
    var format = PropertyListSerialization.PropertyListFormat.openStep
    let object = try PropertyListSerialization.propertyList(
      from: try #require(encoded.httpBody), options: [], format: &format)
    #expect(format == encoding.format && (object as? [String: Any])?["a"] as? Int == 1)
  }

  @Test("the initializer of URLRequest with a URL, a method and header fields sets all of them")
  func requests() throws {
    let request = try URLRequest(url: "http://localhost/", method: .patch, headers: ["X-A": "1"])
    #expect(request.httpMethod == "PATCH" && request.value(forHTTPHeaderField: "X-A") == "1")
    #expect(HTTPMethod(rawValue: "TRACE") == .trace)
    #expect(throws: AFError.self) { try URLRequest(url: "", method: .get) }
    var components = URLComponents()
    components.host = "x"
    components.path = "relative"
    #expect(throws: AFError.self) { try components.asURL() }
    // Browsers read the host before the backslash, and RFC 3986 the one after it.
    #expect(throws: AFError.self) { try #"http://a.test\@b.test/"#.asURL() }
    #expect(request.urlRequest == request)
  }
}
