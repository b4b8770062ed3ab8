// DesyncProbeTests: the bytes of the desync probes, the judgement of responses, and the comparison of framings.

@testable import LupineCommand
import Testing

@Suite("Desync probes of lupine fuzz")
struct DesyncProbeTests {
  private static let good = RequestShape(
    method: "GET", target: "/a",
    lines: [RequestShape.Line(name: "Host", value: "h.test"), RequestShape.Line(name: "Connection", value: "close")])

  private var probes: [DesyncProbe] {
    DesyncProbe.all(Self.good, seed: 7) { Self.good.replaced(method: "GET", target: "/lupine-\($0)") }
  }

  @Test(
    "each probe has its own marker, which depends on the seed, and asks the server to close the connection at the end")
  func markers() {
    #expect(probes.count == DesyncProbe.count)
    #expect(Set(probes.map(\.name)).count == probes.count && Set(probes.map(\.terms.marker)).count == probes.count)
    #expect(probes.map(\.terms.marker) != (0..<probes.count).map { DesyncProbe.marker(8, $0) })
    for probe in probes {
      let text = String(decoding: probe.parts.joined(), as: UTF8.self)
      #expect(text.contains("GET /lupine-\(probe.terms.marker) HTTP/1.1\r\nHost: h.test\r\n"), "\(probe.name)")
      #expect(text.hasSuffix("\r\nConnection: close\r\n\r\n"), "\(probe.name)")
    }
    let kinds = Set(probes.compactMap { $0.name.split(separator: ":").first })
    #expect(kinds.isSuperset(of: ["CL.TE", "TE.CL", "TE.0", "0.CL"]))
  }

  @Test("the framing of each valid probe is exact")
  func exactFraming() {
    for probe in probes where probe.terms.isValid && probe.expected.first == .any {
      #expect(MutatedRequest.isWhole(probe.parts[0]), "\(probe.name)")
    }
    let clash = probes.first { $0.name == "TE.CL: Transfer-Encoding: chunked" }
    let text = String(decoding: clash?.parts[0] ?? [], as: UTF8.self)
    // Content-Length covers the line with the chunk's size, so that the marked request follows.
    let body = text.split(separator: "\r\n\r\n", maxSplits: 1).last ?? ""
    #expect(text.contains("Content-Length: 4\r\n") && body.dropFirst(3).hasPrefix("GET /lupine-"), "\(text)")
  }

  private static let baseline = DesyncBaseline(ownStatus: 200, markedStatus: 404)
  private static let echoing = DesyncBaseline(ownStatus: 200, echoes: true)

  private func verdict(
    _ responses: [(Int, String)], _ ending: Conversation.Ending = .closed,
    _ expected: [DesyncProbe.Answer] = [.any, .own], isValid: Bool = false, _ baseline: DesyncBaseline = baseline
  ) -> FuzzVerdict {
    let terms = DesyncProbe.Terms(marker: "m4rk", isValid: isValid)
    let conversation = Conversation(
      responses: responses.map { ResponseSequence.Response(status: $0.0, bytes: Array($0.1.utf8)) }, ending: ending)
    return terms.verdict(conversation, expected: expected, baseline)
  }

  @Test("a response to hidden bytes, a surplus response and an exchanged response are desyncs")
  func desyncs() {
    #expect(verdict([(200, ""), (404, "")]).fault == .desync)
    #expect(verdict([(405, ""), (200, ""), (404, "")]).fault == .desync)
    #expect(verdict([(200, ""), (200, "/m4rk")], .closed, Self.echoing).fault == .desync)
    #expect(verdict([(200, ""), (404, "")], .closed, [.marked, .own]).fault == .desync)
    #expect(verdict([(404, ""), (200, "")], .closed, [.own, .marked]).fault == .desync)
    // Only a valid request must not be refused.
    #expect(verdict([(200, ""), (400, "")], isValid: true).fault == .desync)
    #expect(verdict([(200, ""), (400, "")]).fault == nil)
  }

  @Test("a refusal, a closed connection, an own response and an unrelated error aren't desyncs")
  func correct() {
    #expect(verdict([(400, "")]) == .answered(status: 400))
    #expect(verdict([(200, "")]) == .answered(status: 200))
    #expect(verdict([]) == .closed)
    #expect(verdict([(405, ""), (200, "")], .open) == .answered(status: 405))
    #expect(verdict([(200, ""), (503, "")], isValid: true) == .answered(status: 200))
    #expect(verdict([(404, ""), (200, "")], .closed, [.marked, .own]) == .answered(status: 404))
    // The first request contains the marker, so a server may return it.
    #expect(verdict([(200, "m4rk"), (200, "")], .closed, Self.echoing) == .answered(status: 200))
    // Without a difference between the responses, none can be attributed.
    let alike = DesyncBaseline(ownStatus: 200)
    #expect(verdict([(200, ""), (200, "")], .closed, [.marked, .own], alike) == .answered(status: 200))
  }

  @Test("a missing response is a hang only if all requests are valid")
  func hangs() {
    #expect(verdict([(200, "")], .open) == .waits && verdict([], .open) == .waits)
    #expect(verdict([(200, "")], .open, isValid: true).fault == .hang)
    #expect(verdict([(200, "")], .malformed("odd")) == .fault(.brokenReply, "odd"))
    #expect(verdict([], .unreachable("no")) == .unreachable("no"))
  }

  private func verdict(
    _ responses: [(Int, String)], _ ending: Conversation.Ending, _ baseline: DesyncBaseline
  ) -> FuzzVerdict { verdict(responses, ending, [.any, .own], baseline) }

  private func verdict(
    _ responses: [(Int, String)], _ ending: Conversation.Ending, _ expected: [DesyncProbe.Answer],
    _ baseline: DesyncBaseline
  ) -> FuzzVerdict { verdict(responses, ending, expected, isValid: false, baseline) }

  @Test("two framings differ in the number of responses, their classes, the end of the connection, or bytes left")
  func framings() {
    let one = Framing(statusClasses: [2, 2], ending: .closed)
    #expect(one.differences(from: one).isEmpty)
    #expect(one.differences(from: Framing(statusClasses: [2], ending: .closed)) == ["2 responses and 1"])
    #expect(
      one.differences(from: Framing(statusClasses: [4, 2], ending: .open, leftByteCount: 3)) == [
        "response 1 is 2xx and 4xx", "the first server closed the connection, the second kept the connection open",
        "0 bytes and 3 after the last response",
      ])
    // The number of bytes depends on the servers' content.
    let three = Framing(statusClasses: [2], ending: .closed, leftByteCount: 3)
    #expect(three.differences(from: Framing(statusClasses: [2], ending: .closed, leftByteCount: 4)).isEmpty)
  }

  @Test(
    "a request of the corpus is divided into its parts only if they have the same bytes",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: a\r\nX:y\r\nEmpty:\r\n\r\nbody", 3), ("GET / HTTP/1.1\r\n\r\n", 0),
      ("GET / HTTP/1.1\nHost: a\r\n\r\n", nil), ("GET / HTTP/1.1\r\nnone\r\n\r\n", nil), ("GET /\r\n\r\n", nil),
      ("GET / HTTP/1.1\r\nHost: a\r\n", nil), ("", nil),
    ] as [(String, Int?)])
  func corpus(text: String, lineCount: Int?) {
    let shape = RequestShape(parsing: Array(text.utf8))
    #expect(shape?.lines.count == lineCount)
    #expect(shape == nil || shape?.bytes == Array(text.utf8))
  }

  @Test(
    "a mutated request of any corpus is never empty, and every number can be created",
    arguments: ["x", "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"])
  func anyCorpus(text: String) {
    let corpus = [CorpusRequest(name: "a", bytes: Array(text.utf8))]
    let mutator = RequestMutator(good: Self.good, seed: 1, corpus: corpus)
    #expect(mutator.request(1).bytes == Array(text.utf8))
    for number in 2...500 { #expect(!mutator.request(number).bytes.isEmpty) }
    #expect(mutator.request(300).bytes == mutator.request(300).bytes)
  }
}
