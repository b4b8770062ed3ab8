// URLCredential: a user name with a password, a client certificate, or the trust in a server.

public import Foundation
import LupineEngine

/// A user name with a password, a client certificate, or the trust in a server. Two credentials are equal if these and their
/// persistences are equal.
public final class URLCredential: NSObject, Sendable {
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

  /// The user name, or nil for a client certificate or the trust in a server.
  public let user: String?
  /// The password, or nil if the credential has none.
  public let password: String?
  /// The client certificate with its private key, or nil if the credential isn't a client certificate.
  public let identity: SecIdentity?
  /// The intermediate certificates to send with the client certificate, each a ``SecCertificate``. If empty, those in
  /// ``identity`` are sent.
  public var certificates: [Any] { intermediates }
  private let intermediates: [SecCertificate]
  /// The trust in a server's certificate chain, or nil if the credential is a password or a client certificate.
  let trust: SecTrust?
  /// The time for which a storage keeps the credential.
  public let persistence: Persistence

  /// Creates a credential from a user name and a password. The Basic scheme can't send a user name with a colon (RFC 7617 §2).
  public init(user: String, password: String, persistence: Persistence) {
    self.user = user
    self.password = password
    self.persistence = persistence
    identity = nil
    intermediates = []
    trust = nil
  }

  /// Creates a credential that answers ``NSURLAuthenticationMethodClientCertificate``.
  ///
  /// If the persistence is `none`, only the challenged task presents the certificate. Otherwise, all tasks of the session present
  /// it to the same origin. A ``URLCredentialStorage`` doesn't store this credential.
  ///
  /// - Parameters:
  ///   - identity: The certificate with its private key.
  ///   - certificates: The intermediate certificates to send, each a ``SecCertificate``. Objects of other types are ignored. If
  ///     nil or empty, those in `identity` are sent.
  ///   - persistence: `none` to use the credential for one task, or another value to use it until the session ends.
  public init(identity: SecIdentity, certificates: [Any]?, persistence: Persistence) {
    user = nil
    password = nil
    self.persistence = persistence
    self.identity = identity
    intermediates = (certificates ?? []).compactMap { $0 as? SecCertificate }
    trust = nil
  }

  /// Creates a credential that answers ``NSURLAuthenticationMethodServerTrust``: the server is accepted, even if its
  /// certificate isn't valid.
  ///
  /// The credential applies only to the handshake that waits for the answer. Its persistence is `none`. An attacker on the path
  /// can present any certificate, so evaluate `trust` first, or compare its certificates with known ones.
  ///
  /// - Parameter trust: The challenge's ``URLProtectionSpace/serverTrust``.
  public init(trust: SecTrust) {
    user = nil
    password = nil
    persistence = .none
    identity = nil
    intermediates = []
    self.trust = trust
  }

  /// The client certificate, its private key and the intermediate certificates to send. Nil if the credential isn't a client
  /// certificate.
  var tlsIdentity: TLSIdentity? {
    guard let identity else { return nil }
    // A certificate that was parsed before can be parsed again.
    return intermediates.isEmpty
      ? identity.tls : try? identity.tls.sending(issuers: intermediates.map { Array($0.data) })
  }

  /// Whether the credential has a password, which may be empty.
  public var hasPassword: Bool { password != nil }

  /// A textual description. It contains the user name but not the password, because descriptions appear in logs.
  public override var description: String {
    if let trust { return "URLCredential(trust in \(trust.host))" }
    return identity.map { "URLCredential(\($0))" } ?? "URLCredential(user: \(user ?? ""))"
  }

  /// Returns whether the object is a credential with the same user name, password, client certificate, server trust and
  /// persistence.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? URLCredential else { return false }
    return user == other.user && password == other.password && persistence == other.persistence
      && identity == other.identity && intermediates == other.intermediates && trust === other.trust
  }

  /// A hash of the user name, the persistence and the client certificate, without the password.
  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(user)
    hasher.combine(persistence)
    hasher.combine(identity)
    return hasher.finalize()
  }
}

extension URLCredential: CustomReflectable {
  /// A mirror without children, because `dump` would print the password.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
