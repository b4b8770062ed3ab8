// Numeric addresses in, numbers out; no name is ever looked up here.

import Glibc
import LupineReactor
import Testing

@Suite("SocketAddress")
struct SocketAddressTests {
  @Test(
    "a numeric address is read and written",
    arguments: [
      ("127.0.0.1", 80, "127.0.0.1:80", false),
      ("0.0.0.0", 0, "0.0.0.0:0", false),
      ("255.255.255.255", 65_535, "255.255.255.255:65535", false),
      ("::1", 443, "[::1]:443", true),
      ("::", 1, "[::]:1", true),
      ("2001:DB8:0:0:0:0:0:1", 8_080, "[2001:db8::1]:8080", true),
      ("::ffff:1.2.3.4", 80, "[::ffff:1.2.3.4]:80", true),
      ("1111:2222:3333:4444:5555:6666:7777:8888", 80, "[1111:2222:3333:4444:5555:6666:7777:8888]:80", true),
    ] as [(String, UInt16, String, Bool)])
  func numeric(_ host: String, _ port: UInt16, _ description: String, _ isIPv6: Bool) throws {
    let address = try #require(SocketAddress(numeric: host, port: port))
    #expect(address.description == description)
    #expect(address.port == port)
    #expect(address.isIPv6 == isIPv6)
  }

  @Test(
    "what isn't a numeric address is refused",
    arguments: [
      "", "localhost", "example.com", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", " 1.2.3.4", "01.2.3.4x",
      "0x7f.0.0.1",
      "2130706433", "[::1]", "::1%lo", ":::", "::g", "1:2", "127.0.0.1\0.example.com", "::1\0", "１.1.1.1",
    ])
  func refused(_ host: String) {
    #expect(SocketAddress(numeric: host, port: 80) == nil)
  }
}
