// ParameterEncoderTests: where encodable parameters go in a request, and the Content-Type that they set.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct ParameterEncoderTests {
  private func request(_ url: String = "https://example.org/path", method: HTTPMethod = .get) throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: url)))
    request.method = method
    return request
  }

  private static let parameters = ["b": "2 3", "a": "é"]
  private static let form = "a=%C3%A9&b=2%203"

  @Test(
    "the form encoder adds parameters to the query for GET, HEAD and DELETE, and to the body for other methods",
    arguments: [
      (HTTPMethod.get, true), (.head, true), (.delete, true), (.post, false), (.put, false), (.patch, false),
      (.options, false), (.query, false), (HTTPMethod(rawValue: "PURGE"), false),
    ])
  func methodDependent(method: HTTPMethod, isQuery: Bool) throws {
    let encoded = try URLEncodedFormParameterEncoder.default.encode(Self.parameters, into: request(method: method))
    #expect(encoded.url?.query == (isQuery ? Self.form : nil))
    #expect(encoded.httpBody == (isQuery ? nil : Data(Self.form.utf8)))
    let type = isQuery ? nil : "application/x-www-form-urlencoded; charset=utf-8"
    #expect(encoded.value(forHTTPHeaderField: "Content-Type") == type)
  }

  @Test("an explicit destination of the form encoder takes precedence over the request's method")
  func destination() throws {
    let body = try URLEncodedFormParameterEncoder(destination: .httpBody).encode(Self.parameters, into: request())
    #expect(body.url?.query == nil)
    #expect(body.httpBody == Data(Self.form.utf8))

    let query = try URLEncodedFormParameterEncoder(destination: .queryString)
      .encode(Self.parameters, into: request(method: .post))
    #expect(query.url?.query == Self.form)
    #expect(query.httpBody == nil)
  }

  @Test(
    "the form encoder appends parameters to the URL's existing query, before the fragment",
    arguments: [
      ("https://h/p", "https://h/p?a=1"),
      ("https://h", "https://h?a=1"),
      ("https://h/p?x=%20", "https://h/p?x=%20&a=1"),
      ("https://h/p?", "https://h/p?a=1"),
      ("https://h/p?x=?", "https://h/p?x=?&a=1"),
      ("https://h/p#f?g", "https://h/p?a=1#f?g"),
      ("https://h/p?x#f", "https://h/p?x&a=1#f"),
      ("https://u:p@[::1]:8080/%C3%A9", "https://u:p@[::1]:8080/%C3%A9?a=1"),
    ])
  func existingQuery(url: String, expected: String) throws {
    let encoded = try URLEncodedFormParameterEncoder.default.encode(["a": 1], into: request(url))
    #expect(encoded.url?.absoluteString == expected)
  }

  @Test("the form encoder resolves a relative URL against its base URL before it adds parameters")
  func relativeURL() throws {
    let base = try #require(URL(string: "https://example.org/a/"))
    let url = try #require(URL(string: "b", relativeTo: base))
    let encoded = try URLEncodedFormParameterEncoder.default.encode(["a": 1], into: URLRequest(url: url))
    #expect(encoded.url?.absoluteString == "https://example.org/a/b?a=1")
  }

  @Test(
    "encoding empty parameters doesn't change the URL", arguments: ["https://h/p", "https://h/p?", "https://h/p?x=1#f"])
  func emptyParameters(url: String) throws {
    let encoded = try URLEncodedFormParameterEncoder.default.encode([String: Int](), into: request(url))
    #expect(encoded.url?.absoluteString == url)
  }

  @Test("encoding nil instead of parameters doesn't change the request")
  func noParameters() throws {
    let plain = try request(method: .post)
    #expect(try URLEncodedFormParameterEncoder.default.encode([String: Int]?.none, into: plain) == plain)
    #expect(try JSONParameterEncoder.default.encode([String: Int]?.none, into: plain) == plain)
  }

  @Test("encoding parameters keeps a Content-Type field that is already set in the request")
  func existingType() throws {
    var typed = try request(method: .post)
    typed.setValue("text/x-own", forHTTPHeaderField: "content-type")
    let form = try URLEncodedFormParameterEncoder.default.encode(Self.parameters, into: typed)
    #expect(form.value(forHTTPHeaderField: "Content-Type") == "text/x-own")
    let json = try JSONParameterEncoder.default.encode(Self.parameters, into: typed)
    #expect(json.value(forHTTPHeaderField: "Content-Type") == "text/x-own")
  }

  @Test("JSONParameterEncoder writes parameters to the body with every method", arguments: [HTTPMethod.get, .post])
  func json(method: HTTPMethod) throws {
    let encoded = try JSONParameterEncoder.sortedKeys.encode(Self.parameters, into: request(method: method))
    #expect(encoded.httpBody == Data(#"{"a":"é","b":"2 3"}"#.utf8))
    #expect(encoded.value(forHTTPHeaderField: "Content-Type") == "application/json")
  }

  @Test("each static member of ParameterEncoder creates the encoder that it is named after")
  func staticMembers() throws {
    func encoded(_ encoder: some ParameterEncoder, method: HTTPMethod = .post) throws -> String {
      String(decoding: try encoder.encode(["a": 1], into: request(method: method)).httpBody ?? Data(), as: UTF8.self)
    }

    let own = JSONEncoder()
    own.outputFormatting = .prettyPrinted
    #expect(try encoded(.json) == #"{"a":1}"#)
    #expect(try encoded(.json(encoder: own)) == "{\n  \"a\" : 1\n}")
    #expect(try encoded(JSONParameterEncoder.prettyPrinted) == "{\n  \"a\" : 1\n}")
    #expect(try encoded(.urlEncodedForm) == "a=1")
    #expect(try encoded(.urlEncodedForm(destination: .httpBody), method: .get) == "a=1")
    #expect(try encoded(.urlEncodedForm(encoder: URLEncodedFormEncoder(keyEncoding: .uppercased))) == "A=1")
  }

  @Test(
    "if an encoder doesn't support the parameters, a ParameterEncoder throws an AFError that wraps the encoder's error")
  func encodingFails() throws {
    #expect {
      _ = try URLEncodedFormParameterEncoder.default.encode([1], into: request())
    } throws: { error in
      guard case AFError.parameterEncoderFailed(.encoderFailed(let inner)) = error else { return false }
      return inner is URLEncodedFormEncoder.Error
    }
    #expect {
      _ = try JSONParameterEncoder.default.encode([Double.infinity], into: request())
    } throws: { error in
      guard case AFError.parameterEncodingFailed(.jsonEncodingFailed(let inner)) = error else { return false }
      return inner is EncodingError
    }
  }

  @Test("a request whose parameters can't be encoded fails with the encoder's AFError, and isn't sent")
  func failedRequests() async throws {
    try await withSession { session in
      let url = "http://127.0.0.1:1"
      let form = session.request(url, method: .post, parameters: [1], encoder: URLEncodedFormParameterEncoder.default)
      #expect(await form.outcome().error?.isParameterEncoderError == true)
      let json = session.request(
        url, method: .post, parameters: [Double.infinity], encoder: JSONParameterEncoder.default)
      #expect(await json.outcome().error?.isParameterEncodingError == true)
      let dictionary = session.request(url, method: .post, parameters: ["a": Date.now], encoding: JSONEncoding.default)
      #expect(await dictionary.outcome().error?.isParameterEncodingError == true)
      for request in [form, json, dictionary] { #expect(request.requests.isEmpty && request.tasks.isEmpty) }
    }
  }

  @Test("encoding parameters in the query of a request without a URL throws missingRequiredComponent")
  func missingURL() throws {
    var homeless = try request()
    homeless.url = nil
    #expect {
      _ = try URLEncodedFormParameterEncoder.default.encode(["a": 1], into: homeless)
    } throws: { error in
      if case AFError.parameterEncoderFailed(.missingRequiredComponent(.url)) = error { true } else { false }
    }
  }

  @Test(
    "if the form encoder allows characters that a URL can't contain, encoding throws invalidURL and doesn't trap",
    arguments: ["<>", "\"", "[", " {", "^|"])
  func invalidQuery(text: String) throws {
    let allowing = URLEncodedFormEncoder(allowedCharacters: CharacterSet(charactersIn: "a" + text))
    let encoder = URLEncodedFormParameterEncoder(encoder: allowing)
    #expect {
      _ = try encoder.encode(["a": text], into: request())
    } throws: { error in
      guard case AFError.parameterEncoderFailed(.encoderFailed(AFError.invalidURL(let url))) = error else {
        return false
      }
      return "\(url)".hasSuffix("?a=" + text.replacing(" ", with: "%20"))
    }
  }
}
