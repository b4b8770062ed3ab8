// DigestProof: the Digest credentials of one request, and the verification of the
// server's Authentication-Info (RFC 7616 §3.4, §3.5).

import LupineTLS
import LupineWire

/// The Digest credentials for one request: the value of its Authorization field, and the values for verifying the server's reply.
package struct DigestProof: Sendable {
  /// The value of the Authorization or Proxy-Authorization field that sends these credentials.
  package internal(set) var fieldValue = ""
  let digest: MessageDigest
  /// H(A1) in hexadecimal digits. When the client computes a Digest response, this hash takes the place of the password (RFC 7616
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

  /// The result of verifying the Authentication-Info field of a server's response.
  package enum Verdict: Sendable, Hashable {
    /// The server has proven nothing. The field has no `rspauth` parameter, which is optional, or the client can't hash the
    /// response's content, from which the parameter is computed.
    case unproven
    /// The `rspauth` parameter is correct, which proves that the server knows the password.
    case proven
    /// The `rspauth` parameter is wrong. Either its sender (the server or an attacker on the path) doesn't know the password, or it
    /// was computed for another request.
    case forged
  }

  /// Verifies the `rspauth` parameter of a response, with which the server proves that it knows the password.
  ///
  /// - Parameters:
  ///   - info: The response's Authentication-Info.
  ///   - contentHash: A closure that returns the hash of the response's content. Called only if `rspauth` is computed from the
  ///     content (`auth-int`). If the closure returns nil, the verdict is `.unproven`.
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
  /// A text for logs that contains the request target, but no secrets.
  package var description: String { "DigestProof(target: \(target))" }
  /// A mirror without children, so that `dump` doesn't print the key.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The Digest parameters in a response's Authentication-Info or Proxy-Authentication-Info field.
package struct DigestInformation: Sendable, Hashable {
  /// The nonce that the server requires for the next request (`nextnonce`), or nil if the current nonce remains valid.
  package let nextNonce: String?
  let responseProof: String?
  let protection: String?
  let clientNonce: String?
  let count: String?

  // Authentication-Info = #auth-param (RFC 7615 §3)
  /// Parses the value of Authentication-Info or Proxy-Authentication-Info. Never fails, because it skips malformed parts, as the
  /// parser of challenges does.
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
