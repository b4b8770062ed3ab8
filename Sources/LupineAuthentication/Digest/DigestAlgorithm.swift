// DigestAlgorithm: the algorithm parameter of Digest challenges (RFC 7616 §6.1).

package import LupineTLS

/// The `algorithm` of a Digest challenge: a hash function, with or without `-sess`.
package struct DigestAlgorithm: Sendable, Hashable {
  /// The hash functions that Digest authentication can use (RFC 7616), weakest first.
  package enum Function: Int, Sendable, Hashable, CaseIterable, Comparable {
    case md5, sha256, sha512_256

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The hash function's name in the `algorithm` parameter, without `-sess`, such as `SHA-256`.
    var token: String {
      switch self {
      case .md5: "MD5"
      case .sha256: "SHA-256"
      case .sha512_256: "SHA-512-256"
      }
    }

    private static let available = Set(allCases.filter { $0.digest.hash([]) != nil })

    /// Whether OpenSSL's configuration allows this hash function.
    var isAvailable: Bool { Self.available.contains(self) }

    /// The OpenSSL implementation of this hash function.
    package var digest: MessageDigest {
      switch self {
      case .md5: .md5
      case .sha256: .sha256
      case .sha512_256: .sha512_256
      }
    }
  }

  /// The hash function of the Digest algorithm.
  package let function: Function
  /// Whether this is a `-sess` algorithm, which derives its key only once, from the first nonce and client nonce (RFC 7616 §3.4.2).
  package let isSession: Bool

  /// Creates a Digest algorithm from a hash function. `isSession` is true for a `-sess` algorithm.
  package init(_ function: Function, isSession: Bool = false) {
    self.function = function
    self.isSession = isSession
  }

  // algorithm = "algorithm" "=" ( "MD5" / "MD5-sess" / "SHA-256" / "SHA-256-sess" / "SHA-512-256" / "SHA-512-256-sess"
  // / token ) (§3.3)
  /// Creates the algorithm that a challenge names `token`, such as `SHA-256-sess`. Ignores case. Returns nil if the name is
  /// unknown.
  package init?(token: String) {
    let name = token.lowercased()
    let found = Function.allCases.lazy.flatMap { [Self($0), Self($0, isSession: true)] }
      .first { $0.token.lowercased() == name }
    guard let found else { return nil }
    self = found
  }

  /// The value of the `algorithm` parameter, such as `SHA-256-sess`.
  package var token: String { isSession ? function.token + "-sess" : function.token }
}
