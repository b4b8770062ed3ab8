// URIVectors: the table of URIs, with the parts of valid ones and the errors of the others (RFC 3986 §3, RFC 9110
// §4.2).

import LupineWire
import Testing

private let socket107 = String(repeating: "s", count: 107)

/// The text of a URI, and the parts into which the parser must split it.
struct URIVector: Sendable, CustomTestStringConvertible {
  let text: String
  let origin: Origin
  let target: String
  let userInfo: String?
  let fragment: String?

  var testDescription: String { text }

  static let taken: [URIVector] = [
    .taken("http://example.com/a/b?c=d#e", "example.com", "/a/b?c=d", fragment: "e"),
    .taken("https://example.com/", "example.com", "/", scheme: .https),
    .taken("HTTP://EXAMPLE.com/A", "example.com", "/A"),
    // URIs with ports.
    .taken("http://h:8080/x", "h", "/x", port: 8080),
    .taken("http://h:80/x", "h", "/x"),
    .taken("https://h:80/x", "h", "/x", scheme: .https, port: 80),
    .taken("http://h:1", "h", "/", port: 1),
    .taken("http://h:65535", "h", "/", port: 65535),
    .taken("http://h:00080/", "h", "/"),
    .taken("http://h:/x", "h", "/x"),
    // URIs with various hosts.
    .taken("http://127.0.0.1:9/", "127.0.0.1", "/", port: 9),
    .taken("http://[::1]/x", "::1", "/x"),
    .taken("http://[::1]:8080/x", "::1", "/x", port: 8080),
    .taken("http://[2001:DB8::A]:/", "2001:db8::a", "/"),
    .taken("http://[::ffff:1.2.3.4]", "::ffff:1.2.3.4", "/"),
    .taken("http://a_b-c.d!$&'()*+,;=~e/", "a_b-c.d!$&'()*+,;=~e", "/"),
    // URIs with user information.
    .taken("http://u:p@h/", "h", "/", userInfo: "u:p"),
    .taken("http://u@h:81/", "h", "/", port: 81, userInfo: "u"),
    .taken("http://@h/", "h", "/", userInfo: ""),
    .taken("http://u:p@q@h/", "h", "/", userInfo: "u:p@q"),
    .taken("http://u%40v:p%3A@h/", "h", "/", userInfo: "u%40v:p%3A"),
    .taken("http://h:80@evil/", "evil", "/", userInfo: "h:80"),
    .taken("http://[::1]@h/", "h", "/", userInfo: "[::1]"),
    .taken("http://h/@b", "h", "/@b"),
    .taken("http://h?u@b", "h", "/?u@b"),
    .taken("http://h#u@b", "h", "/", fragment: "u@b"),
    // URIs with various paths, queries and fragments.
    .taken("http://h", "h", "/"),
    .taken("http://h?q", "h", "/?q"),
    .taken("http://h#f", "h", "/", fragment: "f"),
    .taken("http://h/#", "h", "/", fragment: ""),
    .taken("http://h/?", "h", "/?"),
    .taken("http://h?#", "h", "/?", fragment: ""),
    .taken("http://h//a//", "h", "//a//"),
    .taken("http://h/a?b?c/d", "h", "/a?b?c/d"),
    .taken("http://h/a#b#c?d", "h", "/a", fragment: "b#c?d"),
    .taken("http://h/a:b", "h", "/a:b"),
    .taken("http://h/a/../b", "h", "/a/../b"),
    .taken("http://h/x?u=http://g:99/", "h", "/x?u=http://g:99/"),
    // URIs with characters that must be percent-encoded.
    .taken("http://h/a b?c d", "h", "/a%20b?c%20d"),
    .taken("http://h/é?ü=漢", "h", "/%C3%A9?%C3%BC=%E6%BC%A2"),
    .taken("http://h/👍🏽", "h", "/%F0%9F%91%8D%F0%9F%8F%BD"),
    .taken("http://h/%41%zz%", "h", "/%41%zz%"),
    .taken("http://h/\"<>\\^`{|}", "h", "/%22%3C%3E%5C%5E%60%7B%7C%7D"),
    .taken("http://h/-._~!$&'()*+,;=:@[]", "h", "/-._~!$&'()*+,;=:@[]"),
    // A combining mark after a delimiter must not hide the delimiter.
    .taken("http://h/\u{301}@evil/", "h", "/%CC%81@evil/"),
    .taken("http://h?\u{301}@evil/", "h", "/?%CC%81@evil/"),
    .taken("http://h/a#\u{20E3}b", "h", "/a", fragment: "\u{20E3}b"),
    .taken("http://h/a?\u{301}#f", "h", "/a?%CC%81", fragment: "f"),
    .taken("http://\u{301}@h/", "h", "/", userInfo: "\u{301}"),
    // URIs of Unix sockets.
    .taken("http+unix://%2Frun%2Fdocker.sock/v1/info", socket: "/run/docker.sock", "/v1/info"),
    .taken("https+unix://%2Frun%2Fa.sock/", socket: "/run/a.sock", "/", scheme: .https),
    .taken("HTTP+UNIX://%2frun%2fA.Sock", socket: "/run/A.Sock", "/"),
    .taken("http+unix://%2Fa?q#f", socket: "/a", "/?q", fragment: "f"),
    .taken("http+unix://u:p@%2Fa/x", socket: "/a", "/x", userInfo: "u:p"),
    .taken("http+unix://a.sock/x", socket: "a.sock", "/x"),
    .taken("http+unix://%2Fa%20b%25c%3A%40%C3%A9/x", socket: "/a b%c:@é", "/x"),
    .taken("http+unix://%2Fa%252Fb/%2Fc", socket: "/a%2Fb", "/%2Fc"),
    .taken("http+unix://\(socket107)/", socket: String(repeating: "s", count: 107), "/"),
  ]

  static let refused: [(text: String, error: URIError)] = [
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
    ("http://[a:80]/", .malformedHost("[a:80]")),
    ("http://[1:2:3:4:5:6:7:8:9]/", .malformedHost("[1:2:3:4:5:6:7:8:9]")),
    ("http://[::1.2.3.256]/", .malformedHost("[::1.2.3.256]")),
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
    ("http+unix:///run/docker.sock", .emptySocketPath),
    ("http+unix://", .emptySocketPath),
    ("http+unix://u@/x", .emptySocketPath),
    ("http+unix:%2Fa", .malformedHost("%2Fa")),
    ("http+unix://%2Fa:80/", .malformedSocketPath("%2Fa:80")),
    ("http+unix://[::1]/", .malformedSocketPath("[::1]")),
    ("http+unix://%2/", .malformedSocketPath("%2")),
    ("http+unix://%2Fa%/", .malformedSocketPath("%2Fa%")),
    ("http+unix://%zz/", .malformedSocketPath("%zz")),
    ("http+unix://%+2/", .malformedSocketPath("%+2")),
    ("http+unix://%2Fé/", .malformedSocketPath("%2Fé")),
    ("http+unix://%2Fa b/", .malformedSocketPath("%2Fa b")),
    ("http+unix://%FF/", .malformedSocketPath("%FF")),
    ("http+unix://%C0%AF/", .malformedSocketPath("%C0%AF")),
    ("http+unix://%2Fa\\@b/", .malformedHost("%2Fa\\@b")),
    ("http+unix://%00abstract/", .nulInSocketPath("%00abstract")),
    ("http+unix://%2Fa%00b/", .nulInSocketPath("%2Fa%00b")),
    ("http+unix://%2F\(socket107)/", .socketPathTooLong(byteCount: 108)),
    ("http+unix://%2Fa\0/", .forbiddenByte(0)),
    ("ftp+unix://%2Fa/", .unsupportedScheme("ftp+unix")),
    ("+unix://%2Fa/", .missingScheme("+unix://%2Fa/")),
    ("unix://%2Fa/", .unsupportedScheme("unix")),
    ("http+unixx://%2Fa/", .unsupportedScheme("http+unixx")),
    ("http+unix+unix://%2Fa/", .unsupportedScheme("http+unix+unix")),
    ("http+tcp://h/", .unsupportedScheme("http+tcp")),
    // Hosts that other parsers read differently.
    ("http://h%00.evil/", .malformedHost("h%00.evil")),
    ("http://h%2F@evil%2F/", .malformedHost("evil%2F")),
    ("http://a<b/", .malformedHost("a<b")),
    ("http://a\"b/", .malformedHost("a\"b")),
    ("http://\u{FF0E}/", .malformedHost("\u{FF0E}")),
    ("http://a\u{200B}b/", .malformedHost("a\u{200B}b")),
    ("http://h\\/", .malformedHost("h\\")),
    ("http://[::1%0]/", .malformedHost("[::1%0]")),
    ("http://[::1]]/", .malformedHost("[::1]]")),
    ("http://h:80:80/", .malformedHost("h:80")),
    ("http://h:8 0/", .malformedPort("8 0")),
    ("http://h:0x50/", .malformedPort("0x50")),
    ("http://h/\u{0B}", .forbiddenByte(0x0B)),
    ("http://h/?a\nb", .forbiddenByte(0x0A)),
  ]
}

extension URIVector {
  private static func taken(
    _ text: String, _ host: String, _ target: String, scheme: Scheme = .http, port: UInt16? = nil,
    userInfo: String? = nil, fragment: String? = nil
  ) -> URIVector {
    let origin = Origin(scheme: scheme, host: host, port: port ?? scheme.defaultPort)
    return URIVector(text: text, origin: origin, target: target, userInfo: userInfo, fragment: fragment)
  }

  private static func taken(
    _ text: String, socket: String, _ target: String, scheme: Scheme = .http, userInfo: String? = nil,
    fragment: String? = nil
  ) -> URIVector {
    let origin = Origin(scheme: scheme, socketPath: socket)
    return URIVector(text: text, origin: origin, target: target, userInfo: userInfo, fragment: fragment)
  }
}
