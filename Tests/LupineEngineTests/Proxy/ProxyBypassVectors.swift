// ProxyBypassVectors: hosts and bypass lists with the decision of curl 7.88.1, proxy or direct.
//
// Determined by running curl with http_proxy and no_proxy set, in a network namespace where only the proxy's port has a
// listener. `curl` gives curl's decision where this client differs: curl parses numbers with atoi, takes a prefix of 0
// for an exact match, compares IPv6 blocks and spellings wrongly, and requires "*" to be the complete list.

import Testing

/// A host, a proxy bypass list, and whether curl reaches the host directly or through the proxy.
struct ProxyBypassVector: Sendable, CustomTestStringConvertible {
  let host: String
  let list: String
  let isDirect: Bool
  let isDirectInCurl: Bool

  init(_ host: String, _ list: String, _ isDirect: Bool, curl: Bool? = nil) {
    self.host = host
    self.list = list
    self.isDirect = isDirect
    isDirectInCurl = curl ?? isDirect
  }

  var testDescription: String { "\(host) with no_proxy=\"\(list)\"" }
}

private typealias Vector = ProxyBypassVector
private let direct = true
private let proxied = false

extension ProxyBypassVector {
  static let all: [ProxyBypassVector] = [
    Vector("example.com", "", proxied),
    Vector("example.com", "*", direct),
    Vector("example.com", "*,", direct, curl: proxied),
    Vector("example.com", " *", direct, curl: proxied),
    Vector("example.com", "*.com", proxied),
    Vector("example.com", "*.example.com", proxied),
    Vector("www.example.com", "*.example.com", proxied),
    Vector("example.com", "a,*", proxied),
    Vector("example.com", "example.com", direct),
    Vector("EXAMPLE.com", "example.COM", direct),
    Vector("example.com", "EXAMPLE.COM", direct),
    Vector("www.example.com", "example.com", direct),
    Vector("a.b.example.com", "example.com", direct),
    Vector("www.example.com", ".example.com", direct),
    Vector("example.com", ".example.com", direct),
    Vector("nonexample.com", "example.com", proxied),
    Vector("nonexample.com", ".example.com", proxied),
    Vector("example.com", "www.example.com", proxied),
    Vector("example.com.", "example.com", direct),
    Vector("example.com", "example.com.", direct),
    Vector("example.com.", "example.com.", direct),
    Vector("www.example.com.", ".example.com.", direct),
    Vector("example.com..", "example.com", proxied),
    Vector("example.com", "example.com..", proxied),
    Vector("example.com", "..example.com", proxied),
    Vector("www.example.com", "..example.com", proxied),
    Vector("example.com", ".", proxied),
    Vector("example.com", "..", proxied),
    Vector("example.com.", ".", proxied),
    Vector("example.com", "com", direct),
    Vector("example.com", ".com", direct),
    Vector("example.com", "om", proxied),
    Vector("example.com", "e", proxied),
    Vector("example.com", "other.org,example.com", direct),
    Vector("example.com", "other.org, example.com", direct),
    Vector("example.com", "other.org ,example.com", direct),
    Vector("example.com", "other.org example.com", direct),
    Vector("example.com", "other.org\texample.com", direct),
    Vector("example.com", "other.org  ,  example.com  ", direct),
    Vector("example.com", ",,example.com,,", direct),
    Vector("example.com", " ,example.com", direct),
    Vector("example.com", ",", proxied),
    Vector("example.com", " ", proxied),
    Vector("example.com", "other.org;example.com", proxied),
    Vector("example.com", "example.com:80", proxied),
    Vector("example.com:8080", "example.com", direct),
    Vector("example.com:8080", "example.com:8080", proxied),
    Vector("example.com:80", "example.com:80", proxied),
    Vector("example.com", "http://example.com", proxied),
    Vector("example.com", "example.com/", proxied),
    Vector("example.com", "example.com/8", proxied),
    Vector("localhost", "localhost", direct),
    Vector("localhost", "", proxied),
    Vector("sub.localhost", "localhost", direct),
    Vector("127.0.0.1", "", proxied),
    Vector("127.0.0.1", "127.0.0.1", direct),
    Vector("127.0.0.1", "127.0.0.0/8", direct),
    Vector("127.0.0.1", "localhost", proxied),
    Vector("127.0.0.2", "127.0.0.1", proxied),
    Vector("127.0.0.2", "127.0.0.0/8", direct),
    Vector("10.1.2.3", "10.1.2.3", direct),
    Vector("10.1.2.3", "10.1.2", proxied),
    Vector("10.1.2.3", ".2.3", proxied),
    Vector("10.1.2.3", "2.3", proxied),
    Vector("10.1.2.3", "10.0.0.0/8", direct),
    Vector("10.1.2.3", "10.9.9.9/8", direct),
    Vector("11.1.2.3", "10.0.0.0/8", proxied),
    Vector("10.1.2.3", "10.1.2.0/24", direct),
    Vector("10.1.3.3", "10.1.2.0/24", proxied),
    Vector("10.1.2.3", "10.1.2.3/32", direct),
    Vector("10.1.2.4", "10.1.2.3/32", proxied),
    Vector("10.1.2.3", "10.1.2.2/31", direct),
    Vector("10.1.2.4", "10.1.2.2/31", proxied),
    Vector("10.1.2.3", "0.0.0.0/0", direct, curl: proxied),
    Vector("10.1.2.3", "10.1.2.3/0", direct),
    Vector("10.1.2.4", "10.1.2.3/0", direct, curl: proxied),
    Vector("10.1.2.3", "10.1.2.3/33", proxied),
    Vector("10.1.2.3", "10.1.2.3/", proxied, curl: direct),
    Vector("10.1.2.3", "10.1.2.3/x", proxied, curl: direct),
    Vector("10.1.2.3", "10.1.2.4/x", proxied),
    Vector("10.1.2.3", "10.0.0.0/08", direct),
    Vector("10.1.2.3", "10.0.0.0/+8", proxied, curl: direct),
    Vector("10.1.2.3", "10.0.0.0/-8", proxied),
    Vector("10.1.2.3", "10.0.0.0/8x", proxied, curl: direct),
    Vector("10.1.2.3", "10/8", proxied),
    Vector("10.1.2.3", "10.0/8", proxied),
    Vector("10.1.2.3", "10.1.2.3.", proxied),
    Vector("10.1.2.3.", "10.1.2.3", direct),
    Vector("10.1.2.3", "10.1.2.3:80", proxied),
    Vector("10.1.2.3:8080", "10.1.2.3", direct),
    Vector("10.1.2.3", "*", direct),
    Vector("10.1.2.3", "10.1.2.*", proxied),
    Vector("10.1.2.3", "192.168.0.0/16,10.0.0.0/8", direct),
    Vector("10.1.2.3", "192.168.0.0/16 10.0.0.0/8", direct),
    Vector("10.1.2.3", "::/0", proxied),
    Vector("10.1.2.3", "::ffff:10.1.2.3", proxied),
    Vector("192.168.255.1", "192.168.0.0/17", proxied),
    Vector("192.168.127.1", "192.168.0.0/17", direct),
    Vector("172.31.0.1", "172.16.0.0/12", direct),
    Vector("172.32.0.1", "172.16.0.0/12", proxied),
    Vector("name.10.1.2.3", "10.1.2.3", direct),
    Vector("[::1]", "", proxied),
    Vector("[::1]", "::1", direct),
    Vector("[::1]", "[::1]", direct, curl: proxied),
    Vector("[::1]", "0:0:0:0:0:0:0:1", direct, curl: proxied),
    Vector("[0:0:0:0:0:0:0:1]", "::1", direct),
    Vector("[::1]", "::1/128", direct, curl: proxied),
    Vector("[::2]", "::1/128", proxied),
    Vector("[::1]", "::/0", direct, curl: proxied),
    Vector("[::2]", "::1/127", proxied),
    Vector("[::3]", "::2/127", direct, curl: proxied),
    Vector("[fe80::1]", "fe80::/10", direct, curl: proxied),
    Vector("[fec0::1]", "fe80::/10", proxied),
    Vector("[2001:db8::5]", "2001:db8::/32", direct, curl: proxied),
    Vector("[2001:DB8::5]", "2001:db8::/32", direct, curl: proxied),
    Vector("[2001:db8::5]", "2001:DB8::/32", direct, curl: proxied),
    Vector("[2001:db9::5]", "2001:db8::/32", proxied),
    Vector("[2001:db8::5]", "[2001:db8::]/32", direct, curl: proxied),
    Vector("[2001:db8::5]", "2001:db8::/129", proxied),
    Vector("[2001:db8::5]", "2001:db8::5/129", proxied),
    Vector("[2001:db8::5]", "2001:db8::5", direct),
    Vector("[2001:db8::5]", "2001:db8::6", proxied),
    Vector("[2001:db8::5]", "*", direct),
    Vector("[::1]:8080", "::1", direct),
    Vector("[::ffff:10.1.2.3]", "10.1.2.3", proxied),
    Vector("[::ffff:10.1.2.3]", "10.0.0.0/8", proxied),
    Vector("[::ffff:10.1.2.3]", "::ffff:10.0.0.0/104", direct, curl: proxied),
    Vector("xn--mnchen-3ya.de", "xn--mnchen-3ya.de", direct),
    Vector("a_b.example", "a_b.example", direct),
  ]
}
