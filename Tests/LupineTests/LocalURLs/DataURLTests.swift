// `DataURL`: the content and type that data: URLs decode to, malformed ones, and requests for them.

import Foundation
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct DataURLTests {
  struct Vector: Sendable, CustomTestStringConvertible {
    let url: String
    var type = "text/plain"
    var charset: String?
    let content: [UInt8]

    var testDescription: String { url }

    init(_ url: String, _ type: String, _ charset: String?, _ content: String) {
      (self.url, self.type, self.charset, self.content) = (url, type, charset, Array(content.utf8))
    }

    init(_ url: String, _ content: [UInt8]) { (self.url, self.content) = (url, content) }
    init(_ url: String, _ content: String) { self.init(url, Array(content.utf8)) }
  }

  static let vectors: [Vector] = [
    // RFC 2397 §4.
    Vector("data:,A%20brief%20note", "A brief note"),
    Vector("data:text/plain;charset=iso-8859-7,%beg%be", "text/plain", "iso-8859-7", "")
      .with([0xBE, UInt8(ascii: "g"), 0xBE]),
    Vector(
      "data:application/vnd-xxx-query,select_vcount,fcol_from_fieldtable/local", "application/vnd-xxx-query", nil,
      "select_vcount,fcol_from_fieldtable/local"),
    // Media types.
    Vector("data:,", ""),
    Vector("DATA:Text/HTML,x", "text/html", nil, "x"),
    Vector("data:;charset=UTF-8,%C3%A9", "text/plain", "utf-8", "é"),
    Vector("data:;a=b,x", "text/plain", nil, "x"),
    Vector("data:text/plain%20;%20charset=utf-8%20,x", "text/plain", "utf-8", "x"),
    Vector("data:text/plain;charset=%22utf-8%22,x", "text/plain", "utf-8", "x"),
    Vector("data:text/plain;a=%22;charset=b%5C%22%22;charset=c;charset=d,x", "text/plain", "c", "x"),
    Vector("data:;charset=utf-8;charset=utf-16;image/png,x", "text/plain", "utf-8", "x"),
    Vector("data:text/plain;charset,x", "text/plain", nil, "x"),
    Vector("data:text/plain;charset%20=a,x", "text/plain", nil, "x"),
    Vector("data:text/plain;base64;charset=utf-8,x", "text/plain", "utf-8", "x"),
    Vector("data:image/svg+xml,%3Csvg/%3E#frag,ment", "image/svg+xml", nil, "<svg/>"),
    // Percent-encoding: any byte, the comma, the plus sign.
    Vector("data:,%00%7f%80%FF", [0x00, 0x7F, 0x80, 0xFF]),
    Vector("data:,a,b+c%2c%2B", "a,b+c,+"),
    Vector("data:,é", "é"),
    // Base64.
    Vector("data:;base64,", ""),
    Vector("data:;BASE64,QUJD", "ABC"),
    Vector("data:;base64,QUI=", "AB"),
    Vector("data:;base64,QQ==", "A"),
    Vector("data:;base64,QUI", "AB"),
    Vector("data:;base64,QQ", "A"),
    Vector("data:;base64,QQ%3D%3d", "A"),
    Vector("data:;base64,%20Q%0D%0AU%09JD%0C", "ABC"),
    Vector("data:;base64,+/%2B%2f", [0xFB, 0xFF, 0xBF]),
    Vector("data:image/gif;base64,R0lGODlhAQABAAAAACw=", "image/gif", nil, "").with(
      [0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0, 0, 0, 0, 0x2C]),
    Vector("data:text/plain;charset=utf-8;base64,w6k", "text/plain", "utf-8", "é"),
  ]

  @Test("a data URL is decoded to its content, media type and charset", arguments: vectors)
  func decodes(vector: Vector) throws {
    let data = try DataURL(vector.url)
    #expect(Array(data.content) == vector.content)
    #expect(data.mediaType == vector.type && data.charset == vector.charset)
  }

  @Test(
    "a malformed data URL is refused with an error that states the reason",
    arguments: [
      ("http://a/,b", .otherScheme), ("dat", .otherScheme), ("", .otherScheme), ("file:///a,b", .otherScheme),
      ("data:", .missingComma), ("data:text/plain", .missingComma), ("data:text/plain#,", .missingComma),
      ("data:text,x", .malformedMediaType), ("data:/plain,x", .malformedMediaType),
      ("data:text/,x", .malformedMediaType), ("data:base64,QQ==", .malformedMediaType),
      ("data:;,x", .malformedMediaType),
      ("data:text/plain;charset=,x", .malformedMediaType), ("data:text/plain;=x,x", .malformedMediaType),
      ("data:text/plain;charset=%22utf-8,x", .malformedMediaType),
      ("data:text/plain;charset=%22utf-8%5C,x", .malformedMediaType),
      ("data:text/plain;charset=%22a%22b,x", .malformedMediaType), ("data:text/plain%0A,x", .malformedMediaType),
      ("data:t%C3%A9xt/plain,x", .malformedMediaType),
      ("data:,%", .malformedEscape(at: 6)), ("data:,a%4", .malformedEscape(at: 7)),
      ("data:,%zz", .malformedEscape(at: 6)), ("data:,%4%41", .malformedEscape(at: 6)),
      ("data:te%xt/plain,", .malformedEscape(at: 7)), ("data:;base64,%Q", .malformedEscape(at: 13)),
      ("data:;base64,Q", .malformedBase64), ("data:;base64,QUJDQ", .malformedBase64),
      ("data:;base64,QQ=", .malformedBase64), ("data:;base64,QUI==", .malformedBase64),
      ("data:;base64,QUJD=", .malformedBase64), ("data:;base64,=", .malformedBase64),
      ("data:;base64,====", .malformedBase64), ("data:;base64,QQ==QQ==", .malformedBase64),
      ("data:;base64,Q-_Q", .malformedBase64), ("data:;base64,Q,QQ", .malformedBase64),
      ("data:;base64,%00QQQ", .malformedBase64),
    ] as [(String, DataURLError)])
  func malformed(url: String, error: DataURLError) {
    #expect(throws: error) { try DataURL(url) }
  }

  @Test("the data URL parser decodes every byte from percent-encoding and from base64, with any padding")
  func everyByte() throws {
    let bytes = (0...255).map(UInt8.init)
    for count in 250...256 {
      let content = Data(bytes.prefix(count))
      let escaped = content.map { "%" + String(0x100 + Int($0), radix: 16).dropFirst() }.joined()
      #expect(try DataURL("data:,\(escaped)").content == content)
      #expect(try DataURL("data:;base64,\(content.base64EncodedString())").content == content)
    }
  }

  @Test(
    "a request for a data URL has a URLResponse with the URL's media type and length, and no HTTPURLResponse")
  func request() async throws {
    try await withSession { session in
      let request = session.request("data:text/html;charset=UTF-8,%3Cp%3Ehi").validate()
      let response = await request.serializingString().response
      #expect(response.value == "<p>hi" && response.response == nil && response.error == nil)
      let plain = try #require(request.task?.response)
      #expect(!(plain is HTTPURLResponse))
      #expect(plain.mimeType == "text/html" && plain.textEncodingName == "utf-8" && plain.expectedContentLength == 5)
      #expect(plain.url == request.request?.url)
      let json = await session.request("data:application/json,%7B%22a%22:1%7D")
        .serializingDecodable([String: Int].self).response
      #expect(json.value == ["a": 1])
    }
  }

  @Test("a request loads a data URL of 5 MB completely into memory, and a download loads it into a file")
  func large() async throws {
    let content = Pattern.data(5_000_000)
    let url = "data:application/octet-stream;base64,\(content.base64EncodedString())"
    try await withSession { session in
      let response = await session.request(url).outcome()
      let isWhole = response.data == content
      #expect(isWhole && response.error == nil)
      let download = await session.download(url).outcome()
      defer { download.fileURL.map { try? FileManager.default.removeItem(at: $0) } }
      let isSame = download.content == content
      #expect(isSame && download.error == nil)
    }
  }

  @Test("a request for a malformed data URL fails with badURL, and the error doesn't contain the URL's content")
  func malformedRequest() async throws {
    try await withSession { session in
      let url = "data:;base64," + String(repeating: "-", count: 10_000)
      let response = await session.request(url).outcome()
      let error = try #require(response.error?.underlyingError as? URLError)
      #expect(error.code == .badURL && error.localizedDescription.contains("base64"))
      #expect(error.localizedDescription.count < 300)
      #expect(error.userInfo[NSUnderlyingErrorKey] as? DataURLError == .malformedBase64)
    }
  }
}

extension DataURLTests.Vector {
  fileprivate func with(_ content: [UInt8]) -> Self {
    var vector = Self(url, content)
    (vector.type, vector.charset) = (type, charset)
    return vector
  }
}
