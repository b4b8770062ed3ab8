// PasswordCredential: a user name and a password. No description contains the password.

/// A user name with a password.
package struct PasswordCredential: Sendable, Hashable {
  /// The user name of the credential.
  package let user: String
  /// The password of the credential.
  package let password: String

  /// Creates a credential. The caller must pass the user name and the password in Unicode's normalization form C, because servers
  /// that expect UTF-8 compare normalized text (RFC 7616 §4).
  package init(user: String, password: String) {
    self.user = user
    self.password = password
  }
}

extension PasswordCredential: CustomStringConvertible, CustomReflectable {
  /// A text for logs that contains the user name, but not the password.
  package var description: String { "PasswordCredential(user: \(user))" }
  /// A mirror without children, so that `dump` doesn't print the password.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
