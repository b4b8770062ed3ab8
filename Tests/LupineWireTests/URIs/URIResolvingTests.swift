// URIResolvingTests: resolves references against a base, with the examples of RFC 3986 §5.4 and those of redirects (RFC
// 9110 §10.2.2).

import LupineWire
import Testing

@Suite("Resolving URI references")
struct URIResolvingTests {
  // The examples of RFC 3986 §5.4.1, except "g:h", whose scheme is unsupported.
  @Test(
    "each normal example of RFC 3986 §5.4 is resolved to the URI in the RFC",
    arguments: [
      ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
      ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
      ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
      ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"),
      (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
      ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
    ])
  func normal(reference: String, expected: String) throws {
    #expect(try URI("http://a/b/c/d;p?q").resolving(reference).description == expected)
  }

  // The examples of RFC 3986 §5.4.2, as strict parsers resolve them.
  @Test(
    "each abnormal example of RFC 3986 §5.4 is resolved to the URI in the RFC",
    arguments: [
      ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
      ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
      ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
      ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
      ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
      ("g#s/../x", "http://a/b/c/g#s/../x"),
    ])
  func abnormal(reference: String, expected: String) throws {
    #expect(try URI("http://a/b/c/d;p?q").resolving(reference).description == expected)
  }

  @Test(
    "resolving a URI reference against a base URI yields the URI in the test table",
    arguments: [
      // References with a scheme, and references that begin with an authority. Dot segments are removed from their paths (§5.2.2).
      ("https://a/b?c", "http://x/y", "http://x/y"),
      ("https://a/b?c", "//x:81/y?z", "https://x:81/y?z"),
      ("https://a/b?c", "//x?z", "https://x/?z"),
      ("http://a/b", "https://x/y/../z/./w?u/../v", "https://x/z/w?u/../v"),
      ("http://a/b", "//x/..", "http://x/"),
      ("http://a:81/b", "//a/c", "http://a/c"),
      ("http://a:81/b", "/c", "http://a:81/c"),
      // A base URI with an empty path.
      ("http://a", "g", "http://a/g"),
      ("http://a?q", "?r", "http://a/?r"),
      ("http://a?q/r", "g", "http://a/g"),
      ("http://a/b/", "", "http://a/b/"),
      ("http://a/b?q", "?", "http://a/b?"),
      // Paths with empty segments.
      ("http://a/b//c", "../g", "http://a/b/g"),
      ("http://a/b", "/.//g", "http://a//g"),
      ("http://a/b", "g//", "http://a/g//"),
      // The base's dot segments are removed only if the reference has a relative path.
      ("http://a/b/../c/d", "g", "http://a/c/g"),
      ("http://a/b/../c/d", "?r", "http://a/b/../c/d?r"),
      // A colon after a slash, a question mark or a dot doesn't end a scheme.
      ("http://a/b/c", "./g:h", "http://a/b/g:h"),
      ("http://a/b/c", "g/h:i", "http://a/b/g/h:i"),
      ("http://a/b/c", "?g:h", "http://a/b/c?g:h"),
      ("http://a/b/c", "#g:h", "http://a/b/c#g:h"),
      // References with characters that must be percent-encoded.
      ("http://a/b/c", "d e?f g", "http://a/b/d%20e?f%20g"),
      ("http://a/b/c", "/é", "http://a/%C3%A9"),
      ("http://a/b%20c/d", "e", "http://a/b%20c/e"),
      ("http://a/b/c", "%2e%2e/g", "http://a/b/%2e%2e/g"),
      // A combining mark after a delimiter doesn't hide the delimiter.
      ("http://a/b/c", "/\u{301}", "http://a/%CC%81"),
      ("http://a/b/c", "\u{301}/../d", "http://a/b/d"),
      ("http://a/b/c", "//x/\u{301}@evil/", "http://x/%CC%81@evil/"),
      ("http://a/b/c", "d#\u{20E3}", "http://a/b/d#\u{20E3}"),
    ])
  func others(base: String, reference: String, expected: String) throws {
    #expect(try URI(base).resolving(reference).description == expected)
  }

  @Test(
    "a URI reference inherits the base URI's fragment unless the reference has its own fragment",
    arguments: [
      ("/x", "f"), ("https://h/x", "f"), ("//h/x", "f"), ("", "f"), ("?q", "f"),
      ("/x#g", "g"), ("https://h/x#g", "g"), ("//h/x#g", "g"), ("#g", "g"), ("/x#", ""), ("https://h/#", ""),
    ])
  func fragments(reference: String, expected: String) throws {
    #expect(try URI("http://a/b#f").resolving(reference).fragment == expected)
    let withoutFragment = try URI("http://a/b").resolving(reference).fragment
    #expect(withoutFragment == (reference.contains("#") ? expected : nil))
  }

  @Test(
    "a URI reference without a host keeps the base URI's Unix socket, and a reference with a host doesn't",
    arguments: [
      ("/x", "http+unix://%2Frun%2Fa/x"), ("../x?y", "http+unix://%2Frun%2Fa/x?y"), ("", "http+unix://%2Frun%2Fa/b/c"),
      ("?q#f", "http+unix://%2Frun%2Fa/b/c?q#f"), ("http+unix://%2frun%2fa/../d", "http+unix://%2Frun%2Fa/d"),
      ("http://localhost/x", "http://localhost/x"), ("https://h/x", "https://h/x"), ("//h/x", "http://h/x"),
      ("//%2Frun%2Fb/x", nil), ("http+unix://%2Frun%2Fb/x", nil), ("https+unix://%2Frun%2Fa/x", nil),
    ] as [(String, String?)])
  func sockets(reference: String, expected: String?) throws {
    let base = try URI("http+unix://%2Frun%2Fa/b/c")
    if let expected {
      #expect(try base.resolving(reference).description == expected)
    } else {
      #expect(throws: URIError.self) { try base.resolving(reference) }
    }
  }

  @Test("a server can't redirect a client to a Unix socket", arguments: ["http", "https"])
  func foreignSocket(scheme: String) throws {
    let base = try URI("\(scheme)://localhost/")
    #expect(throws: URIError.foreignSocket("\(scheme)+unix://%2Frun%2Fdocker.sock")) {
      try base.resolving("\(scheme)+unix://%2Frun%2Fdocker.sock/containers/json")
    }
  }

  @Test(
    "a resolved URI reference contains no user information",
    arguments: ["/x", "", "//h/x", "http://u:p@h/", "//u:p@a/x", "#f"])
  func userInformation(reference: String) throws {
    #expect(try URI("http://u:p@a/b").resolving(reference).userInfo == nil)
  }

  @Test(
    "the URI parser refuses a reference that resolves to a URI that can't be requested",
    arguments: [
      ("g:h", .unsupportedScheme("g")), ("javascript:alert(1)", .unsupportedScheme("javascript")),
      ("file:///x", .unsupportedScheme("file")), ("http:g", .malformedHost("g")), ("http:", .malformedHost("")),
      ("//", .malformedHost("")), ("///x", .malformedHost("")), ("//a b/", .malformedHost("a b")),
      ("//h:99999/", .malformedPort("99999")), ("/x\r\ny", .forbiddenByte(0x0D)), ("/\u{7F}", .forbiddenByte(0x7F)),
      ("//good\\@evil/", .malformedHost("good\\@evil")),
    ] as [(String, URIError)])
  func refused(reference: String, error: URIError) throws {
    let base = try URI("http://a/b/c/d;p?q")
    #expect(throws: error) { try base.resolving(reference) }
  }
}
