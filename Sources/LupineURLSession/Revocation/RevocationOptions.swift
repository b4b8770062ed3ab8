// RevocationOptions: the methods and the strictness of a revocation check, and its limits.

/// The options of a revocation check, with the values of the Security framework's `kSecRevocation` constants.
package struct RevocationOptions: OptionSet, Sendable, Hashable {
  package let rawValue: UInt

  package init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// Checks certificates with stapled OCSP responses, and by querying OCSP responders (RFC 6960).
  package static let ocsp = RevocationOptions(rawValue: 1 << 0)
  /// Fetches certificate revocation lists (RFC 5280 §5), and checks certificates with them.
  package static let lists = RevocationOptions(rawValue: 1 << 1)
  /// Tries revocation lists before OCSP responders. By default, responders are tried first.
  package static let prefersLists = RevocationOptions(rawValue: 1 << 2)
  /// Refuses a certificate whose status can't be verified. By default, such a certificate is accepted.
  package static let requiresAnswer = RevocationOptions(rawValue: 1 << 3)
  /// Fetches nothing: checks certificates only with stapled OCSP responses and cached statuses.
  package static let isOffline = RevocationOptions(rawValue: 1 << 4)
  /// The combination of all options.
  static let all: RevocationOptions = [.ocsp, .lists, .prefersLists, .requiresAnswer, .isOffline]
}

/// The limits of revocation checks.
enum RevocationLimits {
  /// The maximum time of one fetch in seconds: 5. The OCSP responders of public authorities answer within a second.
  static let fetchSecondsMax = 5
  /// The maximum time in seconds that all fetches for one certificate chain may take together: 10. After that time, no further
  /// fetch begins.
  static let checkSecondsMax = 10
  /// The maximum size of an OCSP response in bytes: 64 KiB. Typical responses have 0.5 to 3 KB.
  static let responseBytesMax = 64 * 1024
  /// The maximum size of a revocation list in bytes: 16 MiB. Few lists of public authorities have more than 10 MB.
  static let listBytesMax = 16 * 1024 * 1024
  /// The time in seconds for which the fetcher sends no further request to a server that has failed to respond: 30. Meanwhile,
  /// handshakes don't wait for that server. After the server has recovered, checks that require a verified status may fail for
  /// another 30 s.
  static let silenceSeconds = 30
  /// The maximum number of servers that are remembered because they have failed to respond: 256.
  static let silentServersMax = 256
  /// The maximum number of cached statuses: 1,000, each with about 200 bytes.
  static let rememberedMax = 1_000
}
