// CookieLimits: every limit on cookies, with its unit and source.

/// The limits on the cookies that a storage contains and a request sends.
///
/// Servers choose the size and number of their cookies. These limits bound the memory that cookies occupy and the bytes that they
/// add to requests.
enum CookieLimits {
  /// The maximum size of a Set-Cookie field value in bytes: 8,190. A longer field is ignored.
  ///
  /// RFC 6265bis sets no limit. 8,190 bytes leave room for the longest name and value and an attribute of each kind. Apache has the
  /// same limit.
  static let lineBytesMax = 8190

  /// The maximum size of a cookie's name and value together, in bytes: 4,096 (RFC 6265bis §5.6). A longer cookie is ignored.
  static let pairBytesMax = 4096

  /// The maximum size of the value of a cookie's attribute, in bytes: 1,024 (RFC 6265bis §5.6). A longer attribute is ignored, but
  /// its cookie isn't.
  static let attributeBytesMax = 1024

  /// The maximum lifetime in seconds of a cookie that a server sets: 400 days (RFC 6265bis §5.5).
  static let ageSecondsMax: Int64 = 400 * 24 * 60 * 60

  /// The maximum number of stored cookies of one domain: 180, as in Chrome. RFC 6265bis §6.1 requires at least 50.
  static let perDomainMax = 180

  /// The maximum number of stored cookies of a registrable domain, such as example.com or example.co.uk, together with its
  /// subdomains: 360.
  ///
  /// This is twice the limit of a single domain and about a tenth of a storage's limit, so that the owner of one name with many
  /// subdomains can't evict the cookies of all other sites. Chrome applies its limit of 180 to registrable domains.
  static let perRegistrableDomainMax = 360

  /// The maximum number of cookies of one storage: 3,300, as in Chrome.
  static let totalMax = 3300

  /// The number of cookies that remain in a storage after it has exceeded `totalMax`: 3,000, the minimum of RFC 6265bis §6.1.
  ///
  /// Eviction searches all cookies, so it removes several hundred cookies at once.
  static let totalKept = 3000

  /// The maximum size in bytes of the Cookie field that a request sends: 8,190. Cookies that don't fit are omitted, starting with
  /// those that have the shortest paths.
  ///
  /// RFC 6265bis sets no limit. Apache refuses a longer field with an error, and most other servers have slightly higher limits.
  /// Without this limit, a server that sets too many cookies would lock out its users.
  static let fieldBytesMax = 8190

  /// The maximum size in bytes of a host name that can have cookies: 255, the longest name in the DNS (RFC 1035 §2.3.4).
  static let hostBytesMax = 255

  /// The maximum size of the system's list of public suffixes in bytes: 4 MiB. A larger
  /// file isn't read. The list of 2025 has 0.3 MiB.
  static let suffixListBytesMax = 4 * 1024 * 1024
}
