// URLResponse, HTTPURLResponse, and the metrics that contain responses.

import Foundation
import LupineEngine
import Testing

@testable import LupineURLSession

struct HTTPURLResponseTests {
  private static let url = URL(filePath: "/dir/last.txt")

  private func response(_ fields: [(String, String)], url: URL = Self.url) -> HTTPURLResponse {
    HTTPURLResponse(url: url, statusCode: 200, fields: Fields(fields))
  }

  @Test("HTTPURLResponse joins the values of a repeated field under the first spelling of the field's name")
  func repeated() {
    let response = response([("Vary", "a"), ("X", "1"), ("VARY", "b"), ("vary", "c")])
    #expect(response.value(forHTTPHeaderField: "vary") == "a, b, c")
    #expect(response.joinedFields.map { "\($0.name): \($0.value)" } == ["Vary: a, b, c", "X: 1"])
    #expect(response.allHeaderFields as? [String: String] == ["Vary": "a, b, c", "X": "1"])
    #expect(response.value(forHTTPHeaderField: "absent") == nil)
  }

  @Test("allHeaderFields spells field names as registered, and capitalizes other names unless they begin with x-")
  func spelling() {
    let response = response([
      ("content-type", "a"), ("ETag", "b"), ("x-request-id", "c"), ("www-authenticate", "d"), ("-a--b", "e"),
      ("vary", "f"), ("Vary", "g"),
    ])
    #expect(
      response.allHeaderFields as? [String: String]
        == [
          "Content-Type": "a", "ETag": "b", "x-request-id": "c", "WWW-Authenticate": "d", "-A--B": "e", "Vary": "f, g",
        ])
    #expect(response.joinedFields.first?.name == "content-type")
  }

  @Test("an HTTPURLResponse can be created with a dictionary of fields and a status code from 0 to 999")
  func initialize() throws {
    let made = try #require(
      HTTPURLResponse(url: Self.url, statusCode: 201, httpVersion: "HTTP/1.1", headerFields: ["a": "1"]))
    #expect(made.statusCode == 201 && made.value(forHTTPHeaderField: "a") == "1")
    let last = try #require(HTTPURLResponse(url: Self.url, statusCode: 999, httpVersion: nil, headerFields: nil))
    #expect(last.allHeaderFields.isEmpty)
    #expect(HTTPURLResponse(url: Self.url, statusCode: 1000, httpVersion: nil, headerFields: nil) == nil)
    #expect(HTTPURLResponse(url: Self.url, statusCode: -1, httpVersion: nil, headerFields: nil) == nil)
  }

  @Test("a plain URLResponse returns the values that were passed to its initializer")
  func plain() {
    let made = URLResponse(url: Self.url, mimeType: "a/b", expectedContentLength: 7, textEncodingName: "utf-8")
    #expect(made.url == Self.url)
    #expect(made.mimeType == "a/b")
    #expect(made.expectedContentLength == 7)
    #expect(made.textEncodingName == "utf-8")
    #expect(made.suggestedFilename == "last.txt")
  }

  @Test(
    "a response's mimeType and textEncodingName are the media type and the charset of Content-Type",
    arguments: [
      (nil, nil, nil),
      ("text/html", "text/html", nil),
      ("Text/HTML; Charset=\"ISO-8859-4\"", "text/html", "iso-8859-4"),
      ("text/plain;charset=utf-8;charset=latin1", "text/plain", "utf-8"),
      ("text/plain ; boundary=\"a;charset=b\" ; charset = utf-8 ", "text/plain", "utf-8"),
      ("text/plain; charset=", "text/plain", nil),
      ("; charset=utf-8", nil, "utf-8"),
      ("text/plain; charset=\"utf-8", "text/plain", "utf-8"),
      ("text/plain; charset=\"", "text/plain", nil),
      ("", nil, nil),
    ] as [(String?, String?, String?)])
  func contentType(field: String?, type: String?, charset: String?) {
    let response = response(field.map { [("Content-Type", $0)] } ?? [])
    #expect(response.mimeType == type)
    #expect(response.textEncodingName == charset)
  }

  @Test("a response with two Content-Type fields uses the last field")
  func repeatedContentType() {
    #expect(response([("Content-Type", "a/b"), ("content-type", "c/d")]).mimeType == "c/d")
  }

  @Test(
    "expectedContentLength is the value of Content-Length, or -1 if it is missing, malformed or ambiguous",
    arguments: [
      ([], -1),
      ([("content-length", "12")], 12),
      ([("Content-Length", "0")], 0),
      ([("Content-Length", "+1")], -1),
      ([("Content-Length", "-1")], -1),
      ([("Content-Length", "")], -1),
      ([("Content-Length", "99999999999999999999")], -1),
      ([("Content-Length", "5"), ("Content-Length", "7")], -1),
      ([("Content-Length", "5"), ("Transfer-Encoding", "chunked")], -1),
    ] as [([(String, String)], Int64)])
  func contentLength(fields: [(String, String)], length: Int64) {
    #expect(response(fields).expectedContentLength == length)
  }

  @Test(
    "expectedContentLength of a response with a content coding is -1 if its body is decoded", arguments: [true, false])
  func codedLength(isDecoded: Bool) {
    let fields = Fields([("Content-Length", "5"), ("Content-Encoding", "gzip")])
    let response = HTTPURLResponse(url: Self.url, statusCode: 200, fields: fields, isContentDecoded: isDecoded)
    #expect(response.expectedContentLength == (isDecoded ? -1 : 5))
  }

  @Test(
    "suggestedFilename is a single path component without invisible characters and special prefixes",
    arguments: [
      ("attachment", "last.txt"),
      ("attachment; filename=a.txt", "a.txt"),
      ("attachment; filename=my file.txt; x=y", "my file.txt"),
      (#"attachment; FileName="a \"b\".txt""#, #"a "b".txt"#),
      (#"attachment; filename="a;b.txt""#, "a;b.txt"),
      ("attachment; filename=\"e.txt\"; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
      ("attachment; filename*=iso-8859-1'en'%A3.txt; filename=e.txt", "£.txt"),
      ("attachment; filename*=UTF-8''%ff; filename=e.txt", "e.txt"),
      ("attachment; filename*=UTF-8''%4; filename=e.txt", "e.txt"),
      ("attachment; filename*=koi8-r''x; filename=e.txt", "e.txt"),
      ("attachment; filename*=x; filename=e.txt", "e.txt"),
      ("attachment; filename=\"../../etc/passwd\"", "passwd"),
      ("attachment; filename*=UTF-8''..%2F..%5Cx", "x"),
      ("attachment; filename*=UTF-8''a%2F%CC%B8b", "\u{338}b"),
      ("attachment; filename*=UTF-8''a%00%0Ab", "ab"),
      ("attachment; filename=\"..\"", "last.txt"), ("attachment; filename=\"a/ .. \"", "last.txt"),
      ("attachment; filename=\".\"", "last.txt"),
      ("attachment; filename=\"x/\"", "last.txt"),
      ("attachment; filename=\"\"", "last.txt"),
      ("attachment; filename=\"a\\", "last.txt"),
      // Controls, bidirectional controls, zero-width characters, line separators, fillers and tags.
      ("attachment; filename*=UTF-8''a%C2%9Bb%7F.txt", "ab.txt"),
      ("attachment; filename*=UTF-8''invoice%E2%80%AEfdp.exe", "invoicefdp.exe"),
      ("attachment; filename*=UTF-8''a%E2%81%A6%E2%80%8F%D8%9Cb.txt", "ab.txt"),
      ("attachment; filename*=UTF-8''a%E2%80%8B%E2%80%8D%EF%BB%BF%E2%81%A0b.txt", "ab.txt"),
      ("attachment; filename*=UTF-8''a%E2%80%A8%E2%80%A9b.txt", "ab.txt"),
      ("attachment; filename*=UTF-8''a%E3%85%A4%F3%A0%81%81b.txt", "ab.txt"),
      ("attachment; filename*=UTF-8''%E2%80%AE%E2%80%8B", "last.txt"),
      // Hidden files, home folders and drives.
      ("attachment; filename*=UTF-8''a.txt%20%09", "a.txt"),
      ("attachment; filename=.bashrc", "bashrc"), ("attachment; filename=\" . ..a.txt\"", "a.txt"),
      ("attachment; filename*=UTF-8''%E2%80%8B.profile", "profile"),
      ("attachment; filename=\"~root\"", "root"), ("attachment; filename=\"~\"", "last.txt"),
      ("attachment; filename=\"a~.txt\"", "a~.txt"), ("attachment; filename=\"C:a.exe\"", "a.exe"),
      ("attachment; filename=\"..c:~D:. a.txt\"", "a.txt"), ("attachment; filename=\"C:\"", "last.txt"),
      ("attachment; filename=\"ab:c\"", "ab:c"), ("attachment; filename=\"é:c\"", "é:c"),
      // A combining mark after a delimiter doesn't hide the delimiter.
      ("attachment; filename=\"\u{30C}a;b.txt\"; x=y", "\u{30C}a;b.txt"),
      ("attachment; filename=\"a\\\"\u{30C}.txt\"", "a\"\u{30C}.txt"),
      ("attachment;\u{301}; filename=a.txt;\u{301}", "a.txt"),
      ("attachment; filename*=UTF-8'en'\u{301}a.txt; filename=e.txt", "\u{301}a.txt"),
    ] as [(String, String?)])
  func suggestedFilename(disposition: String, name: String?) {
    #expect(response([("Content-Disposition", disposition)]).suggestedFilename == name)
  }

  @Test("if neither Content-Disposition nor the URL's path contains a name, suggestedFilename is Unknown")
  func fileNameFromURL() throws {
    #expect(response([], url: try #require(URL(string: "https://h/"))).suggestedFilename == "Unknown")
    #expect(response([], url: try #require(URL(string: "https://h/..%2Fb"))).suggestedFilename == "b")
    #expect(response([], url: try #require(URL(string: "https://h/.%E2%80%AEb"))).suggestedFilename == "b")
  }

  @Test("a suggestedFilename that would be too long is shortened, but keeps its extension")
  func longFileName() throws {
    let long = String(repeating: "é", count: 200)
    let kept = try #require(FileName(suggested: "\(long).tar"))
    #expect(kept.string.utf8.count == 254)
    #expect(kept.string.hasSuffix("é.tar"))
    let dotless = try #require(FileName(suggested: "a." + String(repeating: "b", count: 300)))
    #expect(dotless.string.utf8.count == 255)
    // Truncating leaves no space at the end.
    #expect(FileName(suggested: String(repeating: "a", count: 254) + " b")?.string.utf8.count == 254)
    #expect(FileName(suggested: ".." + String(repeating: " ", count: 300) + "x")?.string == "x")
  }

  @Test(
    "each known status code has a description, and other codes have the description of their class",
    arguments: [
      (200, "no error"), (404, "not found"), (199, "informational"), (299, "success"), (399, "redirected"),
      (499, "client error"), (599, "server error"), (-1, "unknown status"),
    ])
  func statusText(code: Int, text: String) {
    #expect(HTTPURLResponse.localizedString(forStatusCode: code) == text)
  }

  @Test("the metrics of a transaction without a response have an unknown resourceFetchType")
  func fetchType() {
    let request = URLRequest(url: Self.url)
    let failed = URLSessionTaskTransactionMetrics(request: request)
    let loaded = URLSessionTaskTransactionMetrics(
      request: request, response: response([]), negotiatedTLSProtocolVersion: .TLSv13,
      negotiatedTLSCipherSuite: tls_ciphersuite_t(rawValue: 0x1301))
    #expect(failed.resourceFetchType == .unknown)
    #expect(loaded.resourceFetchType == .networkLoad)
    #expect(loaded.negotiatedTLSProtocolVersion?.rawValue == 0x0304)
    let metrics = URLSessionTaskMetrics(
      URLSessionTaskMetrics.Values(
        transactionMetrics: [failed, loaded], taskInterval: DateInterval(start: .distantPast, duration: 2),
        redirectCount: 1))
    #expect(metrics.transactionMetrics.count == 2)
    #expect(metrics.taskInterval.duration == 2)
    #expect(metrics.redirectCount == 1)
  }
}
