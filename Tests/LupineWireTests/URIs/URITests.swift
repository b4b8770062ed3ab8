// URITests: parsing of URIs, and refusal of unusable ones (RFC 3986 §3, RFC 9110 §4.2).

import LupineWire
import Testing

@Suite("URI")
struct URITests {
  @Test("the URI parser splits each URI in the test table into the expected parts", arguments: URIVector.taken)
  func takenApart(_ vector: URIVector) throws {
    let uri = try URI(vector.text)
    #expect(uri.origin == vector.origin)
    #expect(uri.target == vector.target)
    #expect(uri.userInfo == vector.userInfo)
    #expect(uri.fragment == vector.fragment)
  }

  @Test(
    "a URI's description is parsed to the same URI, except that its user information is missing",
    arguments: URIVector.taken)
  func roundTrip(_ vector: URIVector) throws {
    let uri = try URI(vector.text)
    let again = try URI(uri.description)
    #expect(again.origin == uri.origin && again.target == uri.target && again.fragment == uri.fragment)
    #expect(again.userInfo == nil && again.description == uri.description)
  }

  @Test("the URI parser refuses text that isn't a URI that can be requested", arguments: URIVector.refused)
  func refused(text: String, error: URIError) {
    #expect(throws: error) { try URI(text) }
  }

  @Test(
    "no error about a URI quotes text that may be a password",
    arguments: [
      #"http://user:se\cret@h/"#, "http://user:secret/x@h", "http://user:secret?@h", "http://user:1234567890/secret@h",
      "http:user:secret@h", "//user:secret@h/", "user:1secret@h", "http://user:secret@h:port",
      "http://user:secret@[::1",
      "http://user:secret@a b/", "ftp://user:secret@h", "http+unix://user:secret@%FF/",
    ])
  func passwordIsHidden(text: String) throws {
    let error = try #require(throws: URIError.self) { try URI(text) }
    for part in ["cret", "1234"] { #expect(!error.description.contains(part), "\(error)") }
  }

  @Test("the serializer of request heads accepts the target of every parsed URI")
  func targetsCanBeSent() throws {
    for value in UInt32(0x20)..<0x250 where value != 0x7F {
      let scalar = try #require(Unicode.Scalar(value))
      let uri = try URI("http://h/a\(Character(scalar))?b\(Character(scalar))")
      var output: [UInt8] = []
      try HeadSerializer.append(RequestHead(method: "GET", target: uri.target), to: &output)
    }
  }

  @Test(
    "a URI's description omits the default port and the user information",
    arguments: [
      ("http://u:p@H:80/x?y#z", "http://h/x?y#z"), ("https://h:443", "https://h/"), ("https://h:80", "https://h:80/"),
      ("http://[::1]:443/", "http://[::1]:443/"), ("http://[::1]", "http://[::1]/"),
    ])
  func descriptions(text: String, expected: String) throws {
    #expect(try URI(text).description == expected)
  }

  @Test(
    "the absolute form for a proxy omits the URI's user information and fragment",
    arguments: [
      ("http://u:p@H:80/x?y#z", "http://h/x?y"), ("https://h:8443", "https://h:8443/"),
      ("http://[::1]?q", "http://[::1]/?q"),
      ("http+unix://%2Fa/x", "http://localhost/x"),
    ])
  func absoluteForms(text: String, expected: String) throws {
    #expect(try URI(text).absoluteForm == expected)
  }

  @Test(
    "a URI's authority form for CONNECT always contains the port",
    arguments: [
      ("http://h", "h:80"), ("https://h", "h:443"), ("https://h:8443", "h:8443"), ("https://[::1]", "[::1]:443"),
      ("https://[2001:DB8::A]:1", "[2001:db8::a]:1"), ("https://127.0.0.1:443", "127.0.0.1:443"),
    ])
  func authorityForms(text: String, expected: String) throws {
    #expect(try URI(text).origin.authorityForm == expected)
  }

  @Test("the origin of a Unix socket has the host localhost, and origins with different socket paths differ")
  func socketOrigins() throws {
    let origin = try URI("http+unix://%2Fa%20b/x").origin
    #expect(origin.host == "localhost" && origin.port == 80 && origin.authority == "localhost")
    #expect(origin.authorityForm == "localhost:80")
    #expect(origin.description == "http+unix://%2Fa%20b")
    #expect(try URI("https+unix://%2Fa").origin.port == 443)
    let others = ["http://localhost/x", "http+unix://%2Fa/x", "https+unix://%2Fa%20b/x", "http+unix://%2FA%20b/x"]
    for other in others { #expect(try URI(other).origin != origin) }
    #expect(try URI("http+unix://%2fa%20b/y").origin == origin)
    #expect(try URI("http://localhost").origin.socketPath == nil)
  }

  @Test("origins that differ only in the scheme, the host or the port are different")
  func differentOrigins() {
    let origin = Origin(scheme: .http, host: "h", port: 80)
    #expect(origin == Origin(scheme: .http, host: "h", port: 80))
    #expect(origin != Origin(scheme: .https, host: "h", port: 80))
    #expect(origin != Origin(scheme: .http, host: "g", port: 80))
    #expect(origin != Origin(scheme: .http, host: "h", port: 81))
  }

  @Test("a URI's authority encloses an IPv6 address in brackets, and omits the default port")
  func authorities() {
    #expect(Origin(scheme: .http, host: "h", port: 80).authority == "h")
    #expect(Origin(scheme: .https, host: "h", port: 80).authority == "h:80")
    #expect(Origin(scheme: .http, host: "::1", port: 80).authority == "[::1]")
    #expect(Origin(scheme: .https, host: "::1", port: 8443).description == "https://[::1]:8443")
  }
}
