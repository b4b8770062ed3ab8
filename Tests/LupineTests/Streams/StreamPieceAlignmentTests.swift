// `UTF8Aligner`: text cut at any byte is the same as in one piece.

import Foundation
import LupineOrigin
import LupineTestSupport
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct StreamPieceAlignmentTests {
  /// Texts with UTF-8 characters of each length, and with each kind of invalid byte sequence.
  private static let texts: [[UInt8]] =
    ["", "a", "aé€😀z", "😀😀", "\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}"].map { Array($0.utf8) } + [
      [0x80], [0xC0, 0xAF], [0xC2], [0xE0, 0x80, 0x80], [0xE2, 0x82], [0x61, 0xE2, 0x82], [0xED, 0xA0, 0x80],
      [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80], [0xFF, 0xFE],
      [0xE2, 0x82, 0x61], [0xF0, 0x9F, 0x61, 0xC3, 0xA9], [0xC3, 0xC3, 0xA9], [0x80, 0x80, 0x80, 0x80, 0x62],
    ]

  private func joined(_ pieces: [[UInt8]]) -> [String] {
    var aligner = UTF8Aligner()
    var strings = pieces.map { String(decoding: aligner.align(Data($0)), as: UTF8.self) }
    strings.append(String(decoding: aligner.takeRest(), as: UTF8.self))
    #expect(aligner.takeRest().isEmpty)
    return strings
  }

  @Test(
    "a stream delivers the same text whether it arrives as a whole, split at any two positions, or byte by byte",
    arguments: texts)
  func everySplit(text: [UInt8]) {
    let whole = String(decoding: text, as: UTF8.self)
    #expect(joined(text.map { [$0] }).joined() == whole)
    for first in 0...text.count {
      for second in first...text.count {
        let pieces = [Array(text[..<first]), Array(text[first..<second]), Array(text[second...])]
        #expect(joined(pieces).joined() == whole)
      }
    }
  }

  @Test("a stream of text delivers a split UTF-8 character once it is complete, and an invalid sequence immediately")
  func places() {
    #expect(joined([[0x61, 0xE2], [0x82], [0xAC, 0x62]]) == ["a", "", "€b", ""])
    #expect(joined([[0x61, 0xE2, 0x82]]) == ["a", "\u{FFFD}"])
    #expect(joined([[0xFF], [0x61]]) == ["\u{FFFD}", "a", ""])
  }

  @Test("even for Data whose indices don't start at 0, a stream of text is split correctly at character boundaries")
  func slice() {
    var aligner = UTF8Aligner()
    let data = Data([0, 0, 0x61, 0xE2, 0x82, 0xAC]).dropFirst(2)
    #expect(aligner.align(data.prefix(3)) == Data([0x61]))
    #expect(aligner.align(data.dropFirst(3)) == Data([0xE2, 0x82, 0xAC]))
  }

  @Test(
    "each API for streaming strings joins a character that is split between parts of the body",
    arguments: ["responseStreamString", "string serializer", "streamingStrings", "streaming by serializer"])
  func requests(way: String) async throws {
    // The last character is incomplete.
    try await withChunks([[0x61, 0xE2], [0x82, 0xAC], [0xF0, 0x9F]]) { url, gates in
      try await withSession(startRequestsImmediately: false) { session in
        let request = session.streamRequest(url)
        let strings = Recorder<String?>()
        let seen = Recorder<Void>()
        switch way {
        case "responseStreamString":
          request.responseStreamString(on: .global()) { strings.record($0.value) }
        case "string serializer":
          request.responseStream(using: .string, on: .global()) { strings.record($0.value) }
        case "streamingStrings":
          Task { for await stream in request.streamTask().streamingStrings() { strings.record(stream.value) } }
        default:
          Task {
            for await stream in request.streamTask().streamingResponses(serializedUsing: .string) {
              strings.record(stream.value)
            }
          }
        }
        request.responseStream(on: .global()) { _ in seen.record(()) }
        // Each loop subscribes to the stream only once its task runs.
        #expect(await settles { request.consumers.count == 2 })
        request.resume()
        for gate in gates.dropFirst() {
          _ = await seen.next()
          gate.open()
        }
        #expect(await strings.first(5) == ["a", "€", "", "\u{FFFD}", nil])
      }
    }
    #expect(try StringStreamSerializer().serialize(Data([0x61, 0xE2])) == "a\u{FFFD}")
    #expect(try PassthroughStreamSerializer().serialize(Data([1])) == Data([1]))
  }

  @Test("a stream serializer preprocesses each part of a body before it decodes the part")
  func preprocessor() throws {
    let serializer: DecodableStreamSerializer<[Int]> = .decodable(of: [Int].self, dataPreprocessor: .googleXSSI)
    #expect(try serializer.serialize(Data(")]}',\n[1]".utf8)) == [1])
    #expect(throws: AFError.self) { try DecodableStreamSerializer<[Int]>().serialize(Data(")]}',\n[1]".utf8)) }
  }
}
