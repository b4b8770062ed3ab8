// ErrorTextTests: what descriptions state about errors of Foundation and of Codable.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession
@testable import LupineURLSessionTestSupport

@Suite(.timeLimit(.minutes(10))) struct ErrorTextTests {
  private struct Plants: Decodable, Sendable {
    struct Plant: Decodable, Sendable { let name: String }
    let items: [Plant]
  }

  @Test(
    "the description of a decoding error names the key and the place, or states the reason, with each decoder",
    arguments: [
      (#"{"items": [{"name": "a"}, {}]}"#, #"There is no value for the key "name", at items[1]."#),
      (#"{"items": [{"name": 5}]}"#, "Expected to decode String but found number instead, at items[0].name."),
      (#"{"items": [{"name": null}]}"#, "found null value instead, at items[0].name."),
      ("{}", #"There is no value for the key "items"."#),
      ("<html>", "The given data was not valid JSON."),
    ])
  func decoding(document: String, text: String) async throws {
    try await withServer { _ in
      .text(document)
    } _: { origin in
      try await withSession { session in
        let decoders: [any DataDecoder] = [JSONDecoder(), .foundation()]
        for decoder in decoders {
          let task = session.request(origin.url).serializingDecodable(Plants.self, decoder: decoder)
          let description = try #require(await task.response.error?.localizedDescription)
          #expect(description.hasPrefix("The response's body could not be decoded: "), "\(description)")
          #expect(description.contains(text), "\(description)")
          #expect(description.hasSuffix(" Compare the body with the type to decode."), "\(description)")
        }
        let error = await session.request(origin.url).serializingDecodable(Plants.self).response.error
        #expect(error?.localizedDescription.contains(text) == true)
      }
    }
  }

  private struct Silent: Error {}

  @Test("the text of an error omits the words with which Foundation begins, and ends with a period")
  func foundation() throws {
    let texts = [
      (CocoaError(.fileReadNoSuchFile) as any Error, "The file doesn’t exist."),
      (POSIXError(.ENOENT), "No such file or directory."), (URLError(.timedOut), "NSURLErrorDomain error -1001."),
      (AFError.sessionDeinitialized, AFError.sessionDeinitialized.localizedDescription),
    ]
    for (error, text) in texts { #expect(ReadableText.error(error) == text) }
    let silent = ReadableText.error(Silent())
    #expect(silent.hasSuffix("Silent error 1.") && !silent.contains("completed"), "\(silent)")
    let syntax = #expect(throws: (any Error).self) { try JSONSerialization.jsonObject(with: Data("<".utf8)) }
    let parsed = ReadableText.error(try #require(syntax))
    #expect(parsed.hasPrefix("The data is not in the correct format. Invalid value"), "\(parsed)")
    let encoding = #expect(throws: (any Error).self) { try JSONEncoder().encode(["limit": Double.nan]) }
    let text = ReadableText.error(try #require(encoding))
    #expect(text == "Unable to encode Double.nan directly in JSON, at limit.")
  }

  @Test("a document's keys can't control the terminal through an error's text")
  func hostileKey() {
    let context = DecodingError.Context(codingPath: [HostileKey()], debugDescription: "No\u{1B}[2J.")
    let text = ReadableText.error(DecodingError.dataCorrupted(context))
    #expect(text == #"No\u{1b}[2J, at a\u{1b}[2J."#)
  }

  private struct HostileKey: CodingKey {
    var stringValue: String { "a\u{1B}[2J" }
    var intValue: Int? { nil }
    init() {}
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
  }
}
