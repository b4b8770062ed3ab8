// ResponseSerializationTests: bytes, text and decoded values of response bodies, and when an empty body is allowed.

import Foundation
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct ResponseSerializationTests {
  private struct Point: Codable, Equatable, Sendable {
    var x: Int
  }

  private struct Failure: Error {}

  private static func request(_ method: HTTPMethod = .get) throws -> URLRequest {
    var request = URLRequest(url: try #require(URL(string: "https://example.org/")))
    request.method = method
    return request
  }

  private static func response(_ statusCode: Int = 200, type: String? = nil) throws -> HTTPURLResponse {
    let url = try #require(URL(string: "https://example.org/"))
    let fields = type.map { ["Content-Type": $0] }
    return try #require(
      HTTPURLResponse(url: url, statusCode: statusCode, httpVersion: "HTTP/1.1", headerFields: fields))
  }

  private func expectReason(
    _ matches: (AFError.ResponseSerializationFailureReason) -> Bool, _ body: () throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: AFError.self, sourceLocation: sourceLocation) { try body() }
    guard case .responseSerializationFailed(let reason) = error else {
      Issue.record(
        "The error isn't responseSerializationFailed: \(String(describing: error))", sourceLocation: sourceLocation)
      return
    }
    #expect(matches(reason), sourceLocation: sourceLocation)
  }

  // MARK: Empty bodies

  @Test(
    "serializing an empty body fails unless the method or the status code allows an empty body",
    arguments: [
      (HTTPMethod.get, 200, false), (.get, 201, false), (.post, 404, false), (.get, 204, true), (.get, 205, true),
      (.head, 200, true), (.head, 404, true),
    ])
  func emptyBody(method: HTTPMethod, status: Int, isAllowed: Bool) throws {
    let request = try Self.request(method)
    let response = try Self.response(status)
    for data in [nil, Data()] {
      let bytes = {
        try DataResponseSerializer().serialize(request: request, response: response, data: data, error: nil)
      }
      let text = {
        try StringResponseSerializer().serialize(request: request, response: response, data: data, error: nil)
      }
      let value = {
        try DecodableResponseSerializer<Empty>()
          .serialize(request: request, response: response, data: data, error: nil)
      }
      if isAllowed {
        #expect(try bytes() == Data())
        #expect(try text() == "")
        #expect(try value() == .value)
      } else {
        let isEmptyInput = { (reason: AFError.ResponseSerializationFailureReason) in
          if case .inputDataNilOrZeroLength = reason { true } else { false }
        }
        expectReason(isEmptyInput) { _ = try bytes() }
        expectReason(isEmptyInput) { _ = try text() }
        expectReason(isEmptyInput) { _ = try value() }
      }
    }
  }

  @Test("custom methods and status codes that allow an empty body replace the default methods and status codes")
  func ownEmptyRules() throws {
    let serializer = DataResponseSerializer(emptyResponseCodes: [200], emptyRequestMethods: [.post])
    #expect(serializer.emptyResponseAllowed(forRequest: try Self.request(), response: try Self.response(200)))
    #expect(serializer.emptyResponseAllowed(forRequest: try Self.request(.post), response: nil))
    #expect(!serializer.emptyResponseAllowed(forRequest: try Self.request(.head), response: try Self.response(204)))
    #expect(!serializer.emptyResponseAllowed(forRequest: nil, response: nil))
    #expect(serializer.requestAllowsEmptyResponseData(nil) == nil)
    #expect(serializer.responseAllowsEmptyResponseData(nil) == nil)
  }

  @Test("serializing an empty body that is allowed fails if the response type has no empty value")
  func noEmptyValue() throws {
    let response = try Self.response(204)
    expectReason({ if case .invalidEmptyResponse(let type) = $0 { type == "Point" } else { false } }) {
      _ = try DecodableResponseSerializer<Point>().serialize(request: nil, response: response, data: nil, error: nil)
    }
  }

  @Test("a serializer throws the error of a failed request, and doesn't serialize the body")
  func earlierError() throws {
    let data = Data(#"{"x":1}"#.utf8)
    #expect(throws: Failure.self) {
      _ = try DataResponseSerializer().serialize(request: nil, response: nil, data: data, error: Failure())
    }
    #expect(throws: Failure.self) {
      _ = try StringResponseSerializer().serialize(request: nil, response: nil, data: nil, error: Failure())
    }
    #expect(throws: Failure.self) {
      _ = try DecodableResponseSerializer<Point>()
        .serialize(request: nil, response: nil, data: data, error: Failure())
    }
  }

  // MARK: Preprocessors

  @Test(
    "GoogleXSSIPreprocessor removes only the XSSI prefix",
    arguments: [
      (")]}',\n{\"x\":1}", "{\"x\":1}"), (")]}',\n", ""), (")]}'", ")]}'"), ("{}", "{}"), (" )]}',\n", " )]}',\n"),
      (")]}',\n)]}',\n", ")]}',\n"),
    ])
  func xssi(body: String, expected: String) throws {
    #expect(try GoogleXSSIPreprocessor().preprocess(Data(body.utf8)) == Data(expected.utf8))
  }

  @Test("each response serializer preprocesses the body before it decodes the body, even if the Data is a slice")
  func preprocessing() throws {
    let data = Data("__)]}',\n{\"x\":1}".utf8).dropFirst(2)
    let bytes = DataResponseSerializer(dataPreprocessor: .googleXSSI)
    #expect(try bytes.serialize(request: nil, response: nil, data: data, error: nil) == Data(#"{"x":1}"#.utf8))
    let text = StringResponseSerializer(dataPreprocessor: .googleXSSI)
    #expect(try text.serialize(request: nil, response: nil, data: data, error: nil) == #"{"x":1}"#)
    let value = DecodableResponseSerializer<Point>(dataPreprocessor: .googleXSSI)
    #expect(try value.serialize(request: nil, response: nil, data: data, error: nil) == Point(x: 1))
  }

  @Test("a serializer doesn't preprocess an empty body, and rethrows the data preprocessor's errors")
  func throwingPreprocessor() throws {
    struct Thrower: DataPreprocessor {
      func preprocess(_ data: Data) throws -> Data { throw Failure() }
    }
    let serializer = DataResponseSerializer(dataPreprocessor: Thrower())
    let noContent = try Self.response(204)
    #expect(try serializer.serialize(request: nil, response: noContent, data: Data(), error: nil) == Data())
    #expect(throws: Failure.self) {
      _ = try serializer.serialize(request: nil, response: nil, data: Data([1]), error: nil)
    }
  }

  // MARK: Text

  @Test("a body's text is decoded with the caller's encoding, else with the response's charset, else as ISO Latin-1")
  func encodingOrder() throws {
    let data = Data([0xC3, 0xA9])
    let utf8 = try Self.response(type: "text/plain; charset=UTF-8")
    func text(_ encoding: String.Encoding?, _ response: HTTPURLResponse?) throws -> String {
      try StringResponseSerializer(encoding: encoding).serialize(
        request: nil, response: response, data: data, error: nil)
    }

    #expect(try text(.isoLatin1, utf8) == "Ã©")
    #expect(try text(nil, utf8) == "é")
    #expect(try text(nil, Self.response(type: "text/plain")) == "Ã©")
    #expect(try text(nil, Self.response(type: "text/plain; charset=x-unknown")) == "Ã©")
    #expect(try text(nil, nil) == "Ã©")
  }

  @Test("the string serializer refuses bytes that aren't valid in the text's encoding")
  func undecodable() throws {
    let response = try Self.response(type: "text/plain; charset=utf-8")
    expectReason({ if case .stringSerializationFailed(let encoding) = $0 { encoding == .utf8 } else { false } }) {
      _ = try StringResponseSerializer().serialize(request: nil, response: response, data: Data([0xFF]), error: nil)
    }
  }

  // Python's codecs have generated these bytes.
  @Test(
    "each known charset name is mapped to the String.Encoding that decodes its text",
    arguments: [
      ("utf-8", [0xC3, 0xA9], "é"), ("UTF8", [0xC3, 0xA9], "é"), ("utf-16", [0xFF, 0xFE, 0xE9, 0], "é"),
      ("utf-16", [0xFE, 0xFF, 0, 0xE9], "é"), ("utf-16be", [0, 0xE9], "é"), ("utf-16le", [0xE9, 0], "é"),
      ("utf-32", [0, 0, 0xFE, 0xFF, 0, 0, 0, 0xE9], "é"), ("utf-32be", [0, 0, 0, 0xE9], "é"),
      ("utf-32le", [0xE9, 0, 0, 0], "é"), ("us-ascii", [0x41], "A"), ("ascii", [0x41], "A"),
      ("iso-8859-1", [0xE9, 0x80], "é\u{80}"), ("ISO8859-1", [0xE9], "é"), ("latin1", [0xE9], "é"),
      ("iso-8859-2", [0xB1], "ą"), ("iso8859-2", [0xB1], "ą"), ("latin2", [0xB1], "ą"),
      ("iso-8859-3", [0xA1], "Ħ"), ("iso-8859-4", [0xA2], "ĸ"), ("iso-8859-5", [0xEF], "я"),
      ("iso-8859-6", [0xC7], "ا"), ("iso-8859-7", [0xE1], "α"), ("iso-8859-8", [0xE0], "א"),
      ("iso-8859-9", [0xFD], "ı"), ("iso-8859-10", [0xA1], "Ą"), ("iso-8859-11", [0xA1], "ก"),
      ("iso-8859-13", [0xE0], "ą"), ("iso-8859-14", [0xA1], "Ḃ"), ("iso-8859-15", [0xA4], "€"),
      ("iso-8859-16", [0xA4], "€"), ("windows-1250", [0xB9], "ą"), ("windows-1251", [0xFF], "я"),
      ("Windows-1252", [0x80], "€"), ("windows-1253", [0xE1], "α"), ("windows-1254", [0xFD], "ı"),
      ("windows-1255", [0xE0], "א"), ("windows-1256", [0xC7], "ا"), ("windows-1257", [0xE0], "ą"),
      ("windows-1258", [0xFE], "₫"), ("windows-874", [0xA1], "ก"), ("ibm866", [0xEF], "я"), ("cp866", [0xA0], "а"),
      ("koi8-r", [0xD1], "я"), ("koi8-u", [0xA4], "є"), ("shift_jis", [0x82, 0xA0, 0xB1], "あｱ"),
      ("shift-jis", [0x82, 0xA0], "あ"), ("sjis", [0x82, 0xA0], "あ"), ("windows-31j", [0x87, 0x40], "①"),
      ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x24, 0x22, 0x1B, 0x28, 0x42, 0x41], "あA"),
      ("gb18030", [0xC4, 0xE3, 0x81, 0x30, 0x81, 0x30], "你\u{80}"), ("gbk", [0xC4, 0xE3], "你"),
      ("gb2312", [0xC4, 0xE3], "你"), ("big5", [0xA7, 0x41], "你"), ("euc-kr", [0xB0, 0xA1], "가"),
      ("ks_c_5601-1987", [0xB0, 0xA1, 0x81, 0x41], "가갂"), ("windows-949", [0x81, 0x41], "갂"),
      ("iso_8859-1", [0xE9], "é"), ("L1", [0xE9], "é"), ("iso_8859-2", [0xB1], "ą"), ("l2", [0xB1], "ą"),
      ("latin-9", [0xA4], "€"), ("cp1250", [0xB9], "ą"), ("cp1251", [0xFF], "я"), ("cp1252", [0x80], "€"),
      ("cp1253", [0xE1], "α"), ("cp1254", [0xFD], "ı"), ("macintosh", [0x8E, 0xDB], "é€"),
      ("x-mac-cyrillic", [0xDF], "я"), ("ms_kanji", [0x82, 0xA0], "あ"), ("x-sjis", [0x82, 0xA0], "あ"),
      ("x-gbk", [0xC4, 0xE3], "你"), ("cp936", [0xC4, 0xE3], "你"),
      // Some of these begin with a byte order mark. Without one, UTF-16 and UTF-32 are big endian (RFC 2781 §4.3).
      ("utf-8", [0xEF, 0xBB, 0xBF, 0x41], "A"), ("utf-16", [0, 0xE9], "é"), ("utf-32", [0, 0, 0, 0xE9], "é"),
      ("utf-32", [0xFF, 0xFE, 0, 0, 0xE9, 0, 0, 0], "é"), ("utf-16", [0xFE, 0xFF, 0xD8, 0x3D, 0xDE, 0x00], "😀"),
    ] as [(String, [UInt8], String)])
  func charset(name: String, bytes: [UInt8], text: String) throws {
    let response = try Self.response(type: "text/plain; charset=\"\(name)\"")
    let decoded = try StringResponseSerializer()
      .serialize(request: nil, response: response, data: Data(bytes), error: nil)
    #expect(decoded == text)
    #expect(String.Encoding(charsetName: name) != nil)
  }

  @Test(
    "the string serializer fails for text in EUC-JP, because Foundation can't decode EUC-JP",
    arguments: ["EUC-JP", "x-euc-jp"])
  func undecodableCharset(name: String) throws {
    let response = try Self.response(type: "text/html; charset=\(name)")
    for bytes in [[0xA4, 0xA2], [0x41]] as [[UInt8]] {
      // When Foundation learns to decode EUC-JP, remove this test; the table's entry is already right.
      expectReason({ if case .stringSerializationFailed(let encoding) = $0 { encoding == .japaneseEUC } else { false } }
      ) {
        _ = try StringResponseSerializer().serialize(request: nil, response: response, data: Data(bytes), error: nil)
      }
    }
  }

  @Test("an unknown charset name selects no String.Encoding", arguments: ["x-unknown", "", "utf-7"])
  func unknownCharset(name: String) {
    #expect(String.Encoding(charsetName: name) == nil)
  }

  // MARK: Decoding

  @Test("the decodable serializer decodes JSON and property lists")
  func decoding() throws {
    let json = DecodableResponseSerializer<Point>()
    #expect(try json.serialize(request: nil, response: nil, data: Data(#"{"x":1}"#.utf8), error: nil) == Point(x: 1))
    let list = DecodableResponseSerializer<Point>(decoder: PropertyListDecoder())
    let data = try PropertyListEncoder().encode(Point(x: 2))
    #expect(try list.serialize(request: nil, response: nil, data: data, error: nil) == Point(x: 2))
  }

  @Test("if a body can't be decoded, the response fails with the decoder's error")
  func undecodableValue() {
    expectReason({ if case .decodingFailed(let error) = $0 { error is DecodingError } else { false } }) {
      _ = try DecodableResponseSerializer<Point>()
        .serialize(request: nil, response: nil, data: Data("[]".utf8), error: nil)
    }
  }

  @Test("each static member of ResponseSerializer creates the serializer that it is named after")
  func staticMembers() throws {
    func serialized<S: ResponseSerializer>(_ serializer: S, _ text: String) throws -> S.SerializedObject {
      try serializer.serialize(request: nil, response: nil, data: Data(text.utf8), error: nil)
    }

    #expect(try serialized(.data, "a") == Data("a".utf8))
    #expect(try serialized(.data(dataPreprocessor: .googleXSSI), ")]}',\na") == Data("a".utf8))
    #expect(try serialized(.string, "é") == "Ã©")
    #expect(try serialized(.string(encoding: .utf8), "é") == "é")
    #expect(try serialized(.decodable(of: Point.self), #"{"x":3}"#) == Point(x: 3))
  }

  // MARK: DataResponse

  private func made<Success: Sendable, Failure: Error>(
    _ result: Result<Success, Failure>
  ) throws -> DataResponse<Success, Failure> {
    DataResponse(
      request: try Self.request(.post), response: try Self.response(404, type: "text/plain"), data: Data("gone".utf8),
      metrics: nil, serializationDuration: 0.25, result: result)
  }

  @Test("map replaces a response's value, mapError replaces its error, and both keep the other properties")
  func mapping() throws {
    let success: DataResponse<Int, AFError> = try made(.success(1))
    let failure: DataResponse<Int, AFError> = try made(.failure(.explicitlyCancelled))

    let mapped = success.map { "\($0)" }
    #expect(mapped.value == "1")
    #expect(mapped.error == nil)
    #expect(mapped.request == success.request)
    #expect(mapped.response === success.response)
    #expect(mapped.data == success.data)
    #expect(mapped.serializationDuration == 0.25)
    #expect(failure.map { $0 + 1 }.error?.isExplicitlyCancelledError == true)
    #expect(failure.mapError { _ in Failure() }.error != nil)
    #expect(success.mapError { _ in Failure() }.value == 1)
  }

  @Test("an error thrown by tryMap or tryMapError becomes the response's failure")
  func tryMapping() throws {
    struct Other: Error {}
    let success: DataResponse<Int, AFError> = try made(.success(1))
    let failure: DataResponse<Int, AFError> = try made(.failure(.explicitlyCancelled))

    #expect(success.tryMap { $0 + 1 }.value == 2)
    #expect(success.tryMap { _ -> Int in throw Failure() }.error is Failure)
    #expect(failure.tryMap { $0 + 1 }.error is AFError)
    #expect(failure.tryMapError { _ in Other() }.error is Other)
    #expect(failure.tryMapError { _ -> Other in throw Failure() }.error is Failure)
    #expect(success.tryMapError { _ in Other() }.value == 1)
  }

  @Test("a DataResponse's descriptions contain the request, the HTTP response and the result")
  func descriptions() throws {
    let response: DataResponse<Int, AFError> = try made(.success(1))
    #expect(response.description == "success(1)")
    let lines = response.debugDescription.split(separator: "\n").map(String.init)
    #expect(
      lines == [
        "request: POST https://example.org/", "request body: none", "response: 404", "  Content-Type: text/plain",
        "response body: 4 bytes", "gone", "serialization: 0.25 s", "result: success(1)",
      ])
  }
}
