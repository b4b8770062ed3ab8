// TLSConfiguration: a client's TLS settings: trust, versions, ciphers, identity and protocols.

/// The TLS settings of a client. A connection is reused, and a TLS session is resumed, only for requests whose TLS settings are
/// equal.
public struct TLSConfiguration: Sendable, Hashable {
  /// A source of trusted certificates. A certificate chain is valid only if it ends in one of these certificates.
  public enum TrustSource: Sendable, Hashable {
    /// The system's certificate store. The environment variables `SSL_CERT_FILE` and `SSL_CERT_DIR`, which OpenSSL reads, change
    /// the store's location.
    case system
    /// The PEM file at this path, with one or more certificates. The file is read once, when the configuration is first used.
    case file(String)
    /// The directory at this path, which `openssl rehash` must have prepared. OpenSSL searches the directory whenever it needs an
    /// issuer's certificate.
    case directory(String)
    /// PEM text in memory with one or more certificates.
    case pem([UInt8])
    /// The DER encoding of a single certificate.
    case der([UInt8])
  }

  /// The checks that a server's certificate must pass.
  public enum Verification: Sendable, Hashable {
    /// The client verifies the certificate chain, the validity period and the host name.
    case full
    /// The client verifies nothing: an attacker on the network can read and change all data. Intended for tests.
    case none
  }

  /// Whether the client requests an OCSP response that the server staples to its handshake, and whether it requires one (RFC 6066
  /// §8, RFC 6960).
  public enum OCSPStapling: Sendable, Hashable {
    /// The client requests no stapled OCSP response, even if the server's certificate has the must-staple extension.
    case ignored
    /// The client requests a stapled OCSP response. If the server staples one, it must show that the certificate isn't revoked. If
    /// the certificate has the must-staple extension (RFC 7633), the server must staple one.
    case checked
    /// The server must staple an OCSP response, and the response must show that the certificate isn't revoked.
    case required
  }

  /// The sources of the trusted certificates. By default, only the system's store.
  ///
  /// A list without `.system` replaces the system's store. An empty list is refused. If the list contains a source other than
  /// `.system`, every certificate in the sources is a trust anchor, even an intermediate certificate or the server's own. With
  /// `Verification.none`, the list isn't used.
  public var trustRoots: [TrustSource]
  /// The checks that the server's certificate must pass. `.full` by default.
  public var verification: Verification
  /// The oldest TLS version that the client accepts. TLS 1.2 by default.
  public var minimumVersion: TLSVersion
  /// The newest TLS version that the client accepts. If nil (the default), the newest version that OpenSSL supports.
  public var maximumVersion: TLSVersion?
  /// The ciphers for TLS 1.2 in OpenSSL's syntax (`man openssl-ciphers`), such as "ECDHE+AESGCM:!aNULL".
  ///
  /// If nil (the default), OpenSSL's list is used, which the system's openssl.cnf may set. On a processor with instructions for
  /// AES, the AES-128-GCM ciphers are moved to the front of this list.
  public var cipherList: String?
  /// The cipher suites for TLS 1.3, most preferred first, such as "TLS_AES_128_GCM_SHA256".
  ///
  /// If nil (the default), OpenSSL's list is used. On a processor with instructions for AES, AES-128-GCM is moved to the front of
  /// this list.
  public var cipherSuites: [String]?
  /// The groups for the key exchange, most preferred first, such as "X25519MLKEM768", "X25519" or "P-256". If nil (the default),
  /// OpenSSL's list is used.
  public var groups: [String]?
  /// The application protocols that the client offers with ALPN (RFC 7301), most preferred first. Only "http/1.1" by default. Each
  /// name has 1 to 255 bytes. If the list is empty, the client doesn't use ALPN.
  public var applicationProtocols: [String]
  /// The host name that the client sends as SNI, and that the server's certificate must match. If nil (the default), the URL's
  /// host is used. An IP address is allowed too, but it is never sent as SNI (RFC 6066 §3).
  public var serverName: String?
  /// The certificate to present to servers that request one, or nil (the default) to present none.
  public var identity: TLSIdentity?
  /// Whether the client requests or requires a stapled OCSP response. `.ignored` by default. Other values require
  /// `Verification.full`.
  public var ocspStapling: OCSPStapling
  /// The verifier that decides whether the server's certificate is accepted, or nil (the default) to use OpenSSL's result. A
  /// verifier requires `Verification.full`.
  public var verifier: CertificateVerifier?
  /// The path of a PEM file with certificate revocation lists (RFC 5280 §5). If nil (the default), no lists are checked.
  ///
  /// The file is read once, when the configuration is first used. For each certificate of a chain, the file must contain a current
  /// list of the certificate's issuer, and the certificate mustn't be on this list. With `Verification.none`, the file has no
  /// effect.
  public var revocationListFile: String?
  /// Whether the client resumes earlier TLS sessions. True by default. In a resumed handshake, the server sends no certificate, so
  /// the client checks only whether the earlier certificate has expired.
  public var resumesSessions: Bool
  /// The path of a file to which the client appends the secrets of every TLS session for debugging, in the format that Wireshark
  /// reads. If nil (the default), no file is written. The library doesn't read SSLKEYLOGFILE.
  ///
  /// Readers of the file can decrypt all traffic. The file is created with mode 0600.
  public var keyLogFile: String?

  /// Whether the client requests a stapled OCSP response for the `verifier` even if `ocspStapling` is `.ignored`. Only the verifier
  /// then evaluates the response. False by default.
  package var requestsStapleForVerifier = false

  /// Creates a TLS configuration. By default, it verifies the server's chain, validity period and host name, and allows TLS 1.2 and
  /// later.
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
    revocationListFile: String? = nil,
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
    self.revocationListFile = revocationListFile
    self.resumesSessions = resumesSessions
    self.keyLogFile = keyLogFile
  }

  /// Hashes only the settings that are quick to hash. Every new connection looks up its configuration in a dictionary, and a trust
  /// source may be a large bundle of certificates. Equality compares all settings.
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

/// A TLS version. Versions before 1.2 aren't supported (RFC 8996).
public enum TLSVersion: UInt16, Sendable, Hashable, Comparable {
  /// TLS 1.2 (RFC 5246).
  case v1_2 = 0x0303
  /// TLS 1.3 (RFC 8446).
  case v1_3 = 0x0304

  /// Returns whether `left` is an older TLS version than `right`.
  public static func < (left: TLSVersion, right: TLSVersion) -> Bool {
    left.rawValue < right.rawValue
  }
}
