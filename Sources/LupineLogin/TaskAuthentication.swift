// TaskAuthentication: one task's authentication to origins: answers to challenges, stale nonces, preemptive credentials and the
// verification of servers (RFC 7616 §3.3 to §3.6).

import LupineAuthentication
import LupineEngine
import Synchronization

/// One task's authentication to origins. Stores the latest Digest credentials, because the server's Authentication-Info is verified
/// with them.
final class TaskAuthentication: ChallengeAnswering {
  /// The maximum number of consecutive responses that declare the nonce stale: 8. Servers limit the uses of a nonce, for example to
  /// 5 (squid), and concurrent requests can use up a new nonce too. Without this limit, a server could make the client send a
  /// request forever.
  static let staleNoncesMax = 8

  private enum Phase {
    /// The task's latest request has no Digest credentials.
    case unused
    /// The client has computed Digest credentials that answer a challenge, but hasn't sent them yet.
    case answered(DigestSpaces.Use)
    /// The client has sent these Digest credentials.
    case sent(DigestSpaces.Use)
  }

  private struct State {
    var phase = Phase.unused
    /// The Digest credentials that answered a challenge and are in the Authorization field of the task's requests. The field
    /// remains after a redirect within the origin.
    var carried: DigestSpaces.Use?
    /// The number of consecutive responses whose challenge declared the nonce stale.
    var staleCount = 0

    var use: DigestSpaces.Use? {
      switch phase {
      case .unused: nil
      case .answered(let use), .sent(let use): use
      }
    }
  }

  private let session: SessionAuthentication
  private let known: KnownCredentials
  private let state = Mutex(State())
  /// The NTLM or Negotiate authentication of the task's connection to an origin.
  let connection: ConnectionAuthentication

  /// Creates the authentication of one task.
  ///
  /// - Parameters:
  ///   - session: The authentication state that the session's tasks share.
  ///   - known: The credentials that may be sent preemptively in protection spaces that are already known.
  init(_ session: SessionAuthentication, _ known: KnownCredentials) {
    self.session = session
    self.known = known
    connection = ConnectionAuthentication(session)
  }

  func offers(in challenges: [Challenge], from party: AuthenticationParty) -> [AuthenticationOffer] {
    session.spaces.withLock { $0.offers(in: challenges, from: party) }
  }

  func respond(
    to offer: AuthenticationOffer, with credential: PasswordCredential?, for request: EngineRequest
  ) -> AuthenticationAnswer {
    switch offer.content {
    case .basic: return credential.flatMap { BasicCredentials.fieldValue($0) }.map { .authorize($0) } ?? .stand
    case .digest(let challenge):
      return credential.flatMap { answer(challenge, with: $0, to: request) }.map { .authorize($0) } ?? .stand
    case .ntlm, .negotiate:
      guard let credential, credential.suits(offer.scheme) else { return .reject }
      connection.begin(
        .init(party: .origin(request.uri.origin), scheme: offer.scheme, credential: credential))
      return .resend
    }
  }

  /// Returns the value of the Authorization field that answers a Digest challenge. Returns nil if the client can't answer the
  /// challenge, for example because the server accepts only `auth-int` and the request's content isn't known in advance.
  func answer(_ challenge: DigestChallenge, with credential: PasswordCredential, to request: EngineRequest) -> String? {
    let covered = covered(request)
    guard let use = session.spaces.withLock({ try? $0.answer(challenge, with: credential, to: covered) }) else {
      return nil
    }
    session.noteUse()
    state.withLock { $0 = State(phase: .answered(use)) }
    return use.proof.fieldValue
  }

  /// Returns the value of the Authorization field with which to repeat a request whose nonce was stale. The credential is that of
  /// the refused request, so the delegate isn't asked again.
  ///
  /// Returns nil if the response doesn't report a stale nonce, or if more than `staleNoncesMax` consecutive nonces were stale. If
  /// the response is a 401, it then also drops the authentication.
  ///
  /// - Parameters:
  ///   - status: The response's status code.
  ///   - fields: The response's fields.
  ///   - request: The request to send again.
  func renewed(afterStatus status: Int, _ fields: Fields, to request: EngineRequest) -> String? {
    guard status == 401, let use = state.withLock({ $0.use }) else { return nil }
    let stale = offers(in: fields.challenges("WWW-Authenticate"), from: .origin(request.uri.origin)).lazy
      .compactMap(\.digest).first { $0.isStale && $0.realm == use.key.realm }
    let covered = covered(request)
    let isAllowed = state.withLock { state in
      state.staleCount += 1
      return state.staleCount <= Self.staleNoncesMax
    }
    guard isAllowed, let stale,
      let next = session.spaces.withLock({ try? $0.answer(stale, with: use.key.credential, to: covered) })
    else {
      // The server has refused the credential, not only the nonce.
      session.spaces.withLock { $0.drop(use.key) }
      state.withLock { $0 = State() }
      return nil
    }
    state.withLock { $0.phase = .answered(next) }
    return next.proof.fieldValue
  }

  /// Sets the Authorization field of a request before it is sent.
  ///
  /// Digest credentials are sent only once. After a redirect, new credentials replace them, or the field is removed if the target
  /// is outside the protection space. A request without Authorization gets preemptive Digest credentials if this session has used a
  /// known credential for a protection space that contains the request's URI.
  func prepare(_ request: inout EngineRequest) {
    let given = request.fields.first("Authorization")
    var (phase, carried) = state.withLock { ($0.phase, $0.carried) }
    if case .answered(let use) = phase, given == use.proof.fieldValue {
      state.withLock { ($0.phase, $0.carried) = (.sent(use), use) }
      return
    }
    let use: DigestSpaces.Use?
    if let sent = carried, given == sent.proof.fieldValue {
      request.fields.remove("Authorization")
      use = proof(with: sent.key, for: request)
    } else {
      carried = nil
      use = given == nil ? preemptiveUse(for: request) : nil
    }
    phase = use.map { .sent($0) } ?? .unused
    state.withLock { [phase, carried] in $0 = State(phase: phase, carried: carried) }
    if let use { request.fields.append(name: "Authorization", value: use.proof.fieldValue) }
  }

  /// Returns the number of the session's Digest authentication that has computed the Authorization field of the task's latest request.
  /// Equal numbers mean equal realms, user names and passwords. Nil if the field comes from elsewhere.
  func digestNumber(of request: EngineRequest) -> UInt64? {
    guard let value = request.fields.first("Authorization"), let use = state.withLock({ $0.use }) else { return nil }
    return use.proof.fieldValue == value ? use.number : nil
  }

  /// Verifies the Authentication-Info in the response to the task's latest request. Returns false if its `rspauth` is wrong. The
  /// sender of the response then doesn't know the password, so the response must not be trusted.
  func verify(_ fields: Fields) -> Bool {
    guard let value = fields.list("Authentication-Info"), let use = state.withLock({ $0.use }) else { return true }
    return session.spaces.withLock { $0.verify(DigestInformation(value), for: use) } != .forged
  }

  /// Returns Digest credentials to send before the server challenges the request. Returns nil if the session hasn't used a known
  /// credential for a protection space that contains the request's URI.
  private func preemptiveUse(for request: EngineRequest) -> DigestSpaces.Use? {
    guard let credential = known.credential else { return nil }
    let keys = session.spaces.withLock { $0.keys(covering: request.uri) }
    let key = keys.first { credential($0.party, $0.realm, .digest) == $0.credential }
    return key.flatMap { proof(with: $0, for: request) }
  }

  private func proof(with key: DigestSpaces.Key, for request: EngineRequest) -> DigestSpaces.Use? {
    let covered = covered(request)
    return session.spaces.withLock { $0.proof(with: key, for: covered) }
  }

  private func covered(_ request: EngineRequest) -> DigestSpaces.CoveredRequest {
    let body = request.body
    return DigestSpaces.CoveredRequest(
      party: .origin(request.uri.origin), method: request.method, target: request.uri.target,
      clientNonce: session.sources.nonce()
    ) { digest in
      body.bytesInMemory.flatMap { digest.hash($0) }
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
