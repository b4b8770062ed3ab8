// PropertyListResponseSerializerTests: untyped property lists in responses, and typed ones in requests.

import Foundation
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct PropertyListResponseSerializerTests {
  private func read(_ data: Data?, request: URLRequest? = nil) throws -> any Sendable {
    try PropertyListResponseSerializer().serialize(request: request, response: nil, data: data, error: nil)
  }

  @Test(
    "the property list serializer keeps the structure and the types of the values",
    arguments: [PropertyListEncoding.Format.xml, .binary])
  func values(format: PropertyListEncoding.Format) throws {
    let list: [String: Any] = ["a": [1, 2.5, true, "x", Date(timeIntervalSince1970: 5), Data([7])] as [Any]]
    let data = try PropertyListSerialization.data(
      fromPropertyList: list, format: format == .xml ? .xml : .binary, options: 0)
    let object = try #require(read(data) as? [String: any Sendable])
    let array = try #require(object["a"] as? [any Sendable])
    #expect(array.count == 6)
    #expect(array[0] as? Int == 1)
    #expect(array[1] as? Double == 2.5)
    #expect(array[2] as? Bool == true)
    #expect(array[3] as? String == "x")
    #expect(array[4] as? Date == Date(timeIntervalSince1970: 5))
    #expect(array[5] as? Data == Data([7]))
  }

  @Test("the property list serializer returns NSNull for an empty body that is allowed, and throws an error otherwise")
  func empty() throws {
    #expect(try read(nil, request: URLRequest(url: "https://h/", method: .head)) is NSNull)
    #expect {
      _ = try read(Data())
    } throws: { error in
      if case AFError.responseSerializationFailed(.inputDataNilOrZeroLength) = error { true } else { false }
    }
  }

  @Test(
    "if the property list check refuses a body, a customSerializationFailed that wraps the check's error is thrown",
    arguments: [
      ("{ a = b; }", PropertyListError.unknownFormat),
      (
        "<plist><dict><key>CF$UID</key><integer>5</integer></dict></plist>",
        .unsupportedValue(type: "_NSKeyedArchiverUID")
      ),
    ])
  func invalid(text: String, reason: PropertyListError) {
    #expect {
      _ = try read(Data(text.utf8))
    } throws: { error in
      guard case AFError.responseSerializationFailed(.customSerializationFailed(let inner)) = error else {
        return false
      }
      return inner as? PropertyListError == reason
    }
  }

  @Test("customSerializationFailed wraps an error from Foundation's property list parser")
  func foundationError() {
    #expect {
      _ = try read(Data("<plist><a/></plist>".utf8))
    } throws: { error in
      guard case AFError.responseSerializationFailed(.customSerializationFailed(let inner)) = error else {
        return false
      }
      return !(inner is PropertyListError)
    }
  }

  @Test("the property list serializer reads a downloaded property list from its file")
  func download() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).plist")
    try Data("<plist><string>x</string></plist>".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let value = try PropertyListResponseSerializer.propertyList.serializeDownload(
      request: nil, response: nil, fileURL: file, error: nil)
    #expect(value as? String == "x")
  }

  @Test("responsePropertyList and serializingResponse deliver the server's property list")
  func request() async throws {
    try await withServer { _ in
      .text("<plist><dict><key>a</key><integer>1</integer></dict></plist>")
    } _: { origin in
      try await withSession { session in
        let response = await withCheckedContinuation { continuation in
          session.request(origin.url).responsePropertyList(queue: .global(), options: []) {
            continuation.resume(returning: $0)
          }
        }
        #expect((response.value as? [String: Any])?["a"] as? Int == 1)
        let value = try await session.request(origin.url).serializingResponse(using: PropertyListResponseSerializer())
          .value
        #expect((value as? [String: any Sendable])?["a"] as? Int == 1)
      }
    }
  }
}

@Suite struct PropertyListParameterEncoderTests {
  private func encoded(
    _ parameters: some Encodable & Sendable, _ encoder: some ParameterEncoder, type: String? = nil
  ) throws -> URLRequest {
    var request = try URLRequest(url: "https://h/", method: .post)
    if let type { request.setValue(type, forHTTPHeaderField: "Content-Type") }
    return try encoder.encode(parameters, into: request)
  }

  @Test("PropertyListParameterEncoder writes its property list format, and the body decodes to the same parameters")
  func formats() throws {
    let binary = PropertyListEncoder()
    binary.outputFormat = .binary
    let prefixes: [(String, any ParameterEncoder)] = [
      ("<?xml", PropertyListParameterEncoder.default), ("<?xml", PropertyListParameterEncoder.xml),
      ("bplist00", PropertyListParameterEncoder.binary), ("<?xml", .propertyList),
      ("bplist00", .propertyList(encoder: binary)),
    ]
    for (prefix, encoder) in prefixes {
      let request = try encoded(["a": [1, 2]], encoder)
      let body = try #require(request.httpBody)
      #expect(body.starts(with: prefix.utf8))
      #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-plist")
      #expect(try PropertyListDecoder().decode([String: [Int]].self, from: body) == ["a": [1, 2]])
    }
  }

  @Test("PropertyListParameterEncoder keeps an existing Content-Type, and nil as parameters doesn't change the request")
  func left() throws {
    let typed = try encoded(["a": 1], .propertyList, type: "text/x-own")
    #expect(typed.value(forHTTPHeaderField: "Content-Type") == "text/x-own")
    let plain = try URLRequest(url: "https://h/", method: .post)
    #expect(try PropertyListParameterEncoder.xml.encode([String: Int]?.none, into: plain) == plain)
  }

  @Test("PropertyListParameterEncoder throws an error for an unsupported value and for an unsupported format")
  func failures() {
    let old = PropertyListEncoder()
    old.outputFormat = .openStep
    #expect(isCustomEncodingFailure { _ = try encoded(["a": 1], .propertyList(encoder: old)) })
    #expect(isCustomEncodingFailure { _ = try encoded(3, .propertyList) })
  }

  private func isCustomEncodingFailure(_ body: () throws -> Void) -> Bool {
    do { try body() } catch AFError.parameterEncodingFailed(.customEncodingFailed) { return true } catch {}
    return false
  }
}
