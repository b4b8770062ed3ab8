// KnownCredentials+Storage: connects LupineLogin with Foundation's credentials and their storages, and with URLError.

import Foundation
import LupineAuthentication
import LupineEngine
import LupineLogin

extension KnownCredentials {
  /// Creates a source of credentials: the default credentials in `storage`, and the user names and passwords in the URLs of
  /// proxies.
  init(_ storage: URLCredentialStorage?) {
    self.init { proxy in
      guard let user = proxy.user, let password = proxy.password else { return nil }
      return PasswordCredential(URLCredential(user: user, password: password, persistence: .none))
    }
    guard let storage else { return }
    credential = { party, realm, scheme in
      let space = party.space(realm: realm, method: scheme.authenticationMethod)
      return storage.defaultCredential(for: space).flatMap { PasswordCredential($0) }
    }
  }
}

extension PasswordCredential {
  /// Creates a credential whose user name and password are in Unicode's normalization form C, which servers expect (RFC 7616 §4).
  /// Returns nil if `credential` has no password.
  init?(_ credential: URLCredential) {
    guard let user = credential.user, let password = credential.password else { return nil }
    self.init(
      user: user.precomposedStringWithCanonicalMapping, password: password.precomposedStringWithCanonicalMapping)
  }
}

extension URLError {
  /// Creates the error for an NTLM or Negotiate handshake that has failed.
  init(_ failure: ConnectionHandshake.Failure, at url: URL?) {
    switch failure {
    case .serverIsUnproven: self.init(untrustedResponseFrom: url)
    case .refused: self.init(.userAuthenticationRequired)
    case .unable(let text): self.init(.userAuthenticationRequired, "\(ReadableText.url(url)): \(text)")
    }
  }

  /// Creates the error for a server or proxy that accepts a credential, but fails to prove that it knows the password (Digest) or
  /// to prove its identity (Negotiate).
  init(untrustedResponseFrom url: URL?) {
    self.init(
      .badServerResponse,
      "\(ReadableText.url(url)) accepted the credential, but didn't prove that it knows the password (Digest, RFC 7616 §3.5) "
        + "or its identity (Negotiate, RFC 4559 §5). Check the configuration of the server or the proxy, and use https, so that no "
        + "other host can answer in the server's place.")
  }
}
