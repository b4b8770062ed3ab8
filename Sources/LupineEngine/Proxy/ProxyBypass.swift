// ProxyBypass: the hosts that are reached without a proxy: NO_PROXY, parsed by curl's rules.

/// A list of hosts to which requests are sent without a proxy.
public struct ProxyBypass: Sendable, Hashable {
  private struct Entry: Sendable, Hashable {
    /// The entry as a domain name in lowercase, without a leading or trailing dot. It is compared with hosts that are names.
    let name: [UInt8]
    /// The entry as a block of addresses, which is compared with hosts that are addresses. Nil if the entry isn't an address or a
    /// block.
    let block: Block?
  }

  /// A block of addresses: all addresses whose first `bitCount` bits equal those of `address`.
  private struct Block: Sendable, Hashable {
    let address: IPAddress
    let bitCount: Int

    // address [ "/" 1*3DIGIT ]
    init?(_ text: Substring.UTF8View) {
      let slash = text.firstIndex(of: UInt8(ascii: "/"))
      var host = slash.map { text[..<$0] } ?? text
      if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") { host = host.dropFirst().dropLast() }
      guard let address = IPAddress(Substring(host)) else { return nil }
      self.address = address
      guard let slash else {
        bitCount = address.bitCount
        return
      }
      let digits = text[slash...].dropFirst()
      guard digits.allSatisfy({ $0 &- 0x30 < 10 }), let count = Int(Substring(digits)),
        count <= address.bitCount
      else { return nil }
      bitCount = count
    }

    func contains(_ address: IPAddress) -> Bool { address.masked(bitCount) == self.address.masked(bitCount) }
  }

  private let entries: [Entry]
  private let isEverything: Bool

  /// An empty list: all requests use the proxy.
  public static let none = ProxyBypass("")

  /// Parses a list in the format of the environment variable NO_PROXY: entries
  /// separated by commas, spaces or tabs, ignoring case.
  ///
  /// - "*" as the only entry: every host. In a longer list or entry, "*" has no meaning.
  /// - A name: this host and its subdomains. A leading dot makes no difference: ".example.com" equals "example.com".
  /// - An address: this address. An IPv6 address may be in brackets.
  /// - A block such as "10.0.0.0/8" or "fd00::/8": each address in the block. Host names aren't looked up to compare their
  ///   addresses with blocks.
  ///
  /// An entry can't have a port: "example.com:80" isn't a host name and matches
  /// nothing. The same applies to other malformed entries.
  public init(_ list: String) {
    let separators: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: " "), UInt8(ascii: "\t")]
    let texts = list.lowercased()[...].utf8.split { separators.contains($0) }
    isEverything = texts.count == 1 && texts[0].elementsEqual("*".utf8)
    entries = texts.map { Self.entry($0) }
  }

  /// Returns whether requests to a host are sent without a proxy. `host` is a name or an
  /// address, without the brackets of an IPv6 address.
  public func contains(host: String) -> Bool {
    if isEverything { return true }
    if entries.isEmpty { return false }
    if let address = IPAddress(host) {
      return entries.contains { $0.block?.contains(address) ?? false }
    }
    var name = [UInt8](host.lowercased().utf8)
    if name.last == UInt8(ascii: ".") { name.removeLast() }
    return entries.contains { Self.isSame(name, orBelow: $0.name) }
  }

  private static func isSame(_ name: [UInt8], orBelow domain: [UInt8]) -> Bool {
    guard !domain.isEmpty, name.count >= domain.count, name.suffix(domain.count).elementsEqual(domain) else {
      return false
    }
    return name.count == domain.count || name[name.count - domain.count - 1] == UInt8(ascii: ".")
  }

  private static func entry(_ text: Substring.UTF8View) -> Entry {
    var name = text
    if name.last == UInt8(ascii: ".") { name = name.dropLast() }
    if name.first == UInt8(ascii: ".") { name = name.dropFirst() }
    return Entry(name: [UInt8](name), block: Block(text))
  }
}
