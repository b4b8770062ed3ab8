// ProxySettingsTests: the choice of a request's proxy, by the environment or by configuration.

import LupineWire
import Testing

@testable import LupineEngine

@Suite("ProxySettings")
struct ProxySettingsTests {
  /// Returns the host of the proxy that these environment variables select for a request, or nil if there is none.
  private func host(_ uri: String, _ environment: [String: String]) throws -> String? {
    try ProxySettings.environment.rules(environment: environment).proxy(for: try URI(uri).origin)?.host
  }

  // Compared with curl 7.88.1, which agrees except on HTTP_PROXY.
  @Test(
    "the environment variables select the proxy in the same way as in curl",
    arguments: [
      ("http", [:], nil),
      ("http", ["http_proxy": "a"], "a"),
      ("https", ["http_proxy": "a"], nil),
      ("http", ["https_proxy": "a"], nil),
      ("https", ["https_proxy": "a"], "a"),
      ("https", ["HTTPS_PROXY": "a"], "a"),
      ("https", ["https_proxy": "a", "HTTPS_PROXY": "b"], "a"),
      ("http", ["http_proxy": "a", "HTTP_PROXY": "b"], "a"),
      ("http", ["Http_Proxy": "a"], nil),
      // all_proxy has the lowest precedence.
      ("http", ["all_proxy": "a"], "a"),
      ("https", ["all_proxy": "a"], "a"),
      ("https", ["ALL_PROXY": "a"], "a"),
      ("https", ["all_proxy": "a", "ALL_PROXY": "b"], "a"),
      ("http", ["all_proxy": "a", "http_proxy": "b"], "b"),
      ("https", ["all_proxy": "a", "HTTPS_PROXY": "b"], "b"),
      // An empty variable counts as unset.
      ("http", ["http_proxy": ""], nil),
      ("http", ["http_proxy": "", "all_proxy": "a"], "a"),
      ("https", ["https_proxy": "", "HTTPS_PROXY": "a"], "a"),
      ("https", ["https_proxy": "", "HTTPS_PROXY": "", "all_proxy": "a"], "a"),
      ("https", ["all_proxy": "", "ALL_PROXY": "a"], "a"),
      // Lists of hosts that bypass the proxy.
      ("http", ["http_proxy": "a", "no_proxy": "example.com"], nil),
      ("http", ["http_proxy": "a", "NO_PROXY": "example.com"], nil),
      ("http", ["http_proxy": "a", "no_proxy": "b", "NO_PROXY": "example.com"], "a"),
      ("http", ["http_proxy": "a", "no_proxy": "example.com", "NO_PROXY": "b"], nil),
      ("http", ["http_proxy": "a", "no_proxy": "", "NO_PROXY": "example.com"], nil),
      ("https", ["all_proxy": "a", "no_proxy": "example.com"], nil),
      // curl never reads HTTP_PROXY. This client does, except in a CGI program.
      ("http", ["HTTP_PROXY": "a"], "a"),
      ("http", ["HTTP_PROXY": "a", "all_proxy": "b"], "a"),
      ("http", ["HTTP_PROXY": "a", "REQUEST_METHOD": "GET"], nil),
      ("http", ["HTTP_PROXY": "a", "REQUEST_METHOD": ""], nil),
      ("http", ["HTTP_PROXY": "a", "REQUEST_METHOD": "GET", "ALL_PROXY": "b"], "b"),
      ("http", ["http_proxy": "a", "REQUEST_METHOD": "GET"], "a"),
      ("https", ["HTTPS_PROXY": "a", "REQUEST_METHOD": "GET"], "a"),
    ] as [(String, [String: String], String?)])
  func environment(scheme: String, environment: [String: String], expected: String?) throws {
    #expect(try host("\(scheme)://example.com/", environment) == expected)
  }

  @Test("local hosts bypass the proxy only if the bypass list contains them")
  func localhost() throws {
    #expect(try host("http://localhost/", ["http_proxy": "a"]) == "a")
    #expect(try host("http://127.0.0.1/", ["http_proxy": "a"]) == "a")
    #expect(try host("http://[::1]/", ["http_proxy": "a", "no_proxy": "::1"]) == nil)
  }

  @Test(
    "a malformed proxy environment variable fails the requests that it affects, with an error naming the variable",
    arguments: ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
  func malformed(name: String) throws {
    let environment = [name: "nonsense://h", "https_proxy": "b", "no_proxy": "direct.example"]
    #expect(throws: ProxyError(.unsupportedScheme("nonsense"), name)) { try host("http://example.com/", environment) }
    #expect(try host("https://example.com/", environment) == "b")
    #expect(try host("http://direct.example/", environment) == nil)
  }

  @Test("a fixed proxy applies to http and https except for the hosts on the bypass list, whatever the environment")
  func fixed() throws {
    let proxy = try Proxy("socks5h://p")
    let environment = ["http_proxy": "a", "no_proxy": "*"]
    let rules = ProxySettings.fixed(proxy, bypass: ProxyBypass("b.example")).rules(environment: environment)
    for uri in ["http://example.com/", "https://example.com/"] {
      #expect(try rules.proxy(for: try URI(uri).origin) == proxy)
    }
    #expect(try rules.proxy(for: try URI("http://a.b.example:8080/").origin) == nil)
    #expect(
      try ProxySettings.fixed(proxy).rules(environment: environment).proxy(for: try URI("http://b/").origin) == proxy)
  }

  @Test("if the engine's proxy setting is .none, the engine ignores the proxies in the environment")
  func none() throws {
    let rules = ProxySettings.none.rules(environment: ["http_proxy": "a", "all_proxy": "nonsense://"])
    #expect(try rules.proxy(for: try URI("http://example.com/").origin) == nil)
    #expect(try rules.proxy(for: try URI("https://example.com/").origin) == nil)
  }
}
