// RouteLookupTests: the kernel's answers about this machine's links. In Tests/Namespaces/waiting, requests use them in a namespace.

import Testing

@testable import LupineReactor

@Suite("A route lookup")
struct RouteLookupTests {
  private func link(_ address: String, _ options: SocketOptions = SocketOptions()) throws -> NetworkLink? {
    try NetworkLink.link(to: try #require(SocketAddress(numeric: address, port: 80)), options: options)
  }

  @Test(
    "a route lookup for an address of this machine returns no network link",
    arguments: ["127.0.0.1", "127.8.9.10", "::1"])
  func own(address: String) throws {
    #expect(try link(address) == nil)
  }

  @Test("a route lookup for a Unix socket returns no network link")
  func unixSocket() throws {
    let address = try #require(SocketAddress(socketPath: "/run/a"))
    #expect(try NetworkLink.link(to: address, options: SocketOptions()) == nil)
  }

  @Test("if a socket is bound to an interface, its network link is that interface")
  func interface() throws {
    var options = SocketOptions()
    options.interface = "lo"
    let found = try #require(try link("127.0.0.1", options))
    #expect(found.name == "lo" && found.index > 0 && found.isUsable)
    options.interface = "lupine-none"
    #expect(throws: SystemError.self) { try link("127.0.0.1", options) }
  }

  @Test("a route lookup for another host returns the network link of the kernel's route, if there is one")
  func otherHost() throws {
    let state = try NetworkState.current()
    for (address, isIPv6) in [("192.0.2.1", false), ("2001:db8::1", true)] {
      let ip = try #require(IPAddress(address))
      guard state.path(to: ip) != nil else {
        #expect(throws: SystemError.self, "IPv6: \(isIPv6)") { try link(address) }
        continue
      }
      let found = try #require(try link(address))
      #expect(state.linksToAnyHost.contains { $0.index == found.index && $0.name == found.name })
    }
  }
}
