// The domains under which strangers register theirs, such as com, co.uk and github.io (RFC 6265bis §5.7, step 9). A
// cookie for one of them would go to all of them, and could be set by any of them.

import Foundation

/// A list of public suffixes, in the form of https://publicsuffix.org/list/.
struct PublicSuffixes: Sendable {
  /// The system's list, read when it is first needed; without one, only what `isRegistry` knows by its form.
  ///
  /// It is needed when a server first sets a cookie with a Domain. Reading takes some 10 ms, once in a process.
  static let system = PublicSuffixes(files: [
    "/usr/share/publicsuffix/public_suffix_list.dat", "/usr/share/publicsuffix/effective_tld_names.dat",
  ])

  private var names: Set<String> = []
  /// What stands behind `*.`: each domain directly below is a suffix.
  private var parents: Set<String> = []
  /// What stands behind `!`: exceptions from the above.
  private var exceptions: Set<String> = []

  /// Reads the first of the files that can be read.
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

  /// Reads a list: a rule on each line up to the first white space; what begins with two slashes is a comment.
  init(list: [UInt8]) {
    // A rule and its share of the comments take 26 bytes.
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

  /// Whether the domain, in lower case and ASCII, is a public suffix. A single label is, and so is what no name can be.
  func contains(_ domain: String) -> Bool {
    let labels = domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    // A dot at the end changes nothing about whose name it is.
    let significant = labels.last?.isEmpty == true ? labels.dropLast() : labels[...]
    guard significant.count > 1, !significant.contains(where: \.isEmpty) else { return true }
    let name = labels.count == significant.count ? domain : String(domain.dropLast())
    if exceptions.contains(name) { return false }
    if names.contains(name) { return true }
    if names.isEmpty, Self.isRegistry(significant) { return true }
    return parents.contains(String(name.dropFirst(significant[0].count + 1)))
  }

  /// The name that somebody has registered: a public suffix and the label in front of it. Nil for a public suffix, under
  /// which strangers have names, and for a host without domains above it.
  func registrableDomain(of host: String) -> String? {
    let source = CookieSource(host: host, path: "/", isSecure: true, port: 0)
    return source.isAddress ? nil : source.domains.last { !contains($0) }
  }

  /// What a list would say of most names like `co.uk`: a label that registries of countries use, below a country's.
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
