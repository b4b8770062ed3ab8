// HTTPHeader and HTTPHeaders: the order of fields, case-insensitive names, literals and the default fields.

import Foundation
import LupineEngine
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

struct HTTPHeadersTests {
  @Test("adding a field to HTTPHeaders replaces a field whose name differs only in case, at the same position")
  func updateInPlace() {
    var headers = HTTPHeaders([HTTPHeader(name: "a", value: "1"), HTTPHeader(name: "b", value: "2")])
    headers.add(name: "A", value: "3")
    #expect(Array(headers) == [HTTPHeader(name: "A", value: "3"), HTTPHeader(name: "b", value: "2")])
    headers.update(HTTPHeader(name: "B", value: "4"))
    headers.add(HTTPHeader(name: "c", value: "5"))
    #expect(headers.description == "A: 3\nB: 4\nc: 5")
  }

  @Test("an HTTPHeaders literal keeps the fields' order, and a repeated name keeps its first position and last value")
  func literals() {
    let dictionary: HTTPHeaders = ["z": "1", "a": "2", "Z": "3"]
    let array: HTTPHeaders = [.init(name: "Z", value: "3"), .init(name: "a", value: "2")]
    #expect(dictionary == array)
    #expect(dictionary.dictionary == ["Z": "3", "a": "2"])
  }

  @Test("HTTPHeaders created from a dictionary sorts the fields by name, so that requests are reproducible")
  func fromDictionary() {
    #expect(HTTPHeaders(["c": "3", "a": "1", "b": "2"]).map(\.name) == ["a", "b", "c"])
    #expect(HTTPHeaders(["b": "2", "B": "1"]).count == 1)
  }

  @Test("the headers of an HTTPURLResponse are in the order received, and the values of a repeated name are joined")
  func ofResponse() {
    let fields: Fields = ["vary": "a", "X": "1", "VARY": "b"]
    let response = HTTPURLResponse(url: URL(filePath: "/"), statusCode: 200, fields: fields)
    #expect(response.headers.description == "vary: a, b\nX: 1")
  }

  @Test("looking up or removing a field in HTTPHeaders ignores the case of ASCII letters only")
  func lookup() {
    var headers: HTTPHeaders = ["Content-Type": "text/plain", "X[": "1"]
    #expect(headers["content-TYPE"] == "text/plain")
    #expect(headers.value(for: "CONTENT-type") == "text/plain")
    // "[" and "{" differ in the same bit as the cases of a letter, but aren't letters.
    #expect(headers["X{"] == nil)
    headers.remove(name: "CONTENT-TYPE")
    headers.remove(name: "absent")
    #expect(headers.map(\.name) == ["X["])
    headers["x["] = nil
    #expect(headers.isEmpty)
    headers["New"] = "1"
    #expect(headers[0] == HTTPHeader(name: "New", value: "1"))
  }

  @Test("sorting HTTPHeaders orders the fields by name, ignoring case")
  func sorting() {
    let headers: HTTPHeaders = ["b": "1", "C": "2", "A": "3"]
    #expect(headers.sorted().map(\.name) == ["A", "b", "C"])
    #expect(headers.map(\.name) == ["b", "C", "A"])
  }

  @Test(
    "each static factory of HTTPHeader creates the field that it is named after",
    arguments: [
      (HTTPHeader.accept("a"), "Accept: a"),
      (.acceptCharset("a"), "Accept-Charset: a"),
      (.acceptEncoding("a"), "Accept-Encoding: a"),
      (.acceptLanguage("a"), "Accept-Language: a"),
      (.authorization("a"), "Authorization: a"),
      (.authorization(bearerToken: "a"), "Authorization: Bearer a"),
      (
        .authorization(username: "Aladdin", password: "open sesame"),
        "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
      ),
      (.contentDisposition("a"), "Content-Disposition: a"),
      (.contentEncoding("a"), "Content-Encoding: a"),
      (.contentType("a"), "Content-Type: a"),
      (.userAgent("a"), "User-Agent: a"),
      (.websocketProtocol("a"), "Sec-WebSocket-Protocol: a"),
    ])
  func shorthands(header: HTTPHeader, line: String) {
    #expect(header.description == line)
  }

  @Test("the default header fields are Accept-Encoding, Accept-Language and User-Agent")
  func defaults() {
    #expect(HTTPHeaders.default.map(\.name) == ["Accept-Encoding", "Accept-Language", "User-Agent"])
    #expect(HTTPHeader.defaultAcceptEncoding.value == AcceptEncoding.session)
    #expect(HTTPHeader.defaultAcceptLanguage.value.contains(";q=1.0"))
    #expect(HTTPHeader.defaultUserAgent.value.hasSuffix("Lupine/\(AFInfo.version)"))
  }

  @Test(
    "the default Accept-Language contains the locales of the environment variables as language tags",
    arguments: [
      ([:], ["en"]),
      (["LANG": "de_CH.UTF-8"], ["de-CH"]),
      (["LANG": "C"], ["en"]),
      (["LANG": "C.UTF-8"], ["en"]),
      (["LANG": "POSIX"], ["en"]),
      (["LANG": "sr_RS@latin"], ["sr-RS"]),
      (["LANG": "de", "LC_MESSAGES": "fr"], ["fr"]),
      (["LANG": "de", "LC_MESSAGES": "fr", "LC_ALL": "it"], ["it"]),
      (["LANG": "de", "LC_ALL": "it", "LANGUAGE": "rm:de_CH:rm"], ["rm", "de-CH"]),
      (["LANG": "de", "LANGUAGE": ""], ["de"]),
      (["LANG": "a\r\nX: y"], ["en"]),
      (["LANG": "abcdefghi"], ["en"]),
      (["LANG": "de__CH"], ["en"]),
      (["LANGUAGE": "a:b:c:d:e:f:g:h"], ["a", "b", "c", "d", "e", "f"]),
    ] as [([String: String], [String])])
  func languages(environment: [String: String], tags: [String]) {
    #expect(HTTPHeader.acceptedLanguages(environment: environment) == tags)
  }

  @Test("the quality values in the default Accept-Language decrease by 0.1 with each language")
  func languageQuality() {
    #expect(HTTPHeader.qualityEncoded(["de-CH", "fr", "en"]) == "de-CH;q=1.0, fr;q=0.9, en;q=0.8")
    #expect(HTTPHeader.qualityEncoded(Array("abcdef").map(String.init)).hasSuffix("f;q=0.5"))
  }

  @Test("the default User-Agent contains the program, the bundle and the kernel, and replaces forbidden characters")
  func userAgent() {
    let system = OperatingSystemVersion(majorVersion: 6, minorVersion: 8, patchVersion: 1)
    let bundle = [
      "CFBundleExecutable": "tool", "CFBundleShortVersionString": "1.2", "CFBundleIdentifier": "org.example.tool",
      "CFBundleVersion": "7",
    ]
    let full = HTTPHeader.describeProduct(bundle: bundle, executablePath: "/bin/other", system: system)
    #expect(full == "tool/1.2 (org.example.tool; build:7; Linux 6.8.1) Lupine/\(AFInfo.version)")
    let bare = HTTPHeader.describeProduct(bundle: [:], executablePath: "/opt/my tool\r\n", system: system)
    #expect(bare.hasPrefix("my_tool__/Unknown (Unknown; build:Unknown; Linux 6.8.1)"))
    let none = HTTPHeader.describeProduct(bundle: [:], executablePath: nil, system: system)
    #expect(none.hasPrefix("Unknown/Unknown "))
  }
}
