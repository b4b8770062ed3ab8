// ProxyRouteTests: the request head by route: direct, through a forwarding proxy, or through a tunnel.

import LupineWire
import Testing

@testable import LupineEngine

@Suite("Route")
struct ProxyRouteTests {
  private let fields: Fields = [
    "Host": "h", "Authorization": "for the origin", "proxy-authorization": "x", "Accept": "a",
    "PROXY-CONNECTION": "keep-alive", "Proxy-Authorization": "y", "Proxy-Authorization-Not": "z",
  ]

  private func apply(_ route: Route, to uri: String, fields: Fields) throws -> RequestHead {
    var fields = fields
    if !fields.contains("Host") { fields.append(name: "Host", value: "h") }
    return try #require(EngineRequest(uri: try URI(uri), fields: fields).head(by: route))
  }

  @Test("the schemes of the origin and of the proxy determine whether a request is forwarded, tunneled or direct")
  func ways() throws {
    let (http, https) = (try URI("http://h/").origin, try URI("https://h/").origin)
    #expect(Route(to: http, by: nil) == .direct)
    #expect(Route(to: https, by: nil) == .direct)
    let proxy = try Proxy("http://p")
    #expect(Route(to: http, by: proxy) == .forward(proxy))
    #expect(Route(to: https, by: proxy) == .tunnel(proxy))
    for socks in [try Proxy("socks5://p"), try Proxy("socks5h://p")] {
      #expect(Route(to: http, by: socks) == .tunnel(socks))
      #expect(Route(to: https, by: socks) == .tunnel(socks))
    }
  }

  @Test("an origin never receives the caller's proxy fields, neither directly nor through a tunnel")
  func originFields() throws {
    let routes: [Route] = [
      .direct, .tunnel(try Proxy("http://u:p@p")), .tunnel(try Proxy("socks5://u:p@p")), .tunnel(try Proxy("http://p")),
    ]
    for route in routes {
      let head = try apply(route, to: "https://h/x?y", fields: fields)
      #expect(head.target == "/x?y")
      #expect(
        head.fields
          == ["Host": "h", "Authorization": "for the origin", "Accept": "a", "Proxy-Authorization-Not": "z"])
    }
  }

  @Test("a forwarding proxy receives the absolute form, and its configured credentials instead of the caller's")
  func forward() throws {
    let head = try apply(.forward(try Proxy("http://us%65r:p:w@p")), to: "http://H:8080/x?y#z", fields: fields)
    #expect(head.target == "http://h:8080/x?y")
    #expect(
      head.fields
        == [
          "Host": "h", "Authorization": "for the origin", "Accept": "a", "Proxy-Authorization-Not": "z",
          "Proxy-Authorization": "Basic dXNlcjpwOnc=",
        ])
    let open = try apply(.forward(try Proxy("http://p")), to: "http://h/", fields: fields)
    #expect(!open.fields.contains("Proxy-Authorization"))
    #expect(!open.fields.contains("Proxy-Connection"))
  }

  @Test(
    "the target of a request that is forwarded to a proxy is in absolute form",
    arguments: [
      ("http://h", "http://h/"), ("http://h?q", "http://h/?q"), ("http://h:80/a", "http://h/a"),
      ("http://[::1]:81/a b", "http://[::1]:81/a%20b"), ("http://u:p@h/x", "http://h/x"),
      ("http://h//x", "http://h//x"),
    ])
  func absoluteForm(uri: String, target: String) throws {
    #expect(try apply(.forward(try Proxy("p")), to: uri, fields: Fields()).target == target)
  }

  @Test("preparing a request head for its route changes nothing if the head has no proxy fields")
  func untouched() throws {
    let fields: Fields = ["Host": "h", "X": "1", "x": "2"]
    #expect(try apply(.direct, to: "http://h/", fields: fields).fields == fields)
    #expect(try apply(.forward(try Proxy("p")), to: "http://h/", fields: fields).fields == fields)
  }
}
