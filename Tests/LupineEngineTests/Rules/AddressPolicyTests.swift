// AddressPolicyTests: which addresses a policy permits, compared with Python's tables, and the parsing of networks.

import LupineReactor
import Testing

@testable import LupineEngine

@Suite("AddressPolicy")
struct AddressPolicyTests {
  private func address(_ text: String) throws -> SocketAddress {
    let address = text.hasPrefix("/") ? SocketAddress(socketPath: text) : SocketAddress(numeric: text, port: 80)
    return try #require(address, "\(text)")
  }

  // MARK: Public addresses

  @Test("the addresses that the address policy considers public are the same as in Python's ipaddress module")
  func vectors() throws {
    #expect(AddressPolicyVectors.publicAddresses.count > 400 && AddressPolicyVectors.otherAddresses.count > 400)
    for text in AddressPolicyVectors.publicAddresses {
      #expect(AddressPolicy.publicOnly.permits(try address(text)), "\(text)")
    }
    for text in AddressPolicyVectors.otherAddresses {
      #expect(!AddressPolicy.publicOnly.permits(try address(text)), "\(text)")
    }
  }

  @Test(
    "the address policy regards networks in IANA's special-purpose registries as not public, even if Python lacks them",
    arguments: [
      ("192.88.99.1", false), ("192.88.98.255", true), ("192.88.100.0", true), ("2001:1::3", true),
      ("2001:1::4", false),
      ("3fff::1", false), ("3fff:fff:ffff::1", false), ("3fff:1000::", true), ("5f00::1", false),
      ("100:0:0:1::1", false),
    ])
  func newEntries(text: String, isPublic: Bool) throws {
    #expect(AddressPolicy.publicOnly.permits(try address(text)) == isPublic)
  }

  @Test(
    "the address policy doesn't treat an IPv6 address that contains a private IPv4 address as public",
    arguments: [
      "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::ffff:0:127.0.0.1",
      "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b::0.0.0.0", "64:ff9b:1::8.8.8.8", "2002:7f00:1::1",
      "2002:808:808::1", "2001:0:808:808::", "2600::5efe:10.0.0.1", "2600::200:5efe:127.0.0.1", "2600::5efe:0.0.0.0",
      "::",
      "::1",
    ])
  func disguised(text: String) throws {
    #expect(!AddressPolicy.publicOnly.permits(try address(text)))
    #expect(AddressPolicy.all.permits(try address(text)))
  }

  @Test("the address policy permits an IPv6 address that embeds a public IPv4 address")
  func translated() throws {
    for text in ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2600::5efe:8.8.8.8", "2600::100:5efe:10.0.0.1"] {
      #expect(AddressPolicy.publicOnly.permits(try address(text)))
    }
  }

  // MARK: Networks

  @Test(
    "an address policy refuses the addresses in a refused network in each of their notations",
    arguments: [
      "10.1.2.3", "::ffff:10.1.2.3", "::10.1.2.3", "::ffff:0:10.1.2.3", "64:ff9b::10.1.2.3", "64:ff9b:1::10.1.2.3",
      // The first three of these addresses embed 10.1.2.3 as in RFC 6052 §2.2, with prefixes of 48, 56 and 64 bits.
      "64:ff9b:1:a01:2:300::", "64:ff9b:1:a:1:203::", "64:ff9b:1:0:a:102:300:0", "2002:a01:203::1", "2001:0:a01:203::",
      "2001::f5fe:fdfc", "2600::5efe:10.1.2.3", "2600::200:5efe:10.1.2.3", "fe80::5efe:10.1.2.3",
    ])
  func refused(text: String) throws {
    let policy = AddressPolicy(others: .all, refused: ["10.0.0.0/8"])
    #expect(!policy.permits(try address(text)))
    var allowing = policy
    allowing.allowed = ["0.0.0.0/0", "::/0"]
    #expect(!allowing.permits(try address(text)))
    for other in ["11.1.2.3", "::ffff:11.1.2.3", "64:ff9b::11.1.2.3", "2002:b01:203::1", "2001:0:b01:203::", "fd00::1"]
    {
      #expect(policy.permits(try address(other)), "\(other)")
    }
  }

  @Test("an address policy that refuses loopback also refuses 0.0.0.0 and ::, which Linux connects to the same machine")
  func unspecified() throws {
    let policy = AddressPolicy(others: .all, refused: ["127.0.0.0/8", "::1"])
    for text in ["0.0.0.0", "::", "::ffff:0.0.0.0", "64:ff9b::", "127.9.9.9", "::1"] {
      #expect(!policy.permits(try address(text)), "\(text)")
    }
    #expect(!AddressPolicy(others: .all, refused: ["::1"]).permits(try address("::")))
    #expect(policy.permits(try address("0.0.0.1")))
  }

  @Test("an address policy permits the addresses in an allowed network, except those in refused parts of the network")
  func allowed() throws {
    var policy = AddressPolicy.only(["10.0.0.0/8", "fd00::/8"])
    for text in ["10.0.0.0", "10.255.255.255", "::ffff:10.0.0.1", "fd12::1"] {
      #expect(policy.permits(try address(text)), "\(text)")
    }
    for text in ["9.255.255.255", "11.0.0.0", "8.8.8.8", "fc00::1", "64:ff9b::10.0.0.1", "2002:a00:1::"] {
      #expect(!policy.permits(try address(text)), "\(text)")
    }
    policy.refused = ["10.0.0.1"]
    #expect(try !policy.permits(address("10.0.0.1")) && policy.permits(address("10.0.0.2")))
    policy.others = .publicOnly
    #expect(try policy.permits(address("8.8.8.8")) && !policy.permits(address("192.168.0.1")))
  }

  @Test(
    "the default address policy permits Unix sockets, and a restricting policy only those that it allows explicitly")
  func unixSockets() throws {
    #expect(EngineConfiguration().addressPolicy == .all)
    for (policy, isPermitted) in [
      (AddressPolicy.all, true), (.publicOnly, false), (.only(["0.0.0.0/0"]), false),
      (AddressPolicy(others: .all), false),
      (AddressPolicy(others: .none, allowsUnixSockets: true), true),
    ] {
      #expect(policy.permits(try address("/run/docker.sock")) == isPermitted)
      #expect(policy.permits(try #require(SocketAddress(socketPath: "@abstract"))) == isPermitted)
    }
  }

  @Test("filtering addresses by the policy keeps the permitted ones in order, and fails if there are none")
  func filtering() throws {
    let mixed = try ["127.0.0.1", "8.8.8.8", "fe80::1", "2600::1"].map(address)
    #expect(try AddressPolicy.publicOnly.permitted(mixed) == [mixed[1], mixed[3]])
    #expect(try AddressPolicy.all.permitted(mixed) == mixed)
    #expect(throws: AddressRefusal.addresses([mixed[0], mixed[2]])) {
      try AddressPolicy.publicOnly.permitted([mixed[0], mixed[2]])
    }
  }

  @Test("a policy that differs from the default in a single property filters addresses")
  func singleRestrictions() throws {
    let (here, socket) = (try address("127.0.0.1"), try address("/run/docker.sock"))
    var refusing = AddressPolicy.all
    refusing.refused = ["127.0.0.0/8"]
    #expect(throws: AddressRefusal.addresses([here])) { try refusing.permitted([here]) }
    var socketless = AddressPolicy.all
    socketless.allowsUnixSockets = false
    #expect(throws: AddressRefusal.addresses([socket])) { try socketless.permitted([socket]) }
    for others in [AddressPolicy.Others.publicOnly, .none] {
      var limited = AddressPolicy.all
      limited.others = others
      #expect(throws: AddressRefusal.addresses([here])) { try limited.permitted([here]) }
    }
  }

  @Test("the address policy's error lists at most four refused addresses")
  func refusalText() throws {
    let all = try ["127.0.0.1", "::1", "10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"].map(address)
    #expect(AddressRefusal.addresses(Array(all[..<2])).description.contains("refuses 127.0.0.1, ::1. "))
    #expect(AddressRefusal.addresses(all).description.contains("127.0.0.1, ::1, 10.0.0.1, 10.0.0.2 and 2 more. "))
  }

  @Test(
    "a network in an address policy is an address or an address prefix, whose remaining bits must be 0",
    arguments: [
      ("10.0.0.0/8", "10.0.0.0/8"), ("127.0.0.1", "127.0.0.1/32"), ("0.0.0.0/0", "0.0.0.0/0"), ("::/0", "::/0"),
      ("FD00::/08", "fd00::/8"), ("::1", "::1/128"), ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
      ("::ffff:0.0.0.0/96", "0.0.0.0/0"), ("255.255.255.255/32", "255.255.255.255/32"),
    ])
  func networks(text: String, expected: String) throws {
    #expect(try #require(AddressNetwork(text)).description == expected)
  }

  @Test(
    "an address policy refuses text that isn't a network",
    arguments: [
      "", "/", "10.0.0.0/", "10.1.0.0/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/0008", "10.0.0.0/8/8",
      "10.0/8", "010.0.0.0/8", "::/129", "fd00::1/8", "::ffff:0:0/95", "localhost", "10.0.0.0 /8", "10.0.0.0/٨",
      "[::1]",
    ])
  func malformedNetworks(text: String) {
    #expect(AddressNetwork(text) == nil)
  }
}
