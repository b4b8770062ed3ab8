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
}
