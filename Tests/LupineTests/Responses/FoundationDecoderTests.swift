// FoundationDecoderTests: which decoder decodes the JSON of responses, downloads and streams.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

/// Records the name of the decoder's type.
private struct Probe: Decodable, Sendable {
  let decoder: String

  init(from decoder: any Decoder) throws {
    // Only objects are probes.
    _ = try decoder.container(keyedBy: Keys.self)
    self.decoder = String(describing: type(of: decoder))
  }

  private enum Keys: CodingKey {}

  /// The name of LupineJSON's decoder.
  static let fast = "JSONValueDecoder"
}

@Suite(.timeLimit(.minutes(10))) struct FoundationDecoderTests {
  private final class Subclass: JSONDecoder, @unchecked Sendable {}

  @Test("responses, downloads and streams in JSON are decoded by LupineJSON")
  func everywhere() async throws {
    try await withServer { _ in
      .text("{}")
    } _: { origin in
      try await withSession { session in
        try await withFolder { folder in
          #expect(
            await session.request(origin.url).serializingDecodable(Probe.self).response.value?.decoder == Probe.fast)
          let download = session.download(origin.url, to: into(folder))
          #expect(await download.serializingDecodable(Probe.self).response.value?.decoder == Probe.fast)
          let names = Recorder<String>()
          session.streamRequest(origin.url).responseStreamDecodable(of: Probe.self, on: .global()) { stream in
            if let probe = stream.value { names.record(probe.decoder) }
          }
          #expect(await names.next() == Probe.fast)
        }
      }
    }
  }

  @Test("a session, or the decoder of one request, can leave JSON to Foundation")
  func choice() async throws {
    try await withServer { _ in
      .text("{}")
    } _: { origin in
      try await withSession { session in
        for decoder: any DataDecoder in [.foundation(), FoundationDecoder(JSONDecoder()), Subclass()] {
          let request = session.request(origin.url)
          let probe = await request.serializingDecodable(Probe.self, decoder: decoder).response.value
          let name = try #require(probe).decoder
          #expect(name != Probe.fast)
        }
        #expect(!session.decodesWithFoundation)
        session.decodesWithFoundation = true
        let probe = await session.request(origin.url).serializingDecodable(Probe.self).response.value
        let name = try #require(probe).decoder
        #expect(name != Probe.fast)
        let names = Recorder<String>()
        session.streamRequest(origin.url).responseStreamDecodable(of: Probe.self, on: .global()) { stream in
          if let probe = stream.value { names.record(probe.decoder) }
        }
        #expect(await names.next() != Probe.fast)
        session.decodesWithFoundation = false
        let last = await session.request(origin.url).serializingDecodable(Probe.self).response.value
        #expect(last?.decoder == Probe.fast)
      }
    }
  }

  @Test("a response that can't be decoded fails with the error of Foundation's JSONDecoder")
  func errors() throws {
    for text in ["{\"x\": \"1\"}", "{\"x\": 1", "[]", "{\"x\": 1e400}", "nul", "{\"x\": 1.5}", "\u{FEFF}"] {
      let data = Data(text.utf8)
      let error = #expect(throws: AFError.self) {
        try DecodableResponseSerializer<[String: Int]>().serialize(request: nil, response: nil, data: data, error: nil)
      }
      let expected = #expect(throws: DecodingError.self) { try JSONDecoder().decode([String: Int].self, from: data) }
      let underlying = try #require(error?.underlyingError)
      let description = "\(try #require(expected))"
      #expect("\(underlying)" == description, "\(text)")
    }
  }
}
