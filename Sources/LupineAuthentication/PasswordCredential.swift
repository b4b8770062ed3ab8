// PasswordCredential: a user name and a password. No description contains the password.

/// A user name with a password.
package struct PasswordCredential: Sendable, Hashable {
  /// The user name.
  package let user: String
  /// The password.
  package let password: String

  /// Creates a credential. The caller must pass both texts in Unicode's normalization form C, because servers that expect UTF-8
  /// compare normalized text (RFC 7616 §4).
  package init(user: String, password: String) {
    self.user = user
    self.password = password
  }
}

extension PasswordCredential: CustomStringConvertible, CustomReflectable {
  /// The user name without the password.
  package var description: String { "PasswordCredential(user: \(user))" }
  /// A mirror without children, because `dump` would print the password.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
