// RedactionTests: the fields, items and parts of URLs that a recording omits by default.

import Foundation
import Testing

@testable import LupineTesting

@Suite struct RedactionTests {
  private let redaction = Redaction()

  @Test(
    "by default, a recording omits the values of header fields with credentials, whatever the case of their names",
    arguments: [
      "Authorization", "Proxy-Authorization", "Authentication-Info", "Proxy-Authentication-Info", "Cookie", "Cookie2",
      "Set-Cookie", "Set-Cookie2", "X-Api-Key", "Api-Key", "X-Auth-Token", "X-Amz-Security-Token", "X-Csrf-Token",
    ])
  func fields(name: String) {
    for spelling in [name, name.lowercased(), name.uppercased()] {
      #expect(redaction.value(ofField: spelling, "s3cret") == Redaction.replacement)
    }
    #expect(redaction.value(ofField: name + "x", "value") == "value")
  }

  @Test(
    "a recording omits the user information, the fragment and secret items of a URL in a header field",
    arguments: ["Location", "referer", "CONTENT-LOCATION"])
  func urls(name: String) {
    for userInfo in ["", "s3cret@", "user:s3cret@"] {
      let url = "https://\(userInfo)h.example/a?token=s3cret&b=c#s3cret"
      #expect(redaction.value(ofField: name, url) == "https://h.example/a?token=REMOVED&b=c")
    }
    #expect(redaction.value(ofField: "X-Location", "https://h.example/?token=t") == "https://h.example/?token=t")
  }

  @Test(
    "by default, a recording omits the values of items with the usual names of credentials, in each spelling",
    arguments: [
      "access_token", "refresh-token", "idToken", "token", "api_key", "key", "password", "passwd", "secret",
      "client_secret", "client_assertion", "assertion", "code", "sig", "signature", "auth", "session", "session_id",
      "X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token",
    ])
  func items(name: String) {
    for item in [name, name.uppercased(), "user[\(name)]", "\(name)[]"] {
      #expect(redaction.form("a=b&\(item)=s3cret&c") == "a=b&\(item)=REMOVED&c")
    }
    #expect(redaction.form("x\(name)x=value") == "x\(name)x=value")
  }

  @Test(
    "a recording omits the secrets in a body, whatever the case of its media type, and a body that it can't parse")
  func bodies() {
    func text(_ body: String, _ type: String) -> String {
      String(decoding: redaction.body(Data(body.utf8), mediaType: type), as: UTF8.self)
    }
    for type in ["application/x-www-form-urlencoded", "Application/X-WWW-Form-URLEncoded; charset=utf-8"] {
      #expect(text("a=b&password=s3cret", type) == "a=b&password=REMOVED")
    }
    for type in ["multipart/form-data; boundary=b", "Multipart/Mixed; boundary=b"] {
      #expect(text("--b\r\n\r\ns3cret\r\n--b--\r\n", type) == Redaction.replacement)
    }
    for type in ["application/json", "Application/Problem+JSON; charset=utf-8"] {
      #expect(text(#"{"password":"s3cret"}"#, type) == #"{"password":"REMOVED"}"#)
      #expect(text(#"{"password":"s3cret""#, type) == Redaction.replacement)
    }
    #expect(text(#"{"password":"s3cret"}"#, "Text/Plain") == #"{"password":"REMOVED"}"#)
  }

  @Test(
    "a recording contains no secret of a malformed URL",
    arguments: [
      "http://h.example:port/?token=s3cret", "http://user:s3cret@h.example:port/", "http://[::1/?token=s3cret",
    ])
  func malformedURLs(url: String) {
    #expect(!redaction.value(ofField: "Location", url).contains("s3cret"))
    #expect(!redaction.url(url).contains("s3cret"))
  }
}
