// TaskAuthentication: one task's use of its session's Digest authentications: answering challenges, renewing stale nonces,
// preemptive authentication and the verification of servers (RFC 7616 §3.3 to §3.6).

import Foundation
import LupineAuthentication
import LupineEngine
import Synchronization

/// The Digest authentications of a session, which its tasks share.
final class SessionAuthentication: Sendable {
  fileprivate let spaces = Mutex(DigestSpaces())
  private let hasAnswered = Atomic(false)

  /// Whether a task of the session has answered a Digest challenge. Until then, requests need no preparation.
  var isUsed: Bool { hasAnswered.load(ordering: .acquiring) }

  fileprivate func noteUse() { hasAnswered.store(true, ordering: .releasing) }
}

/// One task's use of Digest. It keeps the latest proof, so that the server's answer can be verified.
final class TaskAuthentication: Sendable {
  /// The maximum number of consecutive stale nonces for one URI: 8. Servers limit the uses of a nonce, for example to 5 (squid),
  /// and concurrent requests can use up a new nonce too, but no server may keep a request going forever.
  static let staleNoncesMax = 8

  private enum Phase {
    /// The latest request has no proof.
    case unused
    /// The proof answers a challenge and hasn't been sent yet.
    case answered(DigestSpaces.Use)
    /// The proof has been sent.
    case sent(DigestSpaces.Use)
  }

  private struct State {
    var phase = Phase.unused
    /// The proof in the transfer's request, which answered a challenge. Redirects within the origin keep it.
    var carried: DigestSpaces.Use?
    /// The number of consecutive stale nonces.
    var staleCount = 0

    var use: DigestSpaces.Use? {
      switch phase {
      case .unused: nil
      case .answered(let use), .sent(let use): use
      }
    }
  }

  private let session: SessionAuthentication
  private let storage: URLCredentialStorage?
  private let makeNonce: @Sendable () -> String
  private let state = Mutex(State())

  /// Creates the authentication of one task.
  ///
  /// - Parameters:
  ///   - session: The authentications of the task's session.
  ///   - storage: The storage whose default credentials are sent before a challenge, in known protection spaces.
  ///   - makeNonce: Returns a random text for each request.
  init(
    _ session: SessionAuthentication, storage: URLCredentialStorage?,
    makeNonce: @escaping @Sendable () -> String = { UUID().uuidString }
  ) {
    self.session = session
    self.storage = storage
    self.makeNonce = makeNonce
  }

  /// Returns the offers of a response's challenges that may be answered, strongest first.
  func offers(in challenges: [Challenge], from origin: Origin) -> [AuthenticationOffer] {
    session.spaces.withLock { $0.offers(in: challenges, from: origin) }
  }

  /// Returns the value of Authorization that answers a challenge. Returns nil if the challenge can't be answered, because the
  /// server accepts only `auth-int` and the request's content isn't known in advance.
  func answer(_ challenge: DigestChallenge, with credential: URLCredential, to request: EngineRequest) -> String? {
    guard let credential = PasswordCredential(credential) else { return nil }
    let covered = covered(request)
    guard let use = session.spaces.withLock({ try? $0.answer(challenge, with: credential, to: covered) }) else {
      return nil
    }
    session.noteUse()
    state.withLock { $0 = State(phase: .answered(use)) }
    return use.proof.fieldValue
  }

  /// Returns the value of Authorization with which to repeat a request whose nonce was stale. It uses the credential that was
  /// sent, so that the delegate isn't called again.
  ///
  /// Returns nil if the response doesn't report a stale nonce, or if more than `staleNoncesMax` consecutive nonces were stale.
  ///
  /// - Parameters:
  ///   - status: The response's status code.
  ///   - fields: The response's fields.
  ///   - request: The request to send again.
  func renewed(afterStatus status: Int, _ fields: Fields, to request: EngineRequest) -> String? {
    guard status == 401, let use = state.withLock({ $0.use }) else { return nil }
    let stale = offers(in: fields.challenges("WWW-Authenticate"), from: request.uri.origin).lazy
      .compactMap(\.digest).first { $0.isStale && $0.realm == use.key.realm }
    let covered = covered(request)
    let isAllowed = state.withLock { state in
      state.staleCount += 1
      return state.staleCount <= Self.staleNoncesMax
    }
    guard isAllowed, let stale,
      let next = session.spaces.withLock({ try? $0.answer(stale, with: use.key.credential, to: covered) })
    else {
      // The server has refused the credential itself.
      session.spaces.withLock { $0.drop(use.key) }
      state.withLock { $0 = State() }
      return nil
    }
    state.withLock { $0.phase = .answered(next) }
    return next.proof.fieldValue
  }

  /// Sets the Authorization field of a request before it is sent.
  ///
  /// A proof is sent only once. After a redirect, a new proof replaces it, or none if the target is outside of the protection
  /// space. A request without Authorization gets a proof with the storage's default credential, if this session has used that
  /// credential for a space that contains the URI.
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

  /// Verifies the Authentication-Info of the response to the latest request. Returns false if the server doesn't know the
  /// password. The response must then not be trusted.
  func verify(_ fields: Fields) -> Bool {
    guard let value = fields.list("Authentication-Info"), let use = state.withLock({ $0.use }) else { return true }
    return session.spaces.withLock { $0.verify(DigestInformation(value), for: use) } != .forged
  }

  /// Returns a proof with the storage's default credential, or nil if that credential hasn't been
  /// used for a space that contains the request's URI.
  private func preemptiveUse(for request: EngineRequest) -> DigestSpaces.Use? {
    guard let storage else { return nil }
    let keys = session.spaces.withLock { $0.keys(covering: request.uri) }
    let key = keys.first { key in
      let space = URLProtectionSpace(key.origin, realm: key.realm, method: NSURLAuthenticationMethodHTTPDigest)
      return storage.defaultCredential(for: space).flatMap { PasswordCredential($0) } == key.credential
    }
    return key.flatMap { proof(with: $0, for: request) }
  }

  private func proof(with key: DigestSpaces.Key, for request: EngineRequest) -> DigestSpaces.Use? {
    let covered = covered(request)
    return session.spaces.withLock { $0.proof(with: key, for: covered) }
  }

  private func covered(_ request: EngineRequest) -> DigestSpaces.CoveredRequest {
    let body = request.body
    return DigestSpaces.CoveredRequest(method: request.method, uri: request.uri, clientNonce: makeNonce()) { digest in
      body.bytesInMemory.flatMap { digest.hash($0) }
    }
  }
}

extension PasswordCredential {
  /// Creates a credential in Unicode's normalization form C, which servers expect (RFC
  /// 7616 §4). Returns nil if there is no password.
  init?(_ credential: URLCredential) {
    guard let user = credential.user, let password = credential.password else { return nil }
    self.init(
      user: user.precomposedStringWithCanonicalMapping, password: password.precomposedStringWithCanonicalMapping)
  }
}

extension URLError {
  /// Creates the error for a response whose server claims to know the password of a Digest credential but doesn't know it.
  init(wrongDigestProofFrom url: URL?) {
    let text =
      "\(ReadableText.url(url)) doesn't know the password: the rspauth of its Authentication-Info is wrong (RFC 7616 §3.5). "
      + "Check the server's Digest configuration, and use https, so that an attacker on the path can't impersonate it."
    self.init(.badServerResponse, userInfo: [NSLocalizedDescriptionKey: text])
  }
}

extension RequestBody {
  /// The bytes of the body, or nil if part of it isn't in memory.
  fileprivate var bytesInMemory: [UInt8]? {
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
