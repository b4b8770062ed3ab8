// BasicCredentials: user names and passwords as values of Authorization and Proxy-Authorization (RFC 7617).

/// Credentials of the Basic authentication scheme.
package enum BasicCredentials {
  /// Returns the value of an Authorization or Proxy-Authorization field with these credentials. Returns nil if the user name
  /// contains a colon, because the first colon separates the user name from the password (RFC 7617 §2).
  ///
  /// User name and password are encoded as UTF-8, the only charset that a server can request (§2.1).
  package static func fieldValue(user: String, password: String) -> String? {
    guard !user.utf8.contains(Byte.colon) else { return nil }
    return fieldValue(userPass: Array("\(user):\(password)".utf8))
  }

  // credentials = "Basic" 1*SP token68; user-pass = user-id ":" password (§2)
  /// Returns the value of an Authorization or Proxy-Authorization field for `userPass`: a user name and a password, joined by a
  /// colon.
  package static func fieldValue(userPass: [UInt8]) -> String {
    "Basic " + Base64.encode(userPass)
  }
}
