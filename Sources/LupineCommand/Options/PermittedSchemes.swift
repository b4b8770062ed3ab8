// PermittedSchemes: the authentication schemes that --basic, --digest, --ntlm, --negotiate and --anyauth permit.

import LupineAuthentication

/// The authentication schemes with which the command may send a login. Each of the options --basic, --digest, --ntlm, --negotiate
/// and --anyauth adds schemes. Without such an option, only Basic is permitted.
struct PermittedSchemes: Equatable {
  private var chosen: Set<AuthenticationOffer.Scheme> = []

  /// Permits authentication schemes in addition to those that earlier options permit.
  mutating func permit(_ schemes: AuthenticationOffer.Scheme...) { chosen.formUnion(schemes) }

  /// The permitted authentication schemes, at least one.
  var all: Set<AuthenticationOffer.Scheme> { chosen.isEmpty ? [.basic] : chosen }

  /// Whether the command sends the password without waiting for a challenge. True only if Basic is the only permitted scheme.
  var sendsPasswordFirst: Bool { all == [.basic] }

  /// Returns the credential with which the command authenticates for a login. As in curl, if only Negotiate is permitted, this is
  /// the Kerberos ticket, whatever the login's user name is.
  func credential(_ login: PasswordCredential) -> PasswordCredential {
    all == [.negotiate] ? PasswordCredential(user: "", password: "") : login
  }
}
