// JSONResponseSerializer, for untyped JSON. Its API is deprecated, so the tests call it through a protocol that isn't,
// which avoids warnings.

import Foundation
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct JSONResponseSerializerTests {
  private let api: any UntypedJSON = DeprecatedJSON()

  private func json(_ text: String, _ options: JSONSerialization.ReadingOptions = .allowFragments) throws -> Any {
    try api.read(Data(text.utf8), request: nil, response: nil, options: options)
  }

  @Test("the JSON serializer keeps the structure, the numbers and the Boolean values of objects")
  func values() throws {
    let object = try #require(json(#"{"a":[1,2.5,true,null,"x",{"b":{}}]}"#) as? [String: Any])
    let array = try #require(object["a"] as? [Any])
    #expect(array.count == 6)
    #expect(array[0] as? Int == 1)
    #expect(array[1] as? Double == 2.5)
    #expect(array[2] as? Bool == true)
    #expect(array[2] as? NSNumber === NSNumber(value: true))
    #expect(array[3] is NSNull)
    #expect(array[4] as? String == "x")
    #expect(((array[5] as? [String: Any])?["b"] as? [String: Any])?.isEmpty == true)
  }

  @Test("the JSON serializer accepts a document that is a single value unless the options exclude fragments")
  func fragments() throws {
    #expect(try json("3") as? Int == 3)
    #expect(try json("null") is NSNull)
    #expect(throws: AFError.self) { try json("3", []) }
  }

  @Test(
    "the JSON serializer fails with jsonSerializationFailed for invalid JSON, however deeply the JSON is nested",
    arguments: [
      "{", "x", "[1e999]", String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 9_999),
    ])
  func invalid(text: String) {
    #expect {
      _ = try json(text)
    } throws: { error in
      if case AFError.responseSerializationFailed(.jsonSerializationFailed) = error { true } else { false }
    }
  }

  @Test("the JSON serializer returns NSNull for an empty body that is allowed, and throws an error otherwise")
  func empty() throws {
    let head = try URLRequest(url: "https://h/", method: .head)
    #expect(try api.read(nil, request: head, response: nil, options: []) is NSNull)
    #expect {
      _ = try api.read(Data(), request: nil, response: nil, options: [])
    } throws: { error in
      if case AFError.responseSerializationFailed(.inputDataNilOrZeroLength) = error { true } else { false }
    }
  }

  @Test("responseJSON and response(responseSerializer:) with JSONResponseSerializer deliver the server's JSON")
  func request() async throws {
    try await withServer { _ in
      .json(["x": 1])
    } _: { origin in
      try await withSession { session in
        let responses = await [
          api.response(of: session.request(origin.url)), api.serialized(session.request(origin.url)),
        ]
        #expect(responses.map { ($0.value as? [String: Any])?["x"] as? Int } == [1, 1])
      }
    }
  }
}

private protocol UntypedJSON: Sendable {
  func read(
    _ data: Data?, request: URLRequest?, response: HTTPURLResponse?, options: JSONSerialization.ReadingOptions
  ) throws -> Any
  func response(of request: DataRequest) async -> AFDataResponse<Any>
  func serialized(_ request: DataRequest) async -> AFDataResponse<Any>
}

private struct DeprecatedJSON: UntypedJSON {
  @available(*, deprecated)
  func read(
    _ data: Data?, request: URLRequest?, response: HTTPURLResponse?, options: JSONSerialization.ReadingOptions
  ) throws -> Any {
    try JSONResponseSerializer(options: options).serialize(
      request: request, response: response, data: data, error: nil)
  }

  @available(*, deprecated)
  func response(of request: DataRequest) async -> AFDataResponse<Any> {
    await withCheckedContinuation { continuation in
      request.responseJSON(queue: request.underlyingQueue) { continuation.resume(returning: $0) }
    }
  }

  @available(*, deprecated)
  func serialized(_ request: DataRequest) async -> AFDataResponse<Any> {
    await withCheckedContinuation { (continuation: CheckedContinuation<AFDataResponse<Any>, Never>) in
      request.response(queue: request.underlyingQueue, responseSerializer: JSONResponseSerializer()) {
        continuation.resume(returning: $0)
      }
    }
  }
}
