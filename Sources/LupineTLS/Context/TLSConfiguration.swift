// TLSConfiguration: a client's TLS settings: trust, versions, ciphers, identity and protocols.

/// The TLS settings of a client. Connections with different settings aren't shared, and don't resume each other's sessions.
public struct TLSConfiguration: Sendable, Hashable {
  /// A source of trusted certificates. A certificate chain is valid only if it ends in one of these certificates.
  public enum TrustSource: Sendable, Hashable {
    /// The system's certificate store. OpenSSL's environment variables `SSL_CERT_FILE` and `SSL_CERT_DIR` override its location.
    case system
    /// A PEM file of certificates. It is read once, when the configuration is first used.
    case file(String)
    /// A directory prepared by `openssl rehash`. OpenSSL searches the directory whenever it needs an issuer's certificate.
    case directory(String)
    /// PEM text in memory with one or more certificates.
    case pem([UInt8])
    /// A single certificate in DER.
    case der([UInt8])
  }

  /// The checks that a server's certificate must pass.
  public enum Verification: Sendable, Hashable {
    /// Verifies the chain, the validity period and the host name.
    case full
    /// Verifies nothing: an attacker on the network can read and change all data. Intended for tests.
    case none
  }

  /// The requirements for an OCSP response that a server staples to its handshake (RFC 6066 §8, RFC 6960).
  public enum OCSPStapling: Sendable, Hashable {
    /// The client requests no response, even if the certificate has the must-staple extension.
    case ignored
    /// The client requests a response. If the server staples a response, it must be good. If the certificate has the
    /// must-staple extension (RFC 7633), the server must staple one.
    case checked
    /// The server must staple a response, and it must be good.
    case required
  }

  /// The sources of the trusted certificates. By default, only the system's store.
  ///
  /// A list without `.system` replaces the system's store. An empty list is refused. If the list contains a source other than
  /// `.system`, every certificate in the sources is a trust anchor, even an intermediate certificate or the server's own. With
  /// `Verification.none`, the list isn't used.
  public var trustRoots: [TrustSource]
  /// The checks that the server's certificate must pass.
  public var verification: Verification
  /// The oldest TLS version allowed.
  public var minimumVersion: TLSVersion
  /// The newest TLS version allowed. If nil, the newest version that OpenSSL supports.
  public var maximumVersion: TLSVersion?
  /// The ciphers of TLS 1.2 in OpenSSL's syntax (`man openssl-ciphers`), such as "ECDHE+AESGCM:!aNULL". If nil, OpenSSL's default
  /// is used, which the system's openssl.cnf may set. If the processor has instructions for AES, AES-128-GCM is then moved to the
  /// front.
  public var cipherList: String?
  /// The cipher suites of TLS 1.3, most preferred first, such as "TLS_AES_128_GCM_SHA256". If nil, OpenSSL's default is used. If
  /// the processor has instructions for AES, AES-128-GCM is then moved to the front.
  public var cipherSuites: [String]?
  /// The groups of the key exchange, most preferred first, such as "X25519" or "P-256", or nil for OpenSSL's default.
  public var groups: [String]?
  /// The protocols that the client offers with ALPN, most preferred first (RFC 7301). Each name has 1 to 255 bytes. If
  /// empty, the client doesn't use ALPN.
  public var applicationProtocols: [String]
  /// The host name that is sent as SNI and that the certificate must match. If nil, the URL's host is used. An IP address is
  /// allowed too, but it is never sent as SNI (RFC 6066 §3).
  public var serverName: String?
  /// The certificate to present to servers that request one, or nil to present none.
  public var identity: TLSIdentity?
  /// The requirements for a stapled OCSP response. Values other than `.ignored` require `Verification.full`.
  public var ocspStapling: OCSPStapling
  /// The verifier that decides whether the server's certificate is accepted, or nil to use OpenSSL's result. A verifier requires
  /// `Verification.full`.
  public var verifier: CertificateVerifier?
  /// The path of a PEM file with revocation lists (RFC 5280 §5), or nil to check none. The file is read once, when the
  /// configuration is first used. For each certificate of a chain, the file must contain a current list of the certificate's
  /// issuer, and the certificate mustn't be on this list. With `Verification.none`, the file has no effect.
  public var revocationListFile: String?
  /// Whether the client resumes earlier sessions. True by default. A resumed handshake sends no certificate, so only
  /// the certificate's expiry is checked again.
  public var resumesSessions: Bool
  /// The path of a file to which the secrets of every session are appended for debugging, in the format that Wireshark reads. If
  /// nil, no file is written. Readers of the file can decrypt all traffic. The file is created with mode 0600. No environment
  /// variable sets this property.
  public var keyLogFile: String?

  /// Whether the client requests a stapled OCSP response that only the verifier evaluates. False by default.
  package var requestsStapleForVerifier = false

  /// Creates a configuration. The defaults verify everything and allow TLS 1.2 and later.
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

  /// Hashes only the settings that are quick to hash, because each connection looks up its configuration, and a trust source
  /// may be a large bundle of certificates. Equality compares all settings.
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

  /// Orders versions from older to newer.
  public static func < (left: TLSVersion, right: TLSVersion) -> Bool {
    left.rawValue < right.rawValue
  }
}
