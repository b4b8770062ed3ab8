// PasswordCredential: a user name and a password, which no description shows.

/// A user name with a password.
package struct PasswordCredential: Sendable, Hashable {
  /// The user name.
  package let user: String
  /// The password.
  package let password: String

  /// Creates a credential. Servers that expect UTF-8 compare normalized text, so the caller passes both in Unicode's
  /// normalization form C (RFC 7616 §4).
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
