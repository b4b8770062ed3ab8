// URLCredential: a user name with a password, a client certificate, or the trust in a server.

public import Foundation
import LupineEngine

// Unchecked because the class is open. All state is constant.
/// A user name with a password, a client certificate, or the trust in a server. Two credentials are equal if all of these and their
/// persistences are equal.
///
/// A credential with a password can be archived. The archive contains the password in the clear, so protect it like the password.
/// Client certificates and the trust in a server can't be archived.
open class URLCredential: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The time for which a ``URLCredentialStorage`` keeps a credential.
  ///
  /// Linux has no keychain and nothing is written to disk, so no credential outlives the process.
  public enum Persistence: UInt, Sendable {
    /// The credential is for one request and isn't stored.
    case none = 0
    /// The credential is stored until the process ends.
    case forSession = 1
    /// The credential is stored until the process ends, like `forSession`.
    case permanent = 2
    /// The credential is stored until the process ends, and isn't shared with other devices.
    @available(*, deprecated, message: "Credentials aren't shared with other devices; use permanent.")
    case synchronizable = 3
  }

  private struct Content {
    var user: String?
    var password: String?
    var identity: SecIdentity?
    var intermediates: [SecCertificate] = []
    var trust: SecTrust?
    var persistence = Persistence.none
  }

  private let content: Content

  /// The credential's user name. Nil if the credential is a client certificate or the trust in a server.
  open var user: String? { content.user }
  /// The credential's password. Nil if the credential is a client certificate or the trust in a server.
  open var password: String? { content.password }
  /// The client certificate with its private key. Nil if the credential isn't a client certificate.
  open var identity: SecIdentity? { content.identity }
  /// The intermediate certificates to send with the client certificate, each a ``SecCertificate``. If the array is empty, the
  /// intermediate certificates in ``identity`` are sent.
  open var certificates: [Any] { content.intermediates }
  /// The server's certificate chain that the delegate trusts. Nil if the credential is a password or a client certificate.
  final var trust: SecTrust? { content.trust }
  /// The time for which a credential storage keeps the credential.
  open var persistence: Persistence { content.persistence }

  /// Creates a credential from a user name and a password. The Basic scheme can't send a user name with a colon (RFC 7617 §2).
  public init(user: String, password: String, persistence: Persistence) {
    content = Content(user: user, password: password, persistence: persistence)
    super.init()
  }

  /// Creates a credential that answers ``NSURLAuthenticationMethodClientCertificate``.
  ///
  /// If the persistence is `none`, only the challenged task presents the certificate. Otherwise, all tasks of the session present
  /// it to the same origin. A ``URLCredentialStorage`` doesn't store this credential.
  ///
  /// - Parameters:
  ///   - identity: The certificate with its private key.
  ///   - certificates: The intermediate certificates to send, each a ``SecCertificate``. Objects of other types are ignored. If nil
  ///     or empty, the intermediate certificates in `identity` are sent.
  ///   - persistence: `none` to use the credential for one task, or another value to use it until the session ends.
  public init(identity: SecIdentity, certificates: [Any]?, persistence: Persistence) {
    let intermediates = (certificates ?? []).compactMap { $0 as? SecCertificate }
    content = Content(identity: identity, intermediates: intermediates, persistence: persistence)
    super.init()
  }

  /// Creates a credential that answers ``NSURLAuthenticationMethodServerTrust``: the server is accepted, even if its
  /// certificate isn't valid.
  ///
  /// The credential applies only to the TLS handshake that waits for the delegate's answer. Its persistence is `none`. An attacker
  /// between client and server can present any certificate, so evaluate `trust` first, or compare its certificates with known ones.
  ///
  /// - Parameter trust: The challenge's ``URLProtectionSpace/serverTrust``.
  public init(trust: SecTrust) {
    content = Content(trust: trust)
    super.init()
  }

  /// Decodes an archived credential. Fails if the archive contains no user name, as for a client certificate or the trust in a
  /// server.
  public required init?(coder: NSCoder) {
    guard let user = coder.decodeObject(of: NSString.self, forKey: Self.userKey),
      let persistence = Persistence(rawValue: UInt(clamping: coder.decodeInteger(forKey: Self.persistenceKey)))
    else { return nil }
    let password = coder.decodeObject(of: NSString.self, forKey: Self.passwordKey)
    content = Content(user: "\(user)", password: password.map { "\($0)" }, persistence: persistence)
    super.init()
  }

  /// Archives the user name, the password and the persistence. A client certificate or the trust in a server isn't archived, and
  /// decoding such an archive returns nil.
  open func encode(with coder: NSCoder) {
    coder.encode(user.map { NSString(string: $0) }, forKey: Self.userKey)
    coder.encode(password.map { NSString(string: $0) }, forKey: Self.passwordKey)
    coder.encode(Int(persistence.rawValue), forKey: Self.persistenceKey)
  }

  /// Always true, because `URLCredential` supports secure coding.
  open class var supportsSecureCoding: Bool { true }

  private static let userKey = "user"
  private static let passwordKey = "password"
  private static let persistenceKey = "persistence"

  /// Returns this credential itself, because credentials are immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The client certificate, its private key and the intermediate certificates to send. Nil if the credential isn't a client
  /// certificate.
  final var tlsIdentity: TLSIdentity? {
    guard let identity else { return nil }
    let issuers = certificates.compactMap { ($0 as? SecCertificate).map { Array($0.data) } }
    // Can't fail: the certificate was already parsed successfully once.
    return issuers.isEmpty ? identity.tls : try? identity.tls.sending(issuers: issuers)
  }

  /// Whether the credential has a password, which may be empty.
  open var hasPassword: Bool { password != nil }

  /// A textual description of the credential. It contains the user name but not the password, because descriptions appear in logs.
  open override var description: String {
    if let trust { return "URLCredential(trust in \(trust.host))" }
    return identity.map { "URLCredential(\($0))" } ?? "URLCredential(user: \(user ?? ""))"
  }

  /// Returns whether the object is a credential with the same user name, password, client certificate, server trust and
  /// persistence.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? URLCredential else { return false }
    return user == other.user && password == other.password && persistence == other.persistence
      && identity == other.identity && content.intermediates == other.content.intermediates && trust === other.trust
  }

  /// A hash of the user name, the persistence and the client certificate. The password isn't hashed.
  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(user)
    hasher.combine(persistence)
    hasher.combine(identity)
    return hasher.finalize()
  }
}

extension URLCredential: CustomReflectable {
  /// A mirror without children. With children, `dump` would print the password.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
