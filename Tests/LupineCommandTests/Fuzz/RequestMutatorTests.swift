// RequestMutatorTests: mutated requests are reproducible and bounded, and every mutation is used.

@testable import LupineCommand
import LupineTestSupport
import Testing

@Suite("Mutated requests of lupine fuzz")
struct RequestMutatorTests {
  private static let good = RequestShape(
    method: "GET", target: "/a?b=c",
    lines: [RequestShape.Line(name: "Host", value: "h.test"), RequestShape.Line(name: "Accept", value: "*/*")])
  private static let all =
    RequestMutator.Mutation.ofRequestLine + RequestMutator.Mutation.ofFields + RequestMutator.Mutation.ofFraming

  @Test("the fuzz command sends request 0 without mutations")
  func goodRequest() {
    let request = RequestMutator(good: Self.good, seed: 1).request(0)
    let text = "GET /a?b=c HTTP/1.1\r\nHost: h.test\r\nAccept: */*\r\n\r\n"
    #expect(request.bytes == Array(text.utf8) && request.mutations.isEmpty && !request.mayBeUnfinished)
  }

  @Test("the bytes of a fuzz request depend only on the seed and the request's number")
  func replayed() {
    let run = (1...200).map { RequestMutator(good: Self.good, seed: 7).request($0).bytes }
    #expect(RequestMutator(good: Self.good, seed: 7).request(150).bytes == run[149])
    let other = (1...200).map { RequestMutator(good: Self.good, seed: 8).request($0).bytes }
    #expect(zip(run, other).count { $0 == $1 } < 20)
    // Most requests of one run differ from each other.
    #expect(Set(run).count > 150)
  }

  @Test("each of the fuzzer's mutations changes the request", arguments: all.map(\.name))
  func changes(name: String) throws {
    let mutation = try #require(Self.all.first { $0.name == name })
    var differences = 0
    for seed in 1...20 as ClosedRange<UInt64> {
      var shape = Self.good
      var random = SplitMix64(seed: seed)
      mutation.apply(&shape, &random)
      if shape.bytes != Self.good.bytes { differences += 1 }
    }
    #expect(differences == 20)
  }

  @Test(
    "all of the fuzzer's mutations occur, and a request has a limited size and at most four mutations")
  func bounded() {
    let mutator = RequestMutator(good: Self.good, seed: 3)
    var names: Set<String> = []
    // Without optimization, a request takes 4 ms. LUPINE_TESTS_REPEAT tries more of them.
    for number in 1...max(1_000, repetitions(of: 1_000)) {
      let request = mutator.request(number)
      #expect((1...4).contains(request.mutations.count) && request.bytes.count < 400_000)
      names.formUnion(request.mutations)
    }
    let ofBytes: Set<String> = ["a flipped bit", "a changed byte", "bytes removed", "bytes repeated", "truncated"]
    #expect(names == ofBytes.union(Self.all.map(\.name)))
  }

  @Test(
    "the fuzzer decides from a request's bytes whether the request is complete",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", true),
      ("\r\n\r\nGET / HTTP/1.1\r\n\r\n", true),
      ("GET / HTTP/1.1\r\nHost: a\r\n", false),
      ("GET / HTTP/1.1\n\n", false),
      ("\r\n\r\n", false),
      ("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody", true),
      ("POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nbody", false),
      ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\nbody", false),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n", true),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n", false),
    ])
  func wholeness(text: String, isWhole: Bool) {
    #expect(MutatedRequest.isWhole(Array(text.utf8)) == isWhole)
  }

  @Test("the fuzzer decides from a request's bytes whether a server may treat the request as HTTP/0.9 or as HEAD")
  func kinds() {
    func request(_ text: String) -> MutatedRequest {
      MutatedRequest(number: 1, bytes: Array(text.utf8), mutations: [], mayBeUnfinished: false)
    }
    #expect(request("GET /\r\n\r\n").looksLike09 && request("\r\nGET / HTP/1.1\r\n").looksLike09)
    #expect(!request("GET / HTTP/1.1\r\n\r\n").looksLike09 && !request("GET / http/2\r\n").looksLike09)
    #expect(request("head / HTTP/1.1\r\n").mayBeHead && !request("GET / HTTP/1.1\r\n").mayBeHead)
  }
}
