// RedirectHistoryTests: what a task's later requests may send after a URLProtocol has redirected the task.

import Foundation
import Testing

@testable import LupineURLSession

@Suite struct RedirectHistoryTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let from: String
    let to: String
    var leavesOrigin = true
    var presentsIdentity = false
    var usesHTTP = true

    var testDescription: String { "\(from) to \(to)" }
  }

  @Test(
    "after a URLProtocol redirects a task, the origins and schemes determine what later requests may send",
    arguments: [
      Row(from: "https://a/", to: "https://A:443/b", leavesOrigin: false, presentsIdentity: true),
      Row(from: "http://a/", to: "https://a/", presentsIdentity: true), Row(from: "https://a/", to: "http://a/"),
      Row(from: "https://a/", to: "https://b/"), Row(from: "https://a/", to: "https://a:444/"),
      Row(from: "https://a/", to: "custom://a/"), Row(from: "custom://a/", to: "https://a/", usesHTTP: false),
      Row(from: "custom://a/", to: "CUSTOM://A/b", leavesOrigin: false, usesHTTP: false),
      Row(from: "custom://a/", to: "custom://b/", usesHTTP: false),
      Row(from: "custom://a/", to: "custom://a:1/", usesHTTP: false),
      Row(from: "custom://a/", to: "other://a/", usesHTTP: false),
      Row(from: "http+unix://%2Frun%2Fa/", to: "custom://a/"),
    ])
  func redirect(_ row: Row) throws {
    let first = URLRequest(url: try #require(URL(string: row.from)))
    let second = URLRequest(url: try #require(URL(string: row.to)))
    var history = RedirectHistory()
    history.add(from: first, to: second)
    #expect(history.count == 1)
    #expect(history.hasLeftOrigin == row.leavesOrigin)
    #expect(history.presentsIdentity == row.presentsIdentity)
    #expect(history.hasUsedHTTP == row.usesHTTP)
    #expect(history.httpURL == (row.usesHTTP ? first.url : nil))
    // Later redirects, even those within the second origin, permit nothing that the first one has ruled out.
    let third = URLRequest(url: try #require(URL(string: "https://z/")))
    history.add(from: third, to: third)
    #expect(history.count == 2)
    #expect(history.hasLeftOrigin == row.leavesOrigin)
    #expect(history.presentsIdentity == row.presentsIdentity)
    #expect(history.hasUsedHTTP)
    // A redirect between other schemes doesn't permit a redirect to a local file again.
    let fourth = URLRequest(url: try #require(URL(string: "custom://a/")))
    history.add(from: fourth, to: fourth)
    #expect(history.hasUsedHTTP && history.httpURL == third.url)
  }
}
