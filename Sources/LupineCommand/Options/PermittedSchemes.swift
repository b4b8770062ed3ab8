// PermittedSchemes: the authentication schemes that --basic, --digest, --ntlm, --negotiate and --anyauth permit.

import LupineAuthentication

/// The authentication schemes with which one login may be sent. Each of the options --basic, --digest, --ntlm, --negotiate and
/// --anyauth adds schemes. Without such an option, only Basic is permitted.
struct PermittedSchemes: Equatable {
  private var chosen: Set<AuthenticationOffer.Scheme> = []

  /// Adds authentication schemes to the schemes that earlier options permit.
  mutating func permit(_ schemes: AuthenticationOffer.Scheme...) { chosen.formUnion(schemes) }

  /// The permitted schemes, at least one.
  var all: Set<AuthenticationOffer.Scheme> { chosen.isEmpty ? [.basic] : chosen }

  /// Whether the password is sent preemptively, without waiting for a challenge. True only if Basic is the only permitted scheme.
  var sendsPasswordFirst: Bool { all == [.basic] }

  /// Returns the credential to send for a login. As in curl, if only Negotiate is permitted, the Kerberos ticket is used,
  /// whatever the login's user name is.
  func credential(_ login: PasswordCredential) -> PasswordCredential {
    all == [.negotiate] ? PasswordCredential(user: "", password: "") : login
  }
}
