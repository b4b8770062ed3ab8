// ParsedURLTests: the cache of parsed URLs, each in Foundation's form and in the engine's.

import Foundation
import LupineEngine
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite struct ParsedURLTests {
  @Test("the cache of parsed URLs returns the same object for a URL that is requested again")
  func again() throws {
    let (cache, text) = (ParsedURL.Cache(), "http://again.example/path")
    let parsed = try #require(cache.parsedURL(text))
    #expect(cache.parsedURL(text) === parsed)
    #expect(parsed.url == URL(string: text))
    let uri = try URI(text)
    #expect(parsed.uri == uri)
  }

  @Test(
    "the cache of parsed URLs stores no URL that may contain secrets, is too long or can't be requested",
    arguments: [
      "http://user:secret@host.example/", "http://host.example/?token=1",
      "http://host.example/" + String(repeating: "a", count: 256),
      "", "host.example", "ftp://host.example/", "http://",
    ])
  func notKept(text: String) {
    #expect(ParsedURL.kept(text) == nil)
  }

  @Test("the cache of parsed URLs doesn't confuse URLs that differ only in their hosts or share an entry in the cache")
  func different() throws {
    for number in 0..<1_000 {
      let text = "http://host\(number).example/the-same-path"
      let parsed = try #require(ParsedURL.kept(text))
      #expect(parsed.url.absoluteString == text)
    }
  }

  @Test("a cached URL has the same URI as a newly parsed URL, even if characters must be percent-encoded")
  func sameURI() throws {
    for text in [
      "http://host.example:8080/a%20b/ä b#f", "https://[::1]/", "HTTP://HOST.example", "http+unix://%2Frun%2Fx/y",
    ] {
      let url = try #require(URL(string: text))
      let (parsed, uri) = (try #require(ParsedURL.kept(text)), try URI(url.absoluteString))
      #expect(parsed.uri == uri)
    }
  }

  @Test("changing a request's URL discards the cached parsed URL, and requests are equal with and without a cached URL")
  func changed() throws {
    let text = "http://changed.example/"
    var request = try URLRequest(url: text, method: .get)
    let plain = URLRequest(url: try #require(URL(string: text)))
    #expect(request.parsedURL != nil && plain.parsedURL == nil)
    #expect(request == plain && request.hashValue == plain.hashValue)
    request.httpMethod = "POST"
    #expect(request.parsedURL != nil)
    request.url = URL(string: "http://other.example/")
    #expect(request.parsedURL == nil)
  }
}
