// Every limit on cookies, with its unit and source.

/// Limits on the cookies that are stored and sent.
///
/// Servers choose the size and number of their cookies; these limits bound the memory and the request bytes that they cost.
enum CookieLimits {
  /// Bytes of one Set-Cookie field value, 8,190. A longer one is ignored.
  ///
  /// RFC 6265bis sets no limit. This one leaves room for the longest pair and an attribute of each kind; Apache allows 8,190.
  static let lineBytesMax = 8190

  /// Bytes of a cookie's name and value together, 4,096 (RFC 6265bis §5.6). A longer cookie is ignored.
  static let pairBytesMax = 4096

  /// Bytes of an attribute's value, 1,024 (RFC 6265bis §5.6). A longer attribute is ignored, but not its cookie.
  static let attributeBytesMax = 1024

  /// The longest lifetime of a cookie set by a server, in seconds: 400 days (RFC 6265bis §5.5).
  static let ageSecondsMax: Int64 = 400 * 24 * 60 * 60

  /// Cookies of one domain, 180, as in Chrome. RFC 6265bis §6.1 requires at least 50.
  static let perDomainMax = 180

  /// Cookies of a registrable domain, such as example.com or example.co.uk, together with its subdomains; 360.
  ///
  /// Our choice: twice the limit of a domain and about a tenth of a storage's, so that the owner of one name with many
  /// subdomains can't evict the cookies of all other sites. Chrome applies its 180 to registrable domains.
  static let perRegistrableDomainMax = 360

  /// Cookies of one storage, 3,300, as in Chrome.
  static let totalMax = 3300

  /// Cookies that remain after there were more than `totalMax`; 3,000, the minimum of RFC 6265bis §6.1.
  ///
  /// Eviction searches all cookies, so it removes several hundred at once.
  static let totalKept = 3000

  /// Bytes of the Cookie field sent, 8,190. Cookies that don't fit are left out, those with shorter paths first.
  ///
  /// RFC 6265bis sets no limit. Apache refuses a longer field with an error, and most other servers refuse one that is a little
  /// longer. Without this limit, a server that sets too many cookies would lock its users out.
  static let fieldBytesMax = 8190

  /// Bytes of a host name, 255, the longest name in the DNS (RFC 1035 §2.3.4). A longer host has no cookies.
  static let hostBytesMax = 255

  /// Bytes of the system's list of public suffixes, 4 MiB. A larger file is not read; the list of 2025 has 0.3 MiB.
  static let suffixListBytesMax = 4 * 1024 * 1024
}
