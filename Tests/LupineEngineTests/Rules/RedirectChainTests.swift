// RedirectChainTests: the number of redirects and the time left for them.

import LupineReactor
import LupineWire
import Testing

@testable import LupineEngine

@Suite("A chain of redirects")
struct RedirectChainTests {
  /// Returns the metrics of an exchange with this duration. If the duration is nil, the exchange hasn't ended.
  private func exchange(_ duration: Duration?) -> ExchangeMetrics {
    var metrics = ExchangeMetrics(start: Instant(nanoseconds: 0))
    metrics.end = duration.map { metrics.start + $0 }
    return metrics
  }

  private func request(total: Duration? = nil) throws -> EngineRequest {
    var request = EngineRequest(uri: try URI("http://a.test/"))
    request.timeouts.total = total
    return request
  }

  @Test("the client follows as many redirects in a row as the redirect rule permits, but no more")
  func count() throws {
    var rule = RedirectRule()
    rule.countMax = 2
    var chain = RedirectChain(rule, total: nil)
    var request = try request()
    for count in 1...2 {
      let next = try #require(try chain.next(after: .redirect(to: "/next"), to: request))
      request = chain.follow(next, after: exchange(.zero))
      #expect(chain.count == count && request.uri.target == "/next" && request.timeouts.total == nil)
    }
    let last = request
    let error = #expect(throws: EngineError.self) { try chain.next(after: .redirect(to: "/next"), to: last) }
    #expect(error?.code == .tooManyRedirects)
  }

  @Test("the client follows no redirects if the request has no redirect rule")
  func withoutRule() throws {
    let chain = RedirectChain(nil, total: nil)
    #expect(try chain.next(after: .redirect(to: "/next"), to: try request()) == nil)
  }

  @Test(
    "if the redirect rule doesn't allow cycles, a redirect to an earlier request is an error, whatever its fragment")
  func cycles() throws {
    var rule = RedirectRule()
    rule.allowsCycles = false
    var chain = RedirectChain(rule, total: nil)
    var request = try request()
    for location in ["/a", "/b?q", "/b"] {
      let next = try #require(try chain.next(after: .redirect(to: location), to: request))
      request = chain.follow(next, from: request, after: exchange(.zero))
    }
    let last = request
    for location in ["/", "/a", "/b?q#f", "/b", "http://A.test:80/"] {
      let error = #expect(throws: EngineError.self, "\(location)") {
        try chain.next(after: .redirect(to: location), to: last)
      }
      #expect(error?.code == .tooManyRedirects && error?.description.contains("had visited") == true)
    }
    for location in ["/c", "/a?", "http://b.test/", "https://a.test/"] {
      #expect(try chain.next(after: .redirect(to: location), to: last) != nil, "\(location)")
    }
    // A POST that 303 redirects to its own URI becomes another request.
    var form = last
    form.method = "POST"
    #expect(try RedirectChain(rule, total: nil).next(after: .redirect(303, to: "/b"), to: form) != nil)
  }

  @Test("a request, its redirects and its repetitions share one total time limit")
  func time() throws {
    var chain = RedirectChain(RedirectRule(), total: .seconds(10))
    let first = try request(total: .seconds(10))
    let second = chain.follow(first, after: exchange(.seconds(4)))
    #expect(second.timeouts.total == .seconds(6) && chain.count == 1)
    let third = chain.resend(second, after: exchange(.seconds(5)))
    #expect(third.timeouts.total == .seconds(1) && chain.count == 1)
    // A request that is sent again gets the rest of the redirect chain's total time, whatever its own total time limit was.
    let fourth = chain.resend(try request(), after: exchange(nil))
    #expect(fourth.timeouts.total == .seconds(1))
    #expect(chain.follow(fourth, after: exchange(.seconds(2))).timeouts.total == .zero)
  }
}
