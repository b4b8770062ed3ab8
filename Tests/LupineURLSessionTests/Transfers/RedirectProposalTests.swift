// RedirectProposalTests: the rule that decides which URLs a task may request after a redirect.

import Foundation
import LupineEngine
import Testing

@testable import LupineURLSession

@Suite struct RedirectProposalTests {
  struct Row: Sendable, CustomTestStringConvertible {
    /// The URL of the latest request for an http or https URL, or nil if there was none.
    let sent: String?
    let proposed: String
    var chosen: String?
    let code: EngineError.Code?

    init(_ sent: String?, _ proposed: String, chosen: String? = nil, _ code: EngineError.Code?) {
      (self.sent, self.proposed, self.chosen, self.code) = (sent, proposed, chosen, code)
    }

    var testDescription: String { "\(sent ?? "own scheme") to \(proposed), \(chosen ?? "as proposed")" }
  }

  @Test(
    "a redirect that a URL protocol reports is refused as if a server had sent it, unless the delegate changes the scheme",
    arguments: [
      Row("https://a/", "https://b/", nil), Row("http://a/", "http://b/", nil), Row("http://a/", "HTTPS://b/", nil),
      Row("https://a/", "http://a/", .redirectRefused), Row("HTTPS://a/", "HTTP://a/", .redirectRefused),
      Row("https://a/", "http://a/", chosen: "http://a/?q", .redirectRefused),
      Row("https://a/", "http://a/", chosen: "HTTP://b/c", .redirectRefused),
      Row("https://a/", "http://a/", chosen: "https://a/", nil),
      Row("http://a/", "http+unix://%2Fs/", .malformedResponse),
      Row("https://a/", "http+unix://%2Fs/", chosen: "https+unix://%2Ft/", .malformedResponse),
      Row("http+unix://%2Fs/", "http+unix://%2Fs/a", nil),
      Row("http+unix://%2Fs/", "http+unix://%2Ft/", .malformedResponse),
      Row("http://a/", "file:///etc/hostname", .malformedResponse), Row("http://a/", "data:,x", .malformedResponse),
      Row("http://a/", "app://a/", .malformedResponse), Row("http://a/", "app://a/", chosen: "app://b/", nil),
      // The engine refuses the port, so only the scheme counts.
      Row("https://a:0/", "http://a/", .redirectRefused), Row("http://a:0/", "http://a/", nil),
      Row(nil, "http://a/", nil), Row(nil, "file:///etc/hostname", nil), Row(nil, "http+unix://%2Fs/", nil),
    ])
  func proposal(_ row: Row) throws {
    let proposed = try #require(URL(string: row.proposed))
    let chosen = try row.chosen.map { try #require(URL(string: $0)) } ?? proposed
    let sent = try row.sent.map { try #require(URL(string: $0)) }
    #expect(RedirectProposal(proposed, after: sent, RedirectRule()).refusal(of: chosen)?.code == row.code)
    var permissive = RedirectRule()
    permissive.allowsDowngrade = true
    let code = RedirectProposal(proposed, after: sent, permissive).refusal(of: chosen)?.code
    #expect(code == (row.code == .redirectRefused ? nil : row.code))
  }
}
