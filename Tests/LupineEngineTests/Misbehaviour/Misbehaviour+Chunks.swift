// Misbehaviour+Chunks: chunked bodies that violate RFC 9112 §7.1, are truncated, or carry excessive framing.

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
      ("sends an empty chunk size", "\r\nok\r\n"), ("sends a chunk size with 0x", "0x2\r\nok\r\n"),
      ("sends a negative chunk size", "-2\r\nok\r\n"), ("sends a chunk size with a plus sign", "+2\r\nok\r\n"),
      ("sends a space before a chunk size", " 2\r\nok\r\n"), ("sends a chunk size with the letter g", "2g\r\nok\r\n"),
      ("sends a chunk size of 17 hex digits", "00000000000000002\r\nok\r\n"),
      ("sends a chunk size beyond 64 bits", "FFFFFFFFFFFFFFFFF\r\nok\r\n"),
      ("sends a bare LF after a chunk size", "2\nok\r\n"),
      ("sends a bare CR after a chunk size", "2\rok\r\n"), ("sends two chunk sizes on one line", "2 3\r\nok\r\n"),
      ("sends a NUL in a chunk size", "2\0\r\nok\r\n"), ("omits CRLF after a chunk's data", "2\r\nok0\r\n\r\n"),
      ("sends a bare LF after a chunk's data", "2\r\nok\n0\r\n\r\n"),
      ("sends a chunk longer than its size", "2\r\nokay\r\n0\r\n\r\n"),
      ("sends a chunk shorter than its size", "5\r\nok\r\n0\r\n\r\n"),
      ("sends a response head in place of a chunk", "HTTP/1.1 200 OK\r\n\r\n"),
      ("sends a line feed in a chunk extension", "2;a\nb\r\nok\r\n"),
      ("sends a NUL in a chunk extension", "2;a\0\r\nok\r\n"),
    ].map { ($0.0, chunked($0.1)) })

  private static let cutChunks: [Misbehaviour] = [
    reply("closes before the first chunk", chunked(""), then: .closes, .lost),
    reply("closes within a chunk size", chunked("2"), then: .closes, .lost),
    reply("closes within a chunk", chunked("3\r\nok"), then: .closes, .lost),
    reply("closes right after a chunk's data", chunked("2\r\nok"), then: .closes, .lost),
    reply("closes without the last chunk", chunked("2\r\nok\r\n"), then: .closes, .lost),
    reply("closes without the final line", chunked("2\r\nok\r\n0\r\n"), then: .closes, .lost),
    reply("closes between the last CR and LF", chunked("2\r\nok\r\n0\r\n\r"), then: .closes, .lost),
    reply("closes within a trailer field", chunked("2\r\nok\r\n0\r\nA: b"), then: .closes, .lost),
    reply("resets after a chunk", chunked("2\r\nok\r\n"), then: .resets, .lost),
    reply("announces a chunk of 2^64-1 bytes and closes", chunked("FFFFFFFFFFFFFFFF\r\nok"), then: .closes, .lost),
  ]

  private static let trailers: [Misbehaviour] =
    malformed(
      [
        ("sends a trailer without a colon", "no colon\r\n\r\n"), ("sends a NUL in a trailer", "A: \0\r\n\r\n"),
        ("sends a space before a trailer's colon", "A : b\r\n\r\n"), ("folds the first trailer", " A: b\r\n\r\n"),
        ("sends 16,385 bytes of trailers", "A: " + String(repeating: "a", count: 16_378) + "\r\n\r\n"),
        ("sends 257 trailers", String(repeating: "A: b\r\n", count: 257) + "\r\n"),
        ("sends a response in place of trailer fields", "HTTP/1.1 200 OK\r\n\r\n"),
      ].map { ($0.0, chunked("2\r\nok\r\n0\r\n\($0.1)")) })
    + harmless([
      ("sends Content-Length in the trailer section", chunked("2\r\nok\r\n0\r\nContent-Length: 9\r\n\r\n")),
      ("sends Connection: close in the trailer section", chunked("2\r\nok\r\n0\r\nConnection: close\r\n\r\n")),
      (
        "sends 16,384 bytes of trailers",
        chunked("2\r\nok\r\n0\r\nA: " + String(repeating: "a", count: 16_377) + "\r\n\r\n")
      ),
    ])

  /// Creates a peer whose chunked body begins with `start`, and then repeats `block` until the client closes the connection.
  private static func endless(_ name: String, _ start: String, _ block: String, quote: String) -> Misbehaviour {
    Misbehaviour(name: name, quote: quote, outcome: .malformed) { peer in
      _ = try peer.readRequest()
      try peer.send(chunked(start))
      while true { try peer.send(block) }
    }
  }

  private static let extensions: [Misbehaviour] =
    harmless([
      ("pads a chunk size with spaces", chunked("2  \r\nok\r\n0\r\n\r\n")),
      ("sends chunk extensions", chunked("2 ; a=b;c=\"d;e\"\r\nok\r\n0;f\r\n\r\n")),
      ("sends a last chunk size of sixteen zeros", chunked("2\r\nok\r\n0000000000000000\r\n\r\n")),
    ]) + [
      endless("sends an endless chunk size of zeros", "", "0", quote: "16 hex digits"),
      endless("sends an endless chunk extension", "2;", "aaaaaaaa", quote: "4096 bytes"),
      endless("pads a chunk size endlessly", "2", "        ", quote: "4096 bytes"),
      endless(
        "sends a long chunk extension for each byte", "", "1;" + String(repeating: "a", count: 1000) + "\r\nx\r\n",
        quote: "16384 bytes"),
      endless(
        "sends endless trailers", "0\r\n", "A: " + String(repeating: "b", count: 1000) + "\r\n", quote: "16384 bytes"),
    ]
}
