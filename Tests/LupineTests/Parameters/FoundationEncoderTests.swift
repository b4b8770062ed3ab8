// FoundationEncoderTests: which encoder writes the JSON of requests.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

/// Writes the name of the encoder's type.
private struct Probe: Encodable, Sendable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(String(describing: type(of: encoder)))
  }

  /// The document of LupineJSON's encoder.
  static let fast = Data(#"["JSONValueEncoder"]"#.utf8)
}

@Suite(.timeLimit(.minutes(10))) struct FoundationEncoderTests {
  private final class Subclass: JSONEncoder, @unchecked Sendable {}

  @Test("a session, or the encoder of one request, can leave the encoding of JSON to Foundation")
  func choice() async throws {
    try await withServer { _ in
      .text("{}")
    } _: { origin in
      try await withSession { session in
        func body(_ encoder: any ParameterEncoder) async throws -> Data {
          let request = session.request(origin.url, method: .post, parameters: Probe(), encoder: encoder)
          return try #require(await request.serializingData().response.request?.httpBody)
        }
        let plain = try await body(.json)
        #expect(plain == Probe.fast)
        for encoder: any ParameterEncoder in [.foundation(), .foundation(JSONEncoder()), .json(encoder: Subclass())] {
          let document = try await body(encoder)
          #expect(document != Probe.fast)
        }
        #expect(!session.encodesWithFoundation)
        session.encodesWithFoundation = true
        let slow = try await body(.json)
        #expect(slow != Probe.fast)
        session.encodesWithFoundation = false
        let last = try await body(.json)
        #expect(last == Probe.fast)
      }
    }
  }

  @Test("JSONEncoding writes dictionaries as JSONSerialization does, and refuses what it refuses")
  func dictionaries() throws {
    let request = URLRequest(url: try #require(URL(string: "http://example.org/")))
    let parameters: Parameters = ["list": [1, 2.5, true, "a/b"] as [any Sendable]]
    for options: JSONSerialization.WritingOptions in [[], .sortedKeys, .prettyPrinted, .withoutEscapingSlashes] {
      let body = try JSONEncoding(options: options).encode(request, with: parameters).httpBody
      #expect(try body == JSONSerialization.data(withJSONObject: parameters, options: options))
    }
    #expect {
      _ = try JSONEncoding.default.encode(request, with: ["x": Double.nan])
    } throws: { error in
      guard case AFError.parameterEncodingFailed(.jsonEncodingFailed(let inner)) = error else { return false }
      return inner is JSONEncoding.Error
    }
  }
}
