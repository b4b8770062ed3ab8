// DigestProof: the Digest credentials of one request, and the verification of the
// server's Authentication-Info (RFC 7616 §3.4, §3.5).

import LupineTLS
import LupineWire

/// The Digest credentials of one request.
package struct DigestProof: Sendable {
  /// The value of the Authorization or Proxy-Authorization field that sends these credentials.
  package internal(set) var fieldValue = ""
  let digest: MessageDigest
  /// H(A1) in hexadecimal digits: the hash that takes the place of the password when the Digest response is computed (RFC 7616
  /// §3.4.2).
  let key: String
  let nonce: String
  let count: String
  let clientNonce: String
  fileprivate(set) var protection: DigestChallenge.Protection
  let target: String

  // response = KD( H(A1), unq(nonce) ":" nc ":" unq(cnonce) ":" unq(qop) ":" H(A2) ); KD(secret, data) = H(secret ":" data)
  func response(to requestText: String) throws(DigestSession.Failure) -> String {
    let hashed = try digest.hex(requestText)
    guard let qop = protection.token else { return try digest.hex("\(key):\(nonce):\(hashed)") }
    return try digest.hex("\(key):\(nonce):\(count):\(clientNonce):\(qop):\(hashed)")
  }

  /// The result of verifying a server's Authentication-Info.
  package enum Verdict: Sendable, Hashable {
    /// The response has no `rspauth`, which is optional.
    case unproven
    /// The server has proven that it knows the password.
    case proven
    /// The `rspauth` is wrong: either its sender (the server or an attacker on the path) doesn't know the password, or it was
    /// computed for another request.
    case forged
  }

  /// Verifies the `rspauth` in a response, with which the server proves that it knows the password.
  ///
  /// - Parameters:
  ///   - info: The response's Authentication-Info.
  ///   - contentHash: A closure that returns the hash of the response's content. Called only if the `rspauth` covers the content
  ///     (auth-int). If the closure returns nil, the verdict is `.unproven`.
  package func verify(_ info: DigestInformation, contentHash: () -> [UInt8]?) -> Verdict {
    guard let answer = info.responseProof else { return .unproven }
    let isForAnotherRequest = [(info.clientNonce, clientNonce), (info.count, count)].contains { received, sent in
      received.map { $0 != sent } ?? false
    }
    guard !isForAnotherRequest else { return .forged }
    var verified = self
    // A2 = ":" request-uri; for auth-int: ":" request-uri ":" H(entity-body) (§3.5)
    var responseText = ":\(target)"
    switch info.protection?.lowercased() ?? protection.token {
    case nil: break
    case "auth": verified.protection = .method
    case "auth-int":
      verified.protection = .content
      guard let hash = contentHash() else { return .unproven }
      responseText += ":\(hex(hash))"
    default: return .forged
    }
    guard let expected = try? verified.response(to: responseText) else { return .unproven }
    return answer.lowercased() == expected ? .proven : .forged
  }
}

extension DigestProof: CustomStringConvertible, CustomReflectable {
  /// A text that contains the request target, but no secrets.
  package var description: String { "DigestProof(target: \(target))" }
  /// A mirror without children, because `dump` would print the key.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The Digest parameters in Authentication-Info or Proxy-Authentication-Info.
package struct DigestInformation: Sendable, Hashable {
  /// The nonce for the next request, or nil if the current nonce remains valid.
  package let nextNonce: String?
  let responseProof: String?
  let protection: String?
  let clientNonce: String?
  let count: String?

  // Authentication-Info = #auth-param (RFC 7615 §3)
  /// Parses the value of Authentication-Info or Proxy-Authentication-Info. Never fails: skips malformed parts, as in challenges.
  package init(_ value: String) {
    // The parameters of a challenge have the same syntax.
    let parameters = Challenge.parse("Digest " + value).first
    nextNonce = parameters?.parameter("nextnonce")
    responseProof = parameters?.parameter("rspauth")
    protection = parameters?.parameter("qop")
    clientNonce = parameters?.parameter("cnonce")
    count = parameters?.parameter("nc")
  }
}
