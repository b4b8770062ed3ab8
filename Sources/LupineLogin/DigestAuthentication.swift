// DigestAuthentication: one task's use of Digest at its origin or its proxy: the latest proof, stale nonces, and the verification
// of the server (RFC 7616 §3.3 to §3.5).

import LupineAuthentication
import LupineEngine

/// One task's use of Digest at an origin or a proxy.
struct DigestAuthentication: Sendable {
  /// The maximum number of consecutive responses that declare the nonce stale: 8. Servers limit the uses of a nonce, for example to
  /// 5 (squid), and concurrent requests can use up a new nonce too. Without this limit, a server could make the client send a
  /// request forever.
  static let staleNoncesMax = 8

  /// The Digest credentials of the task's latest request, or nil if it has none.
  var use: DigestSpaces.Use?
  /// The number of consecutive responses whose challenge declared the nonce stale.
  private var staleCount = 0

  init(_ use: DigestSpaces.Use? = nil) { self.use = use }

  /// Called when a server has refused Digest credentials of `login`. Returns the challenge with the nonce that replaces a stale
  /// one. Returns nil if the server has refused the credential, not only the nonce, or if more than `staleNoncesMax` consecutive
  /// nonces were stale.
  mutating func renewal(of login: Login, in offers: [AuthenticationOffer]) -> DigestChallenge? {
    staleCount += 1
    guard staleCount <= Self.staleNoncesMax else { return nil }
    return offers.lazy.compactMap(\.digest).first { $0.isStale && $0.realm == login.realm }
  }

  /// Verifies the server's proof in the response to the task's latest request, and stores its `nextnonce`. Returns false if its
  /// `rspauth` is wrong. The sender of the response then doesn't know the password, so the response must not be trusted.
  func verify(_ fields: Fields, _ names: AuthenticationFields, _ session: inout SessionLogins) -> Bool {
    guard let use, let value = fields.list(names.info) else { return true }
    return session.spaces.verify(DigestInformation(value), for: use) != .forged
  }
}

extension SessionLogins {
  /// Returns Digest credentials of `login` to send before the server challenges the request. Returns nil if the request is outside
  /// the protection space, or if the authentication was dropped.
  mutating func proof(of login: Login, for request: EngineRequest) -> DigestSpaces.Use? {
    let party = if case .proxy = login.party { login.party } else { AuthenticationParty.origin(request.uri.origin) }
    return spaces.proof(with: login, for: covered(request, by: party))
  }

  /// Answers a Digest challenge of the request's origin. Returns nil if the client can't answer the challenge, for example because
  /// the server accepts only `auth-int` and the request's content isn't known in advance.
  mutating func answer(
    _ challenge: DigestChallenge, with credential: PasswordCredential, to request: EngineRequest
  ) -> DigestSpaces.Use? {
    try? spaces.answer(challenge, with: credential, to: covered(request, by: .origin(request.uri.origin)))
  }

  /// Returns the parts of a request from which its Digest response for `party` is computed.
  private func covered(_ request: EngineRequest, by party: AuthenticationParty) -> DigestSpaces.CoveredRequest {
    let body = request.body
    // The hash covers the content as it is sent (RFC 7616 §3.4.3), but the engine encodes it later.
    let isEncoded = request.bodyCoding != nil && !body.isEmpty
    let (method, target, isConnect) =
      switch party {
      case .origin: (request.method, request.uri.target, false)
      case .proxy where request.isTunneled: ("CONNECT", request.uri.origin.authorityForm, true)
      case .proxy: (request.method, request.uri.origin.description + request.uri.target, false)
      }
    return DigestSpaces.CoveredRequest(
      party: party, method: method, target: target, clientNonce: sources.nonce()
    ) { digest in
      if isConnect { return digest.hash([]) }
      return isEncoded ? nil : body.bytesInMemory.flatMap { digest.hash($0) }
    }
  }
}

extension RequestBody {
  /// The bytes of the request body, or nil if a part of the body isn't in memory.
  var bytesInMemory: [UInt8]? {
    var output: [UInt8] = []
    for segment in segments {
      switch segment {
      case .bytes(let bytes): output += bytes
      case .held(let bytes): bytes.append(0..<bytes.byteCount, &output)
      case .file, .produced: return nil
      }
    }
    return output
  }
}
