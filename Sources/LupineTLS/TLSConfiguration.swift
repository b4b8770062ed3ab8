// What a client asks of TLS: whom it trusts, which versions it speaks, which protocols it offers.

/// A client's TLS settings; connections with different settings never share a pool entry.
public struct TLSConfiguration: Sendable, Hashable {
  /// The certificates that a chain may end in.
  public enum TrustRoots: Sendable, Hashable {
    /// The system's store; OpenSSL's `SSL_CERT_FILE` and `SSL_CERT_DIR` variables move it.
    case system
    /// A PEM file of certificates, in place of the system's store.
    case file(String)
    /// A directory that `openssl rehash` prepared, in place of the system's store.
    case directory(String)
    /// PEM text in memory, one certificate or more, in place of the system's store.
    case pem([UInt8])
  }

  /// How much of the server's certificate is checked.
  public enum Verification: Sendable, Hashable {
    /// The chain, the dates and the host name.
    case full
    /// Nothing: anybody on the path can read and change what is sent. Meant for tests.
    case none
  }

  /// Whom to trust; not read with `Verification.none`.
  public var trustRoots: TrustRoots
  /// What is checked.
  public var verification: Verification
  /// The oldest version that is spoken.
  public var minimumVersion: TLSVersion
  /// The newest version that is spoken; nil for the newest that OpenSSL has.
  public var maximumVersion: TLSVersion?
  /// What ALPN offers, best first (RFC 7301): each of 1 to 255 bytes; none offers no ALPN.
  public var applicationProtocols: [String]

  /// Makes a configuration; the defaults check everything and speak TLS 1.2 and later.
  public init(
    trustRoots: TrustRoots = .system,
    verification: Verification = .full,
    minimumVersion: TLSVersion = .v1_2,
    maximumVersion: TLSVersion? = nil,
    applicationProtocols: [String] = ["http/1.1"]
  ) {
    self.trustRoots = trustRoots
    self.verification = verification
    self.minimumVersion = minimumVersion
    self.maximumVersion = maximumVersion
    self.applicationProtocols = applicationProtocols
  }
}

/// A version of TLS; the ones before 1.2 are not spoken (RFC 8996).
public enum TLSVersion: UInt16, Sendable, Hashable, Comparable {
  /// TLS 1.2 (RFC 5246).
  case v1_2 = 0x0303
  /// TLS 1.3 (RFC 8446).
  case v1_3 = 0x0304

  /// Older versions come first.
  public static func < (left: TLSVersion, right: TLSVersion) -> Bool {
    left.rawValue < right.rawValue
  }
}
