// Chunked bodies that break RFC 9112 §7.1, that break off, or that carry much besides their data.

import LupineEngine
import LupineOrigin
import Testing

extension Misbehaviour {
  static let chunks = sizes + cutChunks + trailers + extensions

  private static func chunked(_ body: String) -> String {
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
  }

  private static let sizes: [Misbehaviour] = malformed(
    [
      ("has an empty chunk size", "\r\nok\r\n"), ("has a chunk size with 0x", "0x2\r\nok\r\n"),
      ("has a negative chunk size", "-2\r\nok\r\n"), ("has a chunk size with a plus", "+2\r\nok\r\n"),
      ("has a space before a chunk size", " 2\r\nok\r\n"), ("has a letter in a chunk size", "2g\r\nok\r\n"),
      ("has a chunk size of 17 digits", "00000000000000002\r\nok\r\n"),
      ("has a chunk size beyond 64 bits", "FFFFFFFFFFFFFFFFF\r\nok\r\n"),
      ("has an LF alone behind a chunk size", "2\nok\r\n"),
      ("has a CR alone behind a chunk size", "2\rok\r\n"), ("has two chunk sizes on a line", "2 3\r\nok\r\n"),
      ("has a NUL in a chunk size", "2\0\r\nok\r\n"), ("has nothing behind a chunk's data", "2\r\nok0\r\n\r\n"),
      ("has an LF alone behind a chunk's data", "2\r\nok\n0\r\n\r\n"),
      ("has a chunk longer than its size", "2\r\nokay\r\n0\r\n\r\n"),
      ("has a chunk shorter than its size", "5\r\nok\r\n0\r\n\r\n"),
      ("has a head in place of a chunk", "HTTP/1.1 200 OK\r\n\r\n"),
      ("has a line feed in a chunk extension", "2;a\nb\r\nok\r\n"),
      ("has a NUL in a chunk extension", "2;a\0\r\nok\r\n"),
    ].map { ($0.0, chunked($0.1)) })

  private static let cutChunks: [Misbehaviour] = [
    reply("breaks off before the first chunk", chunked(""), then: .closes, .lost),
    reply("breaks off in a chunk size", chunked("2"), then: .closes, .lost),
    reply("breaks off in a chunk", chunked("3\r\nok"), then: .closes, .lost),
    reply("breaks off behind a chunk's data", chunked("2\r\nok"), then: .closes, .lost),
    reply("leaves the last chunk out and closes", chunked("2\r\nok\r\n"), then: .closes, .lost),
    reply("leaves the final line out and closes", chunked("2\r\nok\r\n0\r\n"), then: .closes, .lost),
    reply("breaks off between the last CR and LF", chunked("2\r\nok\r\n0\r\n\r"), then: .closes, .lost),
    reply("breaks off in a trailer", chunked("2\r\nok\r\n0\r\nA: b"), then: .closes, .lost),
    reply("resets behind a chunk", chunked("2\r\nok\r\n"), then: .resets, .lost),
    reply("says a chunk of 2^64-1 bytes and closes", chunked("FFFFFFFFFFFFFFFF\r\nok"), then: .closes, .lost),
  ]

  private static let trailers: [Misbehaviour] =
    malformed(
      [
        ("has a trailer without a colon", "no colon\r\n\r\n"), ("has a NUL in a trailer", "A: \0\r\n\r\n"),
        ("has a space before a trailer's colon", "A : b\r\n\r\n"), ("begins its trailers with a fold", " A: b\r\n\r\n"),
        ("has trailers of 16,385 bytes", "A: " + String(repeating: "a", count: 16_378) + "\r\n\r\n"),
        ("has 257 trailers", String(repeating: "A: b\r\n", count: 257) + "\r\n"),
        ("has a response in place of trailers", "HTTP/1.1 200 OK\r\n\r\n"),
      ].map { ($0.0, chunked("2\r\nok\r\n0\r\n\($0.1)")) })
    + harmless([
      ("has a length among its trailers", chunked("2\r\nok\r\n0\r\nContent-Length: 9\r\n\r\n")),
      ("asks to close in a trailer", chunked("2\r\nok\r\n0\r\nConnection: close\r\n\r\n")),
      (
        "has trailers of 16,384 bytes",
        chunked("2\r\nok\r\n0\r\nA: " + String(repeating: "a", count: 16_377) + "\r\n\r\n")
      ),
    ])

  /// Sends one block again and again, until the client has had enough.
  private static func endless(_ name: String, _ start: String, _ block: String, told: String) -> Misbehaviour {
    Misbehaviour(name: name, told: told, outcome: .malformed) { peer in
      _ = try peer.readRequest()
      try peer.send(chunked(start))
      while true { try peer.send(block) }
    }
  }

  private static let extensions: [Misbehaviour] =
    harmless([
      ("pads a chunk size with spaces", chunked("2  \r\nok\r\n0\r\n\r\n")),
      ("has chunk extensions", chunked("2 ; a=b;c=\"d;e\"\r\nok\r\n0;f\r\n\r\n")),
      ("has a last chunk of sixteen zeros", chunked("2\r\nok\r\n0000000000000000\r\n\r\n")),
    ]) + [
      endless("has a chunk size of zeros without end", "", "0", told: "16 hex digits"),
      endless("has a chunk extension without end", "2;", "aaaaaaaa", told: "4096 bytes"),
      endless("pads a chunk size without end", "2", "        ", told: "4096 bytes"),
      endless(
        "has chunk extensions at every byte", "", "1;" + String(repeating: "a", count: 1000) + "\r\nx\r\n",
        told: "16384 bytes"),
      endless(
        "has trailers without end", "0\r\n", "A: " + String(repeating: "b", count: 1000) + "\r\n", told: "16384 bytes"),
    ]
}
