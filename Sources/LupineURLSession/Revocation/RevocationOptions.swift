// RevocationOptions: the methods and the strictness of a revocation check, and its limits.

/// The options for checking certificates for revocation, with the values of the Security framework's `kSecRevocation` constants.
package struct RevocationOptions: OptionSet, Sendable, Hashable {
  package let rawValue: UInt

  package init(rawValue: UInt) {
    self.rawValue = rawValue
  }

  /// Checks certificates with stapled OCSP responses, and by querying OCSP responders (RFC 6960).
  package static let ocsp = RevocationOptions(rawValue: 1 << 0)
  /// Checks certificates with certificate revocation lists (RFC 5280 §5), which are fetched if necessary.
  package static let lists = RevocationOptions(rawValue: 1 << 1)
  /// Tries revocation lists before OCSP responders. By default, responders are tried first.
  package static let prefersLists = RevocationOptions(rawValue: 1 << 2)
  /// Refuses a certificate whose status can't be verified. By default, such a certificate is accepted.
  package static let requiresAnswer = RevocationOptions(rawValue: 1 << 3)
  /// Fetches nothing over the network, and checks certificates only with stapled OCSP responses and cached statuses.
  package static let isOffline = RevocationOptions(rawValue: 1 << 4)
  /// The combination of all options.
  static let all: RevocationOptions = [.ocsp, .lists, .prefersLists, .requiresAnswer, .isOffline]
}

/// The limits for checking certificates for revocation.
enum RevocationLimits {
  /// The maximum time, in seconds, for fetching one OCSP response or revocation list: 5. The OCSP responders of public authorities
  /// answer within a second.
  static let fetchSecondsMax = 5
  /// The maximum total time, in seconds, of all fetches for one certificate chain: 10. After that time, no further fetch begins.
  static let checkSecondsMax = 10
  /// The maximum size of an OCSP response in bytes: 64 KiB. Typical responses have 0.5 to 3 KB.
  static let responseBytesMax = 64 * 1024
  /// The maximum size of a revocation list in bytes: 16 MiB. Few lists of public authorities have more than 10 MB.
  static let listBytesMax = 16 * 1024 * 1024
  /// The time, in seconds, for which no request is sent to a server that has failed to respond: 30. Meanwhile, TLS handshakes don't
  /// wait for that server. After the server has recovered, checks that require a verified status may still fail for up to 30 s.
  static let silenceSeconds = 30
  /// The maximum number of servers that the fetcher remembers because they failed to respond: 256.
  static let silentServersMax = 256
  /// The maximum number of revocation statuses in the cache: 1,000, of about 200 bytes each.
  static let rememberedMax = 1_000
}
