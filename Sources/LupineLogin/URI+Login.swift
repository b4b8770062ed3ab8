// URI+Login: the user name and password in a URL.

package import LupineAuthentication
package import LupineEngine

extension URI {
  /// The user name and password in the URI's user information, percent-decoded, and whether the URI contains a password. Nil if the
  /// user information is missing or empty.
  package var login: (credential: PasswordCredential, hasPassword: Bool)? {
    guard let userInfo, !userInfo.isEmpty else { return nil }
    let parts = userInfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map {
      String(decoding: PercentEncoding.decodeLeniently($0.utf8), as: UTF8.self)
    }
    return (PasswordCredential(user: parts[0], password: parts.count > 1 ? parts[1] : ""), parts.count > 1)
  }
}
