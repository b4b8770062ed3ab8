// Every limit on cookies, with its unit and where the figure comes from.

/// How much of what servers set is kept and sent back.
///
/// A server decides what its cookies hold and how many there are; these bound what that costs in memory and in requests.
enum CookieLimits {
  /// Bytes of one Set-Cookie field's value; a longer one is ignored. 8,190.
  ///
  /// RFC 6265bis sets none. It leaves room for the longest pair and an attribute of each kind; Apache takes 8,190.
  static let lineBytesMax = 8190

  /// Bytes of a cookie's name and value together; a longer one is ignored. 4,096 (RFC 6265bis §5.6).
  static let pairBytesMax = 4096

  /// Bytes of an attribute's value; a longer attribute is ignored, its cookie is not. 1,024 (RFC 6265bis §5.6).
  static let attributeBytesMax = 1024

  /// Seconds that a cookie lives at the most, whatever its server says; 400 days (RFC 6265bis §5.5).
  static let ageSecondsMax: Int64 = 400 * 24 * 60 * 60

  /// Cookies of one domain; 180, as in Chrome. RFC 6265bis §6.1 asks for 50 at least.
  static let perDomainMax = 180

  /// Cookies of a registrable domain, such as example.com or example.co.uk, with all domains below it; 360.
  ///
  /// Own choice: twice a domain's, and a tenth of a storage's, so that whoever has one name with many domains below it can't
  /// push everybody else's cookies out. Chrome counts its 180 in this way.
  static let perRegistrableDomainMax = 360

  /// Cookies of all domains of one storage; 3,300, as in Chrome.
  static let totalMax = 3300

  /// Cookies that are left when there are more than `totalMax`; 3,000, which RFC 6265bis §6.1 asks for at least.
  ///
  /// Those that go are looked for among all, so they go some hundred at a time.
  static let totalKept = 3000

  /// Bytes of the Cookie field that is sent; cookies that don't fit are left out, those of shorter paths first. 8,190.
  ///
  /// RFC 6265bis sets none. Apache refuses a longer field, and most servers a little later, so that a server that sets
  /// too many cookies would lock its users out.
  static let fieldBytesMax = 8190

  /// Bytes of a host's name; a longer one has no cookies. 255, since there is no longer name in the DNS (RFC 1035 §2.3.4).
  static let hostBytesMax = 255

  /// Bytes of the system's list of public suffixes; a larger file is not read. 4 MiB; the list has 0.3 MiB in 2025.
  static let suffixListBytesMax = 4 * 1024 * 1024
}
