// ProxyDictionaryTests: `connectionProxyDictionary` names the right proxies, and requests go through them.

import Foundation
import LupineEngine
import LupineOrigin
import Testing

@testable import Lupine
@testable import LupineURLSession

@Suite(.timeLimit(.minutes(10))) struct ProxyDictionaryTests {
  private func proxy(_ dictionary: [AnyHashable: Any]?, for url: String) throws -> String? {
    let configuration = URLSessionConfiguration.default
    configuration.connectionProxyDictionary = dictionary
    let rules = configuration.engine.proxy.rules(environment: ["all_proxy": "environment:1"])
    return try rules.proxy(for: try URI(url).origin)?.description
  }

  @Test("if the proxy dictionary is nil, the session uses the environment's proxy; if it is empty, no proxy is used")
  func absence() throws {
    #expect(URLSessionConfiguration.default.connectionProxyDictionary == nil)
    #expect(try proxy(nil, for: "http://h/") == "http://environment:1")
    #expect(try proxy([:], for: "http://h/") == nil)
    #expect(try proxy(["HTTPEnable": 0, "HTTPProxy": "p", "HTTPPort": 1], for: "http://h/") == nil)
    #expect(try proxy(["HTTPProxy": "p", "HTTPPort": 1], for: "http://h/") == nil)
    #expect(try proxy(["Unknown": 1, 7: "p"], for: "http://h/") == nil)
  }

  @Test("a request uses the proxy that the proxy dictionary sets for its scheme, or else the SOCKS proxy")
  func schemes() throws {
    let http: [AnyHashable: Any] = ["HTTPEnable": 1, "HTTPProxy": "a", "HTTPPort": 3128]
    let https: [AnyHashable: Any] = ["HTTPSEnable": true, "HTTPSProxy": "b", "HTTPSPort": "3129"]
    let socks: [AnyHashable: Any] = ["SOCKSEnable": NSNumber(value: 1), "SOCKSProxy": "::1", "SOCKSPort": UInt16(1081)]
    let both = http.merging(https) { $1 }
    #expect(try proxy(http, for: "http://h/") == "http://a:3128")
    #expect(try proxy(http, for: "https://h/") == nil)
    #expect(try proxy(https, for: "http://h/") == nil)
    #expect(try proxy(both, for: "http://h/") == "http://a:3128")
    #expect(try proxy(both, for: "https://h/") == "http://b:3129")
    #expect(try proxy(socks, for: "http://h/") == "socks5h://[::1]:1081")
    #expect(try proxy(socks, for: "https://h/") == "socks5h://[::1]:1081")
    #expect(try proxy(http.merging(socks) { $1 }, for: "http://h/") == "http://a:3128")
    #expect(try proxy(http.merging(socks) { $1 }, for: "https://h/") == "socks5h://[::1]:1081")
  }

  @Test("a proxy without a port in the proxy dictionary uses the default port of its type")
  func defaultPorts() throws {
    #expect(try proxy(["HTTPEnable": 1, "HTTPProxy": "a"], for: "http://h/") == "http://a:80")
    #expect(try proxy(["HTTPSEnable": 1, "HTTPSProxy": "a"], for: "https://h/") == "http://a:443")
    #expect(try proxy(["SOCKSEnable": 1, "SOCKSProxy": "a"], for: "http://h/") == "socks5h://a:1080")
  }

  @Test("hosts in the proxy dictionary's exceptions list and their subdomains use no proxy, with or without a wildcard")
  func exceptions() throws {
    let dictionary: [AnyHashable: Any] = [
      "HTTPEnable": 1, "HTTPProxy": "p", "ExceptionsList": ["*.local", "example.com", "10.0.0.0/8"],
    ]
    for host in ["a.local", "example.com", "www.example.com", "10.1.2.3"] {
      #expect(try proxy(dictionary, for: "http://\(host)/") == nil, "\(host)")
    }
    for host in ["local.example", "notexample.com", "11.1.2.3"] {
      #expect(try proxy(dictionary, for: "http://\(host)/") == "http://p:80", "\(host)")
    }
  }

  @Test(
    "an invalid http proxy in the proxy dictionary makes only http requests fail",
    arguments: [
      ["HTTPEnable": 1], ["HTTPEnable": 1, "HTTPProxy": ""], ["HTTPEnable": 1, "HTTPProxy": "a b"],
      ["HTTPEnable": 1, "HTTPProxy": 7], ["HTTPEnable": 1, "HTTPProxy": "p", "HTTPPort": 0],
      ["HTTPEnable": 1, "HTTPProxy": "p", "HTTPPort": 65_536], ["HTTPEnable": 1, "HTTPProxy": "p", "HTTPPort": -1],
      ["HTTPEnable": 1, "HTTPProxy": "p", "HTTPPort": "x"], ["HTTPEnable": 1, "HTTPProxy": "http://p"],
      ["HTTPEnable": 1, "HTTPProxy": "p", "kCFProxyUsernameKey": "a:b"],
    ] as [[String: any Sendable]])
  func malformed(dictionary: [String: any Sendable]) throws {
    #expect(throws: ProxyError.self) { try proxy(dictionary, for: "http://h/") }
    #expect(try proxy(dictionary, for: "https://h/") == nil)
  }

  @Test("connectionProxyDictionary returns the known keys that were set, and returns nil after engine.proxy was set")
  func readBack() throws {
    let configuration = URLSessionConfiguration.default
    configuration.connectionProxyDictionary = [
      "HTTPEnable": true, "HTTPProxy": "p", "HTTPPort": 8080, "ExceptionsList": ["h"], "Unknown": 1,
    ]
    let copy = try #require(configuration.copy() as? URLSessionConfiguration)
    for configuration in [configuration, copy] {
      let read = try #require(configuration.connectionProxyDictionary)
      #expect(read.count == 4 && read["HTTPEnable"] as? Int == 1 && read["HTTPProxy"] as? String == "p")
      #expect(read["HTTPPort"] as? Int == 8080 && read["ExceptionsList"] as? [String] == ["h"])
    }
    copy.connectionProxyDictionary = [:]
    #expect(copy.connectionProxyDictionary?.isEmpty == true)
    copy.connectionProxyDictionary = nil
    #expect(copy.connectionProxyDictionary == nil && copy.engine.proxy == .environment)
    configuration.engine.proxy = .none
    #expect(configuration.connectionProxyDictionary == nil)
  }

  @Test(
    "a request is sent through the proxy with the proxy's credentials, but directly to a host in the exceptions list")
  func request() async throws {
    try await withServer { request in
      .text("\(request.target) \(request.fields.first("Proxy-Authorization") ?? "-")")
    } _: { server in
      let dictionary: [String: any Sendable] = [
        "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(server.port), "kCFProxyUsernameKey": "me",
        "kCFProxyPasswordKey": "pw", "ExceptionsList": ["127.0.0.1"],
      ]
      try await withSession {
        $0.connectionProxyDictionary = dictionary
      } _: { session in
        let proxied = await session.request("http://h.example/x").serializingString().response
        #expect(proxied.value == "http://h.example/x Basic bWU6cHc=")
        #expect(proxied.metrics?.transactionMetrics.first?.isProxyConnection == true)
        let direct = await session.request(server.url + "/y").serializingString().response
        #expect(direct.value == "/y -")
        #expect(direct.metrics?.transactionMetrics.first?.isProxyConnection == false)
      }
    }
  }

  @Test("if the proxy dictionary enables a proxy without a host, a request fails with an error that mentions the proxy")
  func failure() async throws {
    try await withServer { _ in
      .text("reached directly")
    } _: { server in
      try await withSession {
        $0.connectionProxyDictionary = ["HTTPEnable": 1]
      } _: { session in
        let response = await session.request(server.url).serializingString().response
        let error = try #require(response.error?.underlyingError as? URLError)
        #expect(response.value == nil && error.code == .cannotConnectToHost)
        #expect(error.localizedDescription.contains("proxy"))
      }
    }
  }
}
