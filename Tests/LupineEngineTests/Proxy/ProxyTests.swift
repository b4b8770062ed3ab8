// ProxyTests: parsing and refusing proxy URLs, and keeping passwords out of descriptions.

import Testing

@testable import LupineEngine

@Suite("Proxy")
struct ProxyTests {
  struct Parts: Sendable {
    let url: String
    let description: String
    let user: String?
    let password: String?

    init(_ url: String, _ description: String, _ user: String? = nil, _ password: String? = nil) {
      self.url = url
      self.description = description
      self.user = user
      self.password = password
    }
  }

  // Each URL was also passed to curl 7.88.1 as --proxy. curl agrees except where marked.
  @Test(
    "the URL of a proxy is parsed into scheme, host, port and credentials",
    arguments: [
      Parts("127.0.0.1", "http://127.0.0.1:1080"),
      Parts("127.0.0.1:3128", "http://127.0.0.1:3128"),
      Parts("http://127.0.0.1", "http://127.0.0.1:1080"),
      Parts("http://127.0.0.1/", "http://127.0.0.1:1080"),
      Parts("http://127.0.0.1:3128/path?x#y", "http://127.0.0.1:3128"),
      Parts("127.0.0.1:3128/path", "http://127.0.0.1:3128"),
      Parts("HTTP://127.0.0.1:3128", "http://127.0.0.1:3128"),
      Parts("http://127.0.0.1:80", "http://127.0.0.1:80"),
      Parts("http://127.0.0.1:", "http://127.0.0.1:1080"),
      Parts("localhost", "http://localhost:1080"),
      Parts("LOCALHOST:3128", "http://localhost:3128"),
      Parts("http://[::1]:3001", "http://[::1]:3001"),
      Parts("[::1]:3001", "http://[::1]:3001"),
      Parts("http://[::1]", "http://[::1]:1080"),
      Parts("socks5://127.0.0.1", "socks5://127.0.0.1:1080"),
      Parts("socks5h://proxy.example", "socks5h://proxy.example:1080"),
      Parts("SOCKS5H://127.0.0.1:3128", "socks5h://127.0.0.1:3128"),
      Parts("socks5://[::1]", "socks5://[::1]:1080"),
      // Proxy URLs with credentials.
      Parts("http://user:pass@127.0.0.1:3128", "http://127.0.0.1:3128", "user", "pass"),
      Parts("user:pass@127.0.0.1:3128", "http://127.0.0.1:3128", "user", "pass"),
      Parts("user:pass@127.0.0.1", "http://127.0.0.1:1080", "user", "pass"),
      Parts("http://user@127.0.0.1:3128", "http://127.0.0.1:3128", "user", ""),
      Parts("http://user:@127.0.0.1:3128", "http://127.0.0.1:3128", "user", ""),
      Parts("http://:pass@127.0.0.1:3128", "http://127.0.0.1:3128", "", "pass"),
      Parts("http://:@127.0.0.1:3128", "http://127.0.0.1:3128", "", ""),
      Parts("http://us%40er:p%3Ass@127.0.0.1:3128", "http://127.0.0.1:3128", "us@er", "p:ss"),
      Parts("http://user:p:ss@127.0.0.1:3128", "http://127.0.0.1:3128", "user", "p:ss"),
      Parts("http://%C3%BC:%F0%9F%91%8D@h", "http://h:1080", "ü", "👍"),
      Parts("http://ü:👍@h", "http://h:1080", "ü", "👍"),
      Parts("http://user:100%@h", "http://h:1080", "user", "100%"),
      Parts("socks5://user:pass@127.0.0.1", "socks5://127.0.0.1:1080", "user", "pass"),
      Parts("socks5h://a:b@[::1]:9", "socks5h://[::1]:9", "a", "b"),
      Parts("socks5://user@h", "socks5://h:1080", "user", ""),
      Parts("socks5h://user:@h", "socks5h://h:1080", "user", ""),
      // curl sends empty credentials for this URL.
      Parts("http://@127.0.0.1:3128", "http://127.0.0.1:3128"),
      // curl refuses this URL. Lupine accepts it: in all URIs, the user information ends at the last "@".
      Parts("http://user:p@ss@127.0.0.1:3128", "http://127.0.0.1:3128", "user", "p@ss"),
      // A combining mark after a delimiter doesn't change the host.
      Parts("http://user:pass\u{301}@h:1", "http://h:1", "user", "pass\u{301}"),
      Parts("http://user:pass@\u{301}@h:1", "http://h:1", "user", "pass@\u{301}"),
    ])
  func takenApart(_ parts: Parts) throws {
    let proxy = try Proxy(parts.url)
    #expect(proxy.description == parts.description)
    #expect(proxy.user == parts.user)
    #expect(proxy.password == parts.password)
  }

  @Test(
    "the initializer of Proxy refuses an invalid proxy URL",
    arguments: [
      ("", ProxyError.Cause.malformedHost), ("http://", .malformedHost), ("//127.0.0.1:3128", .malformedHost),
      (" ", .malformedHost), ("http://a b", .malformedHost), (" http://127.0.0.1:3128", .malformedHost),
      ("http://\u{0}h", .malformedHost), ("http://h\r\n", .malformedHost), ("user:pass@", .malformedHost),
      ("http://:80", .malformedHost), ("http://[::1", .malformedHost), ("http://[h]", .malformedHost),
      ("http://[a:80]", .malformedHost), ("http://[::1]x", .malformedHost), ("http://h\\@evil", .malformedHost),
      ("http://h%41", .malformedHost), ("http://münchen", .malformedHost), ("://h", .malformedHost),
      ("http:127.0.0.1:3128", .malformedHost),
      ("http://127.0.0.1:0", .malformedPort), ("http://127.0.0.1:65536", .malformedPort),
      ("http://127.0.0.1:x", .malformedPort), ("http://127.0.0.1:3128 ", .malformedPort),
      ("http://127.0.0.1:-1", .malformedPort), ("http://127.0.0.1:+1", .malformedPort),
      // curl reads this URL as if the scheme were followed by two slashes.
      ("http:/127.0.0.1:3128", .malformedPort), ("127.0.0.1:", .malformedPort),
      ("wss://127.0.0.1", .unsupportedScheme("wss")), ("HTTPX://127.0.0.1", .unsupportedScheme("httpx")),
      ("socks://127.0.0.1", .unsupportedScheme("socks")), ("socks4://127.0.0.1", .unsupportedScheme("socks4")),
      ("socks4a://a%00b@127.0.0.1", .malformedCredentials), ("https://a%3Ab@h", .colonInUser),
      ("ftp://127.0.0.1", .unsupportedScheme("ftp")),
      ("http://%FF:x@h", .malformedCredentials), ("http://x:%FF@h", .malformedCredentials),
      ("http://us%3Aer:pass@h", .colonInUser),
      ("socks5://:@h", .credentialsLength), ("socks5h://:pass@h", .credentialsLength),
      ("socks5://\(String(repeating: "u", count: 256)):p@h", .credentialsLength),
      ("socks5://u:\(String(repeating: "p", count: 256))@h", .credentialsLength),
    ])
  func refused(url: String, cause: ProxyError.Cause) {
    #expect(throws: ProxyError(cause, "the proxy's URL")) { try Proxy(url) }
  }

  @Test("SOCKS credentials have at most 255 bytes; HTTP credentials have no limit")
  func credentialLengths() throws {
    let long = String(repeating: "x", count: 255)
    #expect(try Proxy("socks5://\(long):\(long)@h").password == long)
    #expect(try Proxy("http://\(long)x:\(long)x@h").user == long + "x")
    // The limit counts bytes, not characters.
    let umlauts = String(repeating: "ü", count: 128)
    #expect(throws: ProxyError.self) { try Proxy(.socks5, host: "h", user: umlauts, password: "x") }
  }

  @Test("a proxy that is created from its parts is subject to the same rules as one from a URL")
  func parts() throws {
    #expect(try Proxy(.http, host: "H", port: 80) == Proxy("http://h:80"))
    #expect(try Proxy(.socks5, host: "::1") == Proxy("socks5://[::1]"))
    #expect(try Proxy(.https, host: "h") == Proxy("https://h:443") && Proxy("https://h").port == 443)
    #expect(try Proxy(.socks4a, host: "h") == Proxy("socks4a://h:1080") && Proxy("http://h").port == 1080)
    #expect(try Proxy(.socks5h, host: "[::1]", port: 9) == Proxy("socks5h://[::1]:9"))
    #expect(try Proxy(.http, host: "h", user: "u@", password: "p%41") == Proxy("http://u%40:p%2541@h"))
    #expect(try Proxy(.http, host: "h", user: "u").password == "")
    #expect(try Proxy(.http, host: "h", password: "p").password == nil)
    for host in ["", "h:80", "u@h", "h/", "h?", "h#", "a b", "[::1", "::1]", "::g", "h\r\nX: y"] {
      #expect(throws: ProxyError.self, "\(host)") { try Proxy(.http, host: host) }
    }
    #expect(throws: ProxyError(.malformedPort, "the proxy")) { try Proxy(.http, host: "h", port: 0) }
    #expect(throws: ProxyError(.colonInUser, "the proxy")) { try Proxy(.http, host: "h", user: "a:b") }
  }

  @Test("no description of a proxy contains its password")
  func passwordIsHidden() throws {
    let proxy = try Proxy("http://user:secret@h:1")
    var dumped = ""
    dump(proxy, to: &dumped)
    let texts = [
      "\(proxy)", String(reflecting: proxy), String(describing: Optional(proxy)), dumped,
      "\(ProxySettings.fixed(proxy))", "\(ProxySettings.fixed(proxy).rules(environment: [:]))", "\([proxy])",
    ]
    for text in texts { #expect(!text.contains("secret"), "\(text)") }
  }

  @Test(
    "no error about a proxy's URL quotes text that may be a password",
    arguments: [
      "http://user:secret", "user:secret", "http://user:secret@h:x", "secret@", "http://secret:1 @h ",
      "u:secret://h@x", "http://u:%FFsecret@h", "http://u%3A:secret@h", "socks5://:secret@h", "u:se/secret@h",
    ])
  func errorsAreSilent(url: String) throws {
    let error = #expect(throws: ProxyError.self) { try Proxy(url) }
    #expect(!"\(try #require(error))".contains("secret"))
  }

  @Test("proxies are equal only if their credentials are equal")
  func equality() throws {
    #expect(try Proxy("http://u:p@h:1") == Proxy("u:p@H:1/"))
    for other in [
      "http://u:q@h:1", "http://v:p@h:1", "http://h:1", "http://u:p@h:2", "http://u:p@i:1", "socks5://u:p@h:1",
    ] {
      #expect(try Proxy("http://u:p@h:1") != Proxy(other))
    }
  }
}
