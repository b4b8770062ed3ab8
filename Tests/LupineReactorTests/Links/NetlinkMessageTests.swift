// NetlinkMessageTests: recorded dumps are read completely, and malformed ones are refused without reading beyond them.

import Glibc
import LupineTestSupport
import Testing

@testable import LupineReactor

@Suite("NetlinkMessage")
struct NetlinkMessageTests {
  private func recorded() -> [[UInt8]] {
    (NetlinkVectors.links + NetlinkVectors.addresses + NetlinkVectors.routes).map(bytes(hex:))
  }

  /// Returns the bytes of a netlink message with this payload, padded to a multiple of 4 bytes.
  private func message(_ type: UInt16, flags: UInt16 = 0, length: UInt32? = nil, _ payload: [UInt8]) -> [UInt8] {
    var message: [UInt8] = []
    func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { message += $0 } }
    append(length ?? UInt32(16 + payload.count))
    append(type)
    append(flags)
    append(UInt64(0))
    message += payload
    while message.count % 4 != 0 { message.append(0) }
    return message
  }

  private func attribute(_ type: UInt16, length: UInt16? = nil, _ value: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { bytes += $0 } }
    append(length ?? UInt16(4 + value.count))
    append(type)
    bytes += value
    while bytes.count % 4 != 0 { bytes.append(0) }
    return bytes
  }

  @Test("the netlink parser finds all links, addresses and routes of the network namespace in recorded netlink dumps")
  func dumps() throws {
    let messages = try recorded().flatMap { try NetlinkMessage.messages(in: $0) }
    let links = messages.compactMap { if case .link(let link) = $0 { link } else { nil } }
    #expect(Set(links.map(\.name)) == ["lo", "eth9", "peer9", "wwan0", "peer8"])
    #expect(links.first { $0.name == "eth9" }?.kind == "veth")
    #expect(links.count { $0.isUsable } == links.count)
    let addresses = messages.compactMap { if case .address(let address) = $0 { address.ip } else { nil } }
    for text in ["127.0.0.1", "10.9.0.2", "10.8.0.2", "2001:db8:9::2", "::1"] {
      #expect(addresses.contains(try #require(IPAddress(text))), "\(text)")
    }
    // The peer's address isn't one of this machine.
    #expect(!addresses.contains(try #require(IPAddress("10.8.0.1"))))
    let routes = messages.compactMap { if case .route(let route) = $0 { route } else { nil } }
    let defaults = routes.filter { $0.prefixLength == 0 && $0.priority < 1_000 }
    #expect(defaults.map(\.priority).sorted() == [50, 100])
    let nextHops = routes.first { $0.destination == IPAddress("10.79.0.0") }
    guard case .sent(let indices, false) = nextHops?.outcome else {
      Issue.record("no next hops: \(String(describing: nextHops))")
      return
    }
    #expect(indices == ["eth9", "wwan0"].map { name in links.first { $0.name == name }?.index })
    #expect(messages.count { $0 == .done } == 3)
  }

  @Test("the netlink parser refuses a dump that is truncated within a message")
  func cut() throws {
    for datagram in recorded() where datagram.count < 2_000 {
      let whole = try NetlinkMessage.messages(in: datagram)
      for count in datagram.indices {
        // If the dump is truncated at the end of a message, the earlier messages are complete.
        if let messages = try? NetlinkMessage.messages(in: Array(datagram[..<count])) {
          #expect(messages.elementsEqual(whole.prefix(messages.count)))
          #expect(count % 4 == 0)
        }
      }
    }
  }

  @Test("however a netlink dump is changed, its parser and the network state don't read beyond the dump's end")
  func mutations() throws {
    var random = SplitMix64(seed: 7)
    let datagrams = recorded()
    var refusals = 0
    for _ in 0..<5_000 {
      let original = try #require(datagrams.randomElement(using: &random))
      let changed = random.mutation(of: original, inserting: [0, 1, 3, 4, 15, 16, 32, 33, 128, 129, 255])
      guard let messages = try? NetlinkMessage.messages(in: changed) else {
        refusals += 1
        continue
      }
      var state = NetworkState()
      for message in messages { state.add(message) }
      _ = state.path(to: nil)
      _ = state.path(to: .ipv4(0x0808_0808))
      _ = state.path(to: .ipv6(1))
    }
    #expect(refusals > 500 && refusals < 4_500)
  }

  @Test(
    "the netlink parser refuses a length field that exceeds the enclosing length, or is less than its header's length")
  func lengths() throws {
    let newLink: UInt16 = 16
    let header = [UInt8](repeating: 0, count: 16)
    let nested = attribute(18, attribute(1, length: 9, [1]))
    let route: [UInt8] = [2, 33, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0]
    let malformed = [
      message(newLink, length: 0, header), message(newLink, length: 15, header), message(newLink, length: 33, header),
      message(newLink, length: .max, header), message(newLink, Array(header.dropLast())),
      [UInt8](repeating: 0, count: 15),
      message(newLink, header + attribute(3, length: 3, [])),
      message(newLink, header + attribute(3, length: 9, [1, 2, 3, 4])),
      message(newLink, header + [0, 0, 0]), message(newLink, header + nested), message(24, route),
      message(2, [0, 0, 0]),
    ]
    for bytes in malformed {
      let error = #expect(throws: SystemError.self, "\(bytes)") { try NetlinkMessage.messages(in: bytes) }
      #expect(error?.code == EBADMSG)
    }
    #expect(try NetlinkMessage.messages(in: message(newLink, header + attribute(3, Array("eth0\0".utf8)))).count == 1)
    #expect(try NetlinkMessage.messages(in: []).isEmpty)
  }

  @Test("a netlink dump whose last message contains an error has failed, and isn't used as a complete dump")
  func failedDump() throws {
    let code = withUnsafeBytes(of: -EMSGSIZE) { Array($0) }
    #expect(try NetlinkMessage.messages(in: message(3, flags: 2, code)) == [.failed(code: EMSGSIZE)])
  }

  @Test("the netlink parser reports errors, interruptions and the end of a dump, and skips unknown messages")
  func ends() throws {
    let code = withUnsafeBytes(of: -EACCES) { Array($0) }
    #expect(
      try NetlinkMessage.messages(in: message(2, code + [UInt8](repeating: 0, count: 16))) == [.failed(code: EACCES)])
    #expect(try NetlinkMessage.messages(in: message(3, flags: 0x12, [0, 0, 0, 0])) == [.interrupted, .done])
    #expect(try NetlinkMessage.messages(in: message(3, [])) == [.done])
    #expect(try NetlinkMessage.messages(in: message(999, [1, 2, 3])).isEmpty)
    // Routes of other families, multicast routes, and routes that apply only to some source addresses.
    let routes: [[UInt8]] = [
      [28, 0, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0], [2, 0, 0, 0, 254, 0, 0, 5, 0, 0, 0, 0],
      [2, 0, 8, 0, 254, 0, 0, 1, 0, 0, 0, 0],
    ]
    for route in routes { #expect(try NetlinkMessage.messages(in: message(24, route)).isEmpty) }
  }
}

/// Returns the bytes that a string of hex digits represents.
func bytes(hex: String) -> [UInt8] {
  let digits = Array(hex.utf8)
  return stride(from: 0, to: digits.count, by: 2).map {
    UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
  }
}
