// RequestMinimizerTests: a request is reduced while it causes the same fault, with a limited number of attempts.

@testable import LupineCommand
import LupineTestSupport
import Testing

@Suite("Reducing the requests of lupine fuzz")
struct RequestMinimizerTests {
  private func reduce(_ text: String, countMax: Int, _ isFault: (String) -> Bool) -> RequestMinimizer {
    var minimizer = RequestMinimizer(Array(text.utf8), countMax: countMax)
    while let bytes = minimizer.next() { minimizer.note(isSame: isFault(String(decoding: bytes, as: UTF8.self))) }
    return minimizer
  }

  @Test("only the bytes that cause the fault remain")
  func minimal() {
    let text = "GET / HTTP/1.1\r\nHost: a.test\r\nX-One: 1\r\nX-Two: 2\r\nAccept: */*\r\n\r\nbody"
    let one = reduce(text, countMax: 1_000) { $0.contains("X-Two") }
    #expect(one.bytes == Array("X-Two".utf8) && one.requestCount < 150)
    // Two places that are far apart.
    let two = reduce(text, countMax: 1_000) { $0.contains("GET") && $0.contains("dy") }
    #expect(two.bytes == Array("GETdy".utf8))
    let all = reduce(text, countMax: 1_000) { $0 == text }
    #expect(all.bytes == Array(text.utf8))
  }

  @Test("a request is reduced with at most the permitted number of attempts, whatever their results", arguments: 1...40)
  func bounded(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let text = (0..<random.number(0...300)).map { _ in random.pick(["a", "\n", "\r\n", "bc"]) }.joined()
    let countMax = random.number(0...60)
    var minimizer = RequestMinimizer(Array(text.utf8), countMax: countMax)
    var (calls, size) = (0, text.utf8.count)
    while let bytes = minimizer.next() {
      calls += 1
      let isSame = random.number(0...2) == 0
      // Each attempt is shorter than the request so far, and is never empty.
      #expect(!bytes.isEmpty && bytes.count < size)
      if isSame { size = bytes.count }
      minimizer.note(isSame: isSame)
      guard calls <= countMax else { break }
    }
    #expect(calls <= countMax && calls == minimizer.requestCount && minimizer.bytes.count == size)
  }
}
