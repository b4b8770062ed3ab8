// NetworkStateTests: the path to an address follows the routes, links and addresses, in recorded and in built states.

import Glibc
import Testing

@testable import LupineReactor

@Suite("NetworkState")
struct NetworkStateTests {
  private static let up = UInt32(IFF_UP | IFF_RUNNING)

  private func recorded() throws -> NetworkState {
    var state = NetworkState()
    for hex in NetlinkVectors.links + NetlinkVectors.addresses + NetlinkVectors.routes {
      for message in try NetlinkMessage.messages(in: bytes(hex: hex)) { state.add(message) }
    }
    return state
  }

  /// Returns a description of the network path to an address, or to any host if `text` is nil. Returns "none" if there is no path.
  private func path(_ state: NetworkState, _ text: String?) throws -> String {
    let address = try text.map { try #require(IPAddress($0)) }
    guard let path = state.path(to: address) else { return "none" }
    return "\(path.isLocal ? "local" : "\(path.medium)")\(path.isDirect ? "" : " by gateway")"
  }

  private func ip(_ text: String) throws -> IPAddress { try #require(IPAddress(text)) }

  private func route(
    _ network: String, _ length: Int, _ links: [Int32], priority: UInt32 = 0
  ) throws -> NetlinkMessage {
    .route(
      NetworkRoute(
        destination: try ip(network), prefixLength: length, priority: priority,
        outcome: .sent(links: links, isDirect: false)))
  }

  private func link(_ index: Int32, _ name: String = "eth", flags: UInt32 = up) -> NetlinkMessage {
    .link(NetworkLink(index: index, name: name, flags: flags))
  }

  private func address(_ link: Int32, _ text: String) throws -> NetlinkMessage {
    .address(NetworkAddress(link: link, ip: try ip(text)))
  }

  private func state(_ messages: NetlinkMessage...) -> NetworkState {
    var state = NetworkState()
    for message in messages { state.add(message) }
    return state
  }

  @Test(
    "the network paths computed from a recorded netlink dump match its routing table",
    arguments: [
      (nil, "wired by gateway"), ("8.8.8.8", "wired by gateway"), ("10.9.0.77", "wired"), ("10.8.0.1", "cellular"),
      ("10.77.1.1", "cellular by gateway"), ("10.78.0.1", "none"), ("10.79.0.1", "wired by gateway"),
      ("2600::1", "wired by gateway"), ("2001:db8:9::77", "wired"), ("2001:db8:66::1", "none"), ("127.0.0.1", "local"),
      ("::1", "local"), ("10.9.0.2", "local"), ("::ffff:10.8.0.1", "cellular"),
    ] as [(String?, String)])
  func recordedPaths(address: String?, expected: String) throws {
    #expect(try path(recorded(), address) == expected)
  }

  @Test(
    "there is no network path over a network link that is down or has no carrier",
    arguments: [0, UInt32(IFF_UP), UInt32(IFF_RUNNING)])
  func linkDown(flags: UInt32) throws {
    var state = try recorded()
    let indices = try NetlinkVectors.links.flatMap { try NetlinkMessage.messages(in: bytes(hex: $0)) }
      .compactMap { if case .link(let link) = $0, link.name == "eth9" { link.index } else { nil } }
    state.add(link(try #require(indices.first), "eth9", flags: flags))
    for text in [nil, "8.8.8.8", "2600::1", "10.9.0.77"] { #expect(try path(state, text) == "none") }
    // The route still has another next hop.
    #expect(try path(state, "10.79.0.1") == "cellular by gateway")
    #expect(try path(state, "127.0.0.1") == "local")
  }

  @Test(
    "the most specific usable network route applies, or of equally specific routes the one with the lowest metric")
  func preference() throws {
    let base = state(link(1), link(2, "wwan0"), try address(1, "10.0.0.1"), try address(2, "10.1.0.1"))
    var state = base
    state.add(try route("0.0.0.0", 0, [2], priority: 200))
    #expect(try path(state, "8.8.8.8") == "cellular by gateway")
    state.add(try route("0.0.0.0", 0, [1], priority: 100))
    #expect(try path(state, "8.8.8.8") == "wired by gateway")
    #expect(try path(state, nil) == "wired by gateway")
    state.add(try route("8.0.0.0", 8, [2], priority: 300))
    #expect(try path(state, "8.8.8.8") == "cellular by gateway")
    state.add(.route(NetworkRoute(destination: try ip("8.8.0.0"), prefixLength: 16, priority: 0, outcome: .refused)))
    #expect(try path(state, "8.8.8.8") == "none" && path(state, "8.9.8.8") == "cellular by gateway")
    // A route that refuses packets and has a higher metric applies only if there is no other, like the kernel's default route of
    // IPv6.
    state.add(.route(NetworkRoute(destination: .ipv4(0), prefixLength: 0, priority: .max, outcome: .refused)))
    #expect(try path(state, "9.9.9.9") == "wired by gateway")
  }

  @Test("a network route is usable only with a source address of its family that is neither loopback nor link-local")
  func sources() throws {
    var state = state(link(1), link(2, "lo", flags: Self.up | UInt32(IFF_LOOPBACK)))
    state.add(try route("0.0.0.0", 0, [1]))
    state.add(try route("::", 0, [1]))
    state.add(try route("fe80::", 64, [1]))
    for text in ["127.0.0.1", "::1"] { state.add(try address(2, text)) }
    state.add(try address(1, "fe80::2"))
    for text in [nil, "8.8.8.8", "2600::1"] { #expect(try path(state, text) == "none") }
    #expect(try path(state, "fe80::1") == "wired by gateway")
    state.add(try address(1, "2001:db8::2"))
    #expect(try path(state, nil) == "wired by gateway" && path(state, "2600::1") == "wired by gateway")
    #expect(try path(state, "8.8.8.8") == "none")
    state.add(try address(1, "10.0.0.1"))
    #expect(try path(state, "8.8.8.8") == "wired by gateway")
  }

  @Test(
    "NetworkState treats a modem interface as cellular, an interface named wl… as Wi-Fi, and any other as wired",
    arguments: [
      ("wwan0", "", 1, .cellular), ("wwp0s20u4", "", 1, .cellular), ("rmnet0", "", 1, .cellular),
      ("mobile", "wwan", 1, .cellular), ("data", "rmnet", 1, .cellular), ("usb0", "", 519, .cellular),
      ("eth0", "veth", 1, .wired), ("wlan0", "", 1, .wifi), ("wlp2s0", "", 1, .wifi), ("ppp0", "ppp", 512, .wired),
      ("tun0", "tun", 65_534, .wired),
    ] as [(String, String, UInt16, NetworkPath.Medium)])
  func media(name: String, kind: String, type: UInt16, medium: NetworkPath.Medium) {
    let link = NetworkLink(index: 1, name: name, hardwareType: type, flags: 0, kind: kind)
    #expect(link.medium == medium)
  }

  @Test("if the caller refuses a medium such as cellular, NetworkState treats the links of that medium as down")
  func refusedMedium() throws {
    let mobile = state(link(1, "wwan0"), try address(1, "10.0.0.1"), try route("0.0.0.0", 0, [1]))
    #expect(mobile.path(to: nil)?.medium == .cellular && mobile.hasRoute())
    #expect(mobile.path(to: nil, refusing: [.cellular]) == nil && !mobile.hasRoute(refusing: [.cellular]))
    var both = mobile
    both.add(link(2, "wlan0"))
    both.add(try address(2, "10.1.0.1"))
    both.add(try route("0.0.0.0", 0, [2], priority: 600))
    #expect(both.path(to: nil)?.medium == .cellular)
    #expect(both.path(to: nil, refusing: [.cellular])?.medium == .wifi && both.hasRoute(refusing: [.cellular]))
    #expect(both.linksToAnyHost.map(\.name) == ["wwan0", "wlan0"])
  }

  @Test("a route to the local network counts as a network path, although it reaches no other hosts")
  func localRoute() throws {
    let local = state(link(1), try address(1, "10.0.0.1"), try route("10.0.0.0", 8, [1]))
    #expect(local.hasRoute() && local.path(to: nil) == nil && local.linksToAnyHost.isEmpty)
    let down = state(link(1, flags: 0), try address(1, "10.0.0.1"), try route("10.0.0.0", 8, [1]))
    #expect(!down.hasRoute())
  }

  @Test("if there are no network links, no address has a network path")
  func empty() throws {
    for text in [nil, "127.0.0.1", "::1", "8.8.8.8"] { #expect(try path(NetworkState(), text) == "none") }
  }

  // MARK: This machine

  @Test("the machine's current network state has a path to the loopback address")
  func current() throws {
    #expect(try path(NetworkState.current(), "127.0.0.1") == "local")
  }

  @Test(
    "a network watch reports the current network state soon, and its thread ends when the caller releases the watch")
  func watch() async throws {
    let (reports, continuation) = AsyncStream.makeStream(of: Bool.self)
    var watch: NetworkWatch? = try NetworkWatch { [ending = Ending(continuation)] report in
      withExtendedLifetime(ending) { _ = continuation.yield((try? report.get()) != nil) }
    }
    var iterator = reports.makeAsyncIterator()
    #expect(await iterator.next() == true)
    withExtendedLifetime(watch) {}
    watch = nil
    // The thread releases its handler when it ends.
    while await iterator.next() != nil {}
  }

  /// An object whose release ends a sequence of reports.
  private final class Ending: Sendable {
    private let continuation: AsyncStream<Bool>.Continuation
    init(_ continuation: AsyncStream<Bool>.Continuation) { self.continuation = continuation }
    deinit { continuation.finish() }
  }
}
