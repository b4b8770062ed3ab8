// DigestChallenge: a WWW-Authenticate or Proxy-Authenticate challenge of the Digest scheme (RFC 7616 §3.3).

package import LupineWire

/// The parameters of a Digest challenge that the client can answer.
package struct DigestChallenge: Sendable, Hashable {
  /// The quality of protection (`qop`) of Digest authentication, which determines the parts of a request that the Digest response
  /// hashes.
  package enum Protection: Sendable, Hashable {
    /// The challenge has no `qop` or an empty one, as in RFC 2069: the Digest response hashes the request method and target, and
    /// contains no nonce count.
    case legacy
    /// `qop=auth`: the Digest response hashes the request method and target, but not the content.
    case method
    /// `qop=auth-int`: the Digest response hashes the request method, target and content. Used only if the server doesn't offer
    /// `auth`.
    case content
  }

  /// The maximum length in bytes of a challenge's realm, nonce and `opaque` value: 4 KiB each. Requests repeat these values, and
  /// servers limit request heads to 8 KiB (nginx, Apache) or more. Nonces of known servers have fewer than 200 bytes.
  static let valueBytesMax = 4_096
  /// The maximum number of URIs in a challenge's `domain`: 64. Further URIs are dropped. No server is known to send more than a
  /// few.
  static let domainCountMax = 64

  /// The challenge's realm, which may be empty.
  package let realm: String
  /// The nonce that the server chose for this challenge.
  package let nonce: String
  /// The challenge's `opaque` value, which requests must repeat unchanged, or nil if there is none.
  package let opaque: String?
  /// The challenge's algorithm, which is MD5 if the challenge names none.
  package let algorithm: DigestAlgorithm
  /// Whether the challenge has an `algorithm` parameter. If it doesn't, the client's credentials omit the parameter too.
  let namesAlgorithm: Bool
  /// The quality of protection (`qop`) that the client chose. If the server offers both `auth` and `auth-int`, the client uses
  /// `auth`, because `auth-int` requires reading the content an extra time.
  package let protection: Protection
  /// The URI references in the challenge's `domain`, as received, which define the protection space. If the array is empty, the
  /// protection space is the whole server.
  package let domain: [String]
  /// Whether the server refused a request only because its nonce had expired (`stale=true`). The client can then use the same
  /// credential with the new nonce.
  package let isStale: Bool
  /// Whether requests must contain a hash of the user name in place of the name itself, because the challenge has `userhash=true`
  /// (RFC 7616 §3.4.4).
  package let hashesUser: Bool
  /// Whether the challenge has `charset=UTF-8`: the server expects the user name and password in UTF-8, and therefore supports
  /// `username*` (RFC 7616 §4).
  let expectsUTF8: Bool

  /// The reason why the client can't answer a Digest challenge.
  package enum Defect: Error, Sendable, Hashable {
    /// The Digest challenge lacks the required parameter with this name.
    case missing(String)
    /// The Digest challenge's parameter with this name is longer than `valueBytesMax`.
    case tooLong(String)
    /// The challenge's Digest algorithm is unknown, or OpenSSL's configuration forbids its hash function.
    case unknownAlgorithm
    /// The Digest challenge has a `qop` parameter without a known value, or lacks a `qop` that its algorithm requires.
    case unknownProtection
  }

  /// Reads the parameters of a challenge whose scheme is Digest. Throws the reason if the client can't answer the challenge.
  package init(_ challenge: Challenge) throws(Defect) {
    realm = try Self.value("realm", of: challenge)
    nonce = try Self.value("nonce", of: challenge)
    opaque = challenge.parameter("opaque") == nil ? nil : try Self.value("opaque", of: challenge)
    let token = challenge.parameter("algorithm")
    guard let algorithm = DigestAlgorithm(token: token ?? "MD5"), algorithm.function.isAvailable else {
      throw .unknownAlgorithm
    }
    self.algorithm = algorithm
    namesAlgorithm = token != nil
    protection = try Self.protection(offeredBy: challenge.parameter("qop"), with: algorithm)
    // domain = "domain" "=" <"> URI ( 1*SP URI ) <">
    let references = challenge.parameter("domain")?.utf8.split(separator: UInt8(ascii: " ")) ?? []
    domain = references.prefix(Self.domainCountMax).map { String(decoding: $0, as: UTF8.self) }
    isStale = challenge.isTrue("stale")
    hashesUser = challenge.isTrue("userhash")
    expectsUTF8 = challenge.parameter("charset")?.lowercased() == "utf-8"
  }

  private static func value(_ name: String, of challenge: Challenge) throws(Defect) -> String {
    guard let value = challenge.parameter(name) else { throw .missing(name) }
    guard value.utf8.count <= valueBytesMax else { throw .tooLong(name) }
    return value
  }

  // qop-options = "qop" "=" <"> 1#( "auth" / "auth-int" / token ) <">
  private static func protection(
    offeredBy list: String?, with algorithm: DigestAlgorithm
  ) throws(Defect) -> Protection {
    let offered = list?.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" } ?? []
    // Some devices send qop="" instead of no qop, as in RFC 2069. curl and Python's requests accept it too.
    if offered.isEmpty {
      // RFC 2069 defines neither another hash function nor the client's nonce, from which -sess derives its key.
      guard algorithm == DigestAlgorithm(.md5) else { throw .unknownProtection }
      return .legacy
    }
    if offered.contains("auth") { return .method }
    if offered.contains("auth-int") { return .content }
    throw .unknownProtection
  }
}

extension Challenge {
  fileprivate func isTrue(_ name: String) -> Bool { parameter(name)?.lowercased() == "true" }
}
