// Taking URIs apart, and refusing what no request can be sent to (RFC 3986 §3, RFC 9110 §4.2).

import LupineWire
import Testing

@Suite("URI")
struct URITests {
  struct Parts: Sendable {
    let text: String
    let origin: Origin
    let target: String
    let userInfo: String?
    let fragment: String?

    init(
      _ text: String, _ host: String, _ target: String, scheme: Scheme = .http, port: UInt16? = nil,
      userInfo: String? = nil, fragment: String? = nil
    ) {
      self.text = text
      origin = Origin(scheme: scheme, host: host, port: port ?? scheme.defaultPort)
      self.target = target
      self.userInfo = userInfo
      self.fragment = fragment
    }
  }

  @Test(
    "a URI is taken apart",
    arguments: [
      Parts("http://example.com/a/b?c=d#e", "example.com", "/a/b?c=d", fragment: "e"),
      Parts("https://example.com/", "example.com", "/", scheme: .https),
      Parts("HTTP://EXAMPLE.com/A", "example.com", "/A"),
      // Ports.
      Parts("http://h:8080/x", "h", "/x", port: 8080),
      Parts("http://h:80/x", "h", "/x"),
      Parts("https://h:80/x", "h", "/x", scheme: .https, port: 80),
      Parts("http://h:1", "h", "/", port: 1),
      Parts("http://h:65535", "h", "/", port: 65535),
      Parts("http://h:00080/", "h", "/"),
      Parts("http://h:/x", "h", "/x"),
      // Hosts.
      Parts("http://127.0.0.1:9/", "127.0.0.1", "/", port: 9),
      Parts("http://[::1]/x", "::1", "/x"),
      Parts("http://[::1]:8080/x", "::1", "/x", port: 8080),
      Parts("http://[2001:DB8::A]:/", "2001:db8::a", "/"),
      Parts("http://[::ffff:1.2.3.4]", "::ffff:1.2.3.4", "/"),
      Parts("http://a_b-c.d!$&'()*+,;=~e/", "a_b-c.d!$&'()*+,;=~e", "/"),
      // User information.
      Parts("http://u:p@h/", "h", "/", userInfo: "u:p"),
      Parts("http://u@h:81/", "h", "/", port: 81, userInfo: "u"),
      Parts("http://@h/", "h", "/", userInfo: ""),
      Parts("http://u:p@q@h/", "h", "/", userInfo: "u:p@q"),
      Parts("http://u%40v:p%3A@h/", "h", "/", userInfo: "u%40v:p%3A"),
      Parts("http://h:80@evil/", "evil", "/", userInfo: "h:80"),
      Parts("http://[::1]@h/", "h", "/", userInfo: "[::1]"),
      Parts("http://h/@b", "h", "/@b"),
      Parts("http://h?u@b", "h", "/?u@b"),
      Parts("http://h#u@b", "h", "/", fragment: "u@b"),
      // Paths, queries, fragments.
      Parts("http://h", "h", "/"),
      Parts("http://h?q", "h", "/?q"),
      Parts("http://h#f", "h", "/", fragment: "f"),
      Parts("http://h/#", "h", "/", fragment: ""),
      Parts("http://h/?", "h", "/?"),
      Parts("http://h?#", "h", "/?", fragment: ""),
      Parts("http://h//a//", "h", "//a//"),
      Parts("http://h/a?b?c/d", "h", "/a?b?c/d"),
      Parts("http://h/a#b#c?d", "h", "/a", fragment: "b#c?d"),
      Parts("http://h/a:b", "h", "/a:b"),
      Parts("http://h/a/../b", "h", "/a/../b"),
      Parts("http://h/x?u=http://g:99/", "h", "/x?u=http://g:99/"),
      // Encoding.
      Parts("http://h/a b?c d", "h", "/a%20b?c%20d"),
      Parts("http://h/é?ü=漢", "h", "/%C3%A9?%C3%BC=%E6%BC%A2"),
      Parts("http://h/👍🏽", "h", "/%F0%9F%91%8D%F0%9F%8F%BD"),
      Parts("http://h/%41%zz%", "h", "/%41%zz%"),
      Parts("http://h/\"<>\\^`{|}", "h", "/%22%3C%3E%5C%5E%60%7B%7C%7D"),
      Parts("http://h/-._~!$&'()*+,;=:@[]", "h", "/-._~!$&'()*+,;=:@[]"),
      // A mark that joins a delimiter must not hide it.
      Parts("http://h/\u{301}@evil/", "h", "/%CC%81@evil/"),
      Parts("http://h?\u{301}@evil/", "h", "/?%CC%81@evil/"),
      Parts("http://h/a#\u{20E3}b", "h", "/a", fragment: "\u{20E3}b"),
      Parts("http://h/a?\u{301}#f", "h", "/a?%CC%81", fragment: "f"),
      Parts("http://\u{301}@h/", "h", "/", userInfo: "\u{301}"),
    ])
  func takenApart(_ parts: Parts) throws {
    let uri = try URI(parts.text)
    #expect(uri.origin == parts.origin)
    #expect(uri.target == parts.target)
    #expect(uri.userInfo == parts.userInfo)
    #expect(uri.fragment == parts.fragment)
  }

  @Test(
    "what isn't an http or https URI is refused",
    arguments: [
      ("", .missingScheme("")),
      ("example.com", .missingScheme("example.com")),
      ("example.com/a:b", .missingScheme("example.com/a:b")),
      ("localhost:8080/x", .missingScheme("localhost:8080/x")),
      ("127.0.0.1:8080", .missingScheme("127.0.0.1:8080")),
      ("[::1]/", .missingScheme("[::1]/")),
      ("//h/x", .missingScheme("//h/x")),
      ("/x", .missingScheme("/x")),
      ("://h/", .missingScheme("://h/")),
      ("1http://h/", .missingScheme("1http://h/")),
      (" http://h/", .missingScheme(" http://h/")),
      ("htt\u{301}p://h/", .missingScheme("htt\u{301}p://h/")),
      ("ftp://h/", .unsupportedScheme("ftp")),
      ("ws://h/", .unsupportedScheme("ws")),
      ("mailto:a@b", .unsupportedScheme("mailto")),
      ("file:///etc/passwd", .unsupportedScheme("file")),
      ("httpx://h/", .unsupportedScheme("httpx")),
      ("a+b-c.1://h/", .unsupportedScheme("a+b-c.1")),
      ("http:", .malformedHost("")),
      ("http:h", .malformedHost("h")),
      ("http:80", .malformedHost("80")),
      ("http:/h", .malformedHost("/h")),
      ("http://", .malformedHost("")),
      ("http:///x", .malformedHost("")),
      ("http://?q", .malformedHost("")),
      ("http://u@/x", .malformedHost("")),
      ("http://:80/", .malformedHost("")),
      ("http://a b/", .malformedHost("a b")),
      ("http://é.com/", .malformedHost("é.com")),
      ("http://a%41/", .malformedHost("a%41")),
      ("http://a:b:80/", .malformedHost("a:b")),
      ("http://::1/", .malformedHost(":")),
      ("http://[::1/", .malformedHost("[::1")),
      ("http://[::1]x/", .malformedHost("[::1]x")),
      ("http://[]/", .malformedHost("[]")),
      ("http://[1.2.3.4]/", .malformedHost("[1.2.3.4]")),
      ("http://[::g]/", .malformedHost("[::g]")),
      ("http://[fe80::1%25eth0]/", .malformedHost("[fe80::1%25eth0]")),
      ("http://h\u{301}/", .malformedHost("h\u{301}")),
      ("http://good\\@evil/", .malformedHost("good\\@evil")),
      ("http://h:0/", .malformedPort("0")),
      ("http://h:65536/", .malformedPort("65536")),
      ("http://h:99999999999999999999/", .malformedPort("99999999999999999999")),
      ("http://h:-1/", .malformedPort("-1")),
      ("http://h:+80/", .malformedPort("+80")),
      ("http://h:8x/", .malformedPort("8x")),
      ("http://h:٨٠/", .malformedPort("٨٠")),
      ("http://[::1]:x/", .malformedPort("x")),
      ("http://h/a\r\nb", .forbiddenByte(0x0D)),
      ("http://h/\0", .forbiddenByte(0)),
      ("http://h\t/", .forbiddenByte(0x09)),
      ("http://u\n@h/", .forbiddenByte(0x0A)),
      ("http://h/#\u{7F}", .forbiddenByte(0x7F)),
      ("\nhttp://h/", .forbiddenByte(0x0A)),
    ] as [(String, URIError)])
  func refused(text: String, error: URIError) {
    #expect(throws: error) { try URI(text) }
  }

  @Test("each byte of a target is one that HeadSerializer takes")
  func targetsCanBeSent() throws {
    for value in UInt32(0x20)..<0x250 where value != 0x7F {
      let scalar = try #require(Unicode.Scalar(value))
      let uri = try URI("http://h/a\(Character(scalar))?b\(Character(scalar))")
      var output: [UInt8] = []
      try HeadSerializer.append(RequestHead(method: "GET", target: uri.target), to: &output)
    }
  }

  @Test(
    "a description leaves the default port and the user information out",
    arguments: [
      ("http://u:p@H:80/x?y#z", "http://h/x?y#z"), ("https://h:443", "https://h/"), ("https://h:80", "https://h:80/"),
      ("http://[::1]:443/", "http://[::1]:443/"), ("http://[::1]", "http://[::1]/"),
    ])
  func descriptions(text: String, expected: String) throws {
    #expect(try URI(text).description == expected)
  }

  @Test("an authority has brackets for IPv6 and leaves the default port out")
  func authorities() {
    #expect(Origin(scheme: .http, host: "h", port: 80).authority == "h")
    #expect(Origin(scheme: .https, host: "h", port: 80).authority == "h:80")
    #expect(Origin(scheme: .http, host: "::1", port: 80).authority == "[::1]")
    #expect(Origin(scheme: .https, host: "::1", port: 8443).description == "https://[::1]:8443")
  }
}
