// ResponseSequenceTests: the parser separates several responses on one connection, whatever the server sends.

@testable import LupineCommand
import LupineTestSupport
import Testing

@Suite("Several responses on a connection of lupine fuzz")
struct ResponseSequenceTests {
  /// A summary of a sequence after all bytes of `text`, in pieces of `size` bytes.
  private func parse(
    _ text: String, size: Int = .max, method: String = "GET", ends: Bool = false
  ) -> (statuses: [Int], left: Int, failure: String?) {
    var sequence = ResponseSequence(method: method)
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      sequence.receive(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    if ends { sequence.receiveEnd() }
    return (sequence.responses.map(\.status), sequence.leftByteCount, sequence.failure)
  }

  private static let two =
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
    + "HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"

  @Test("responses are told apart at every split", arguments: 1...two.utf8.count)
  func splits(size: Int) {
    let parsed = parse(Self.two, size: size, ends: true)
    #expect(parsed.statuses == [200, 404] && parsed.left == 0 && parsed.failure == nil)
  }

  @Test("bytes that belong to no complete response are counted, and an incomplete response is a failure at the end")
  func incomplete() {
    let parsed = parse(Self.two + "HTTP/1.1 2")
    #expect(parsed.statuses == [200, 404] && parsed.left == 10 && parsed.failure == nil)
    #expect(parse(Self.two + "HTTP/1.1 2", ends: true).failure != nil)
    #expect(parse(Self.two + "nonsense").failure != nil)
    #expect(parse("", ends: true).failure == nil)
    let body = parse("HTTP/1.1 200 OK\r\n\r\nuntil the end", ends: true)
    #expect(body.statuses == [200] && body.left == 0 && body.failure == nil)
    #expect(parse("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", method: "HEAD").statuses == [200])
  }

  @Test("a server can't make the fuzzer store more than 16 responses of a connection, or 64 KiB of a body")
  func limits() {
    let many = parse(String(repeating: "HTTP/1.1 204 No Content\r\n\r\n", count: 17))
    #expect(many.statuses.count == 16 && many.failure == "the server sent more than 16 responses")
    var sequence = ResponseSequence(method: "GET")
    sequence.receive(Array("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n".utf8))
    sequence.receive([UInt8](repeating: 0x78, count: 100_000))
    #expect(sequence.responses.map(\.bytes.count) == [64 * 1024])
  }

  @Test("random bytes neither crash the fuzzer nor keep it busy", arguments: 1...200)
  func random(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var bytes = Array(Self.two.utf8)
    for _ in 0..<random.number(1...8) { bytes[random.number(0...bytes.count - 1)] = UInt8(random.number(0...255)) }
    var sequence = ResponseSequence(method: random.pick(["GET", "HEAD", "CONNECT"]))
    while !bytes.isEmpty {
      let count = random.number(1...bytes.count)
      sequence.receive(Array(bytes.prefix(count)))
      bytes.removeFirst(count)
    }
    sequence.receiveEnd()
    #expect(sequence.responses.count <= 16 && sequence.leftByteCount <= Self.two.utf8.count)
  }
}
