// PublicSuffixes: domains such as com, co.uk and github.io, under which unrelated parties register names (RFC 6265bis §5.7,
// step 9). A cookie for such a domain would be sent to all of these parties.

import Foundation

/// A list of public suffixes, such as `co.uk`, which is read from a file in the format of https://publicsuffix.org/list/.
struct PublicSuffixes: Sendable {
  /// The list of public suffixes that is installed on the system. If it is missing, `isRegistry` recognizes common suffixes by
  /// their form.
  ///
  /// The list is read once per process, when a server first sets a cookie with a Domain attribute. Reading takes about 10 ms.
  static let system = PublicSuffixes(files: [
    "/usr/share/publicsuffix/public_suffix_list.dat", "/usr/share/publicsuffix/effective_tld_names.dat",
  ])

  private var names: Set<String> = []
  /// The domains of the rules with the form `*.domain`. Each direct subdomain of such a domain is a public suffix.
  private var parents: Set<String> = []
  /// The domains of the rules with the form `!domain`. They aren't public suffixes, although a rule in `parents` matches them.
  private var exceptions: Set<String> = []

  /// Reads the public suffixes from the first file in `files` that is readable, not too large and contains rules. Without such a
  /// file, the list is empty.
  init(files: [String]) {
    for file in files {
      let max = CookieLimits.suffixListBytesMax
      guard let text = try? FileHandle(forReadingAtPath: file)?.read(upToCount: max + 1), text.count <= max else {
        continue
      }
      self.init(list: Array(text))
      if !names.isEmpty { return }
    }
    self.init(list: [])
  }

  /// Parses the content of a file of public suffixes. Each line is a rule up to the first whitespace. A line that begins with `//`
  /// is a comment.
  init(list: [UInt8]) {
    // A rule takes 26 bytes on average, including its share of the comments.
    names.reserveCapacity(list.count / 26)
    for line in list.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
      let rule = line.prefix { $0 > 0x20 }
      guard !rule.isEmpty, !rule.starts(with: "//".utf8) else { continue }
      if rule.first == UInt8(ascii: "!") {
        exceptions.insert(Punycode.asciiDomain(rule.dropFirst()))
      } else if rule.starts(with: "*.".utf8) {
        parents.insert(Punycode.asciiDomain(rule.dropFirst(2)))
      } else {
        names.insert(Punycode.asciiDomain(rule))
      }
    }
  }

  /// Returns whether `domain`, which must be in lowercase ASCII, is a public suffix. Single labels and invalid names count as
  /// public suffixes.
  func contains(_ domain: String) -> Bool {
    let labels = domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // A trailing dot doesn't change the name.
    let significant = labels.last?.isEmpty == true ? labels.dropLast() : labels[...]
    guard significant.count > 1, !significant.contains(where: \.isEmpty) else { return true }
    let name = labels.count == significant.count ? domain : String(domain.dropLast())
    if exceptions.contains(name) { return false }
    if names.contains(name) { return true }
    if names.isEmpty, Self.isRegistry(significant) { return true }
    return parents.contains(String(name.dropFirst(significant[0].count + 1)))
  }

  /// Returns the registrable domain of a host, which is its public suffix and one more label: `example.co.uk` for
  /// `www.example.co.uk`. Returns nil if the host is a public suffix, an IP address or a Unix socket's path.
  func registrableDomain(of host: String) -> String? {
    let source = CookieSource(host: host, path: "/", isSecure: true, port: 0)
    // The longest suffix counts. It may be below a domain that isn't a suffix, such as s3.amazonaws.com below amazonaws.com.
    return source.isAddress ? nil : source.domains.prefix { !contains($0) }.last
  }

  /// Returns whether the name has the form of a public suffix like `co.uk`: a label that registries commonly use, followed by a
  /// country's top-level domain.
  private static func isRegistry(_ labels: ArraySlice<Substring.UTF8View>) -> Bool {
    guard labels.count == 2, let country = labels.last, country.count == 2, let label = labels.first else {
      return false
    }
    return registryLabels.contains(String(Substring(label)))
  }

  private static let registryLabels: Set<String> = [
    "ac", "co", "com", "edu", "go", "gob", "gov", "ltd", "mil", "ne", "net", "or", "org", "plc", "sch",
  ]
}
