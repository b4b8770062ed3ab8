// What a client asks of TLS: whom it trusts, which versions and ciphers it speaks, who it is, what it offers.

/// A client's TLS settings; connections with different settings never share a pool entry, nor a session to resume.
public struct TLSConfiguration: Sendable, Hashable {
  /// Where certificates that a chain may end in come from.
  public enum TrustSource: Sendable, Hashable {
    /// The system's store; OpenSSL's `SSL_CERT_FILE` and `SSL_CERT_DIR` variables move it.
    case system
    /// A PEM file of certificates, read once, when the configuration is used first.
    case file(String)
    /// A directory that `openssl rehash` prepared; OpenSSL looks into it whenever it needs an issuer.
    case directory(String)
    /// PEM text in memory, one certificate or more.
    case pem([UInt8])
    /// One certificate in DER.
    case der([UInt8])
  }

  /// How much of the server's certificate is checked.
  public enum Verification: Sendable, Hashable {
    /// The chain, the dates and the host name.
    case full
    /// Nothing: anybody on the path can read and change what is sent. Meant for tests.
    case none
  }

  /// What is asked of an OCSP response that the server staples to its handshake (RFC 6066 §8, RFC 6960).
  public enum OCSPStapling: Sendable, Hashable {
    /// None is asked for, not even if the certificate says that one must come.
    case ignored
    /// One is asked for, and if it comes it must be good. If the certificate has the must-staple extension (RFC 7633),
    /// it must come.
    case checked
    /// One must come and be good.
    case required
  }

  /// Whom to trust: all of these together, by default the system's store alone. A list without `.system` is used in its
  /// place, one with it besides it; an empty list is refused. Not read with `Verification.none`.
  ///
  /// With any other source than `.system`, an intermediate certificate or a server's own is trusted as it is if one of
  /// the sources holds it.
  public var trustRoots: [TrustSource]
  /// What is checked.
  public var verification: Verification
  /// The oldest version that is spoken.
  public var minimumVersion: TLSVersion
  /// The newest version that is spoken; nil for the newest that OpenSSL has.
  public var maximumVersion: TLSVersion?
  /// TLS 1.2's ciphers in OpenSSL's syntax (`man openssl-ciphers`), such as "ECDHE+AESGCM:!aNULL"; nil for OpenSSL's
  /// default, which the system's openssl.cnf sets.
  public var cipherList: String?
  /// TLS 1.3's cipher suites, best first, such as "TLS_AES_128_GCM_SHA256"; nil for OpenSSL's default.
  public var cipherSuites: [String]?
  /// The key exchange's groups, best first, such as "X25519" or "P-256"; nil for OpenSSL's default.
  public var groups: [String]?
  /// What ALPN offers, best first (RFC 7301): each of 1 to 255 bytes; none offers no ALPN.
  public var applicationProtocols: [String]
  /// The name or address that is asked for by SNI and that the certificate must have, in place of the URL's host; nil
  /// for the URL's host. An address is never sent as SNI (RFC 6066 §3).
  public var serverName: String?
  /// The certificate that is shown to servers that ask for one; nil for none.
  public var identity: TLSIdentity?
  /// What is asked of a stapled OCSP response; anything but `.ignored` needs `Verification.full`.
  public var ocspStapling: OCSPStapling
  /// Has the last word on the server's certificate; needs `Verification.full`. Nil leaves it to OpenSSL.
  public var verifier: CertificateVerifier?
  /// Whether earlier sessions are resumed: on by default. A resumed handshake sends no certificate, so that nothing is
  /// verified anew but the certificate's last day.
  public var resumesSessions: Bool
  /// A file to which every session's secrets are appended in the format that Wireshark reads, for debugging; nil for none.
  /// Who reads it can decrypt all that was sent. It is made with mode 0600; no environment variable sets it.
  public var keyLogFile: String?

  /// Makes a configuration; the defaults check everything and speak TLS 1.2 and later.
  public init(
    trustRoots: [TrustSource] = [.system],
    verification: Verification = .full,
    minimumVersion: TLSVersion = .v1_2,
    maximumVersion: TLSVersion? = nil,
    cipherList: String? = nil,
    cipherSuites: [String]? = nil,
    groups: [String]? = nil,
    applicationProtocols: [String] = ["http/1.1"],
    serverName: String? = nil,
    identity: TLSIdentity? = nil,
    ocspStapling: OCSPStapling = .ignored,
    verifier: CertificateVerifier? = nil,
    resumesSessions: Bool = true,
    keyLogFile: String? = nil
  ) {
    self.trustRoots = trustRoots
    self.verification = verification
    self.minimumVersion = minimumVersion
    self.maximumVersion = maximumVersion
    self.cipherList = cipherList
    self.cipherSuites = cipherSuites
    self.groups = groups
    self.applicationProtocols = applicationProtocols
    self.serverName = serverName
    self.identity = identity
    self.ocspStapling = ocspStapling
    self.verifier = verifier
    self.resumesSessions = resumesSessions
    self.keyLogFile = keyLogFile
  }

  /// Takes what is quick to hash: a trust source may be a whole bundle of certificates, and a configuration is looked up
  /// for each connection. Equality compares everything.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(trustRoots.count)
    hasher.combine(verification)
    hasher.combine(minimumVersion)
    hasher.combine(maximumVersion)
    hasher.combine(applicationProtocols)
    hasher.combine(serverName)
    hasher.combine(ocspStapling)
    hasher.combine(verifier)
    hasher.combine(resumesSessions)
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
