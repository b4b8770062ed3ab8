// OriginAuthentication: one task's authentication to origins: answers to challenges, stale nonces and preemptive credentials (RFC
// 7616 §3.3 to §3.6).

import LupineAuthentication
import LupineEngine

/// One task's authentication to origins.
struct OriginAuthentication: Sendable {
  /// The Digest credentials of the latest request, or those that answer a challenge and are sent next.
  private var digest = DigestAuthentication()
  /// Whether the credentials in `digest` answer a challenge and haven't been sent yet.
  private var isUnsent = false
  /// The Digest credentials that answered a challenge and are in the Authorization field of the task's requests. The field
  /// remains after a redirect within the origin.
  private var carried: DigestSpaces.Use?
  /// The NTLM or Negotiate authentication of the task's connection to an origin.
  var connection = ConnectionAuthentication()

  /// Answers a challenge of the request's origin with the credential that the caller has chosen. `credential` is nil if the chosen
  /// credential has no password.
  mutating func respond(
    to offer: AuthenticationOffer, with credential: PasswordCredential?, for request: EngineRequest,
    _ session: inout SessionLogins
  ) -> AuthenticationAnswer {
    guard let credential, credential.suits(offer.scheme) else {
      return offer.scheme == .ntlm || offer.scheme == .negotiate ? .reject : .stand
    }
    switch offer.content {
    case .basic: return BasicCredentials.fieldValue(credential).map { .authorize($0) } ?? .stand
    case .digest(let challenge):
      guard let use = session.answer(challenge, with: credential, to: request) else { return .stand }
      session.isUsed = true
      setDigest(DigestAuthentication(use), isUnsent: true)
      return .authorize(use.proof.fieldValue)
    case .ntlm, .negotiate:
      connection.begin(
        Login(party: .origin(request.uri.origin), scheme: offer.scheme, credential: credential), &session)
      return .resend
    }
  }

  /// Returns the value of the Authorization field with which to repeat a request whose nonce was stale. The credential is that of
  /// the refused request, so the delegate isn't asked again.
  ///
  /// Returns nil if the response doesn't report a stale nonce. If the response is a 401, it then also drops the authentication.
  mutating func renewed(
    after head: ResponseHead, to request: EngineRequest, _ session: inout SessionLogins
  ) -> String? {
    guard head.status == AuthenticationFields.origin.status, let use = digest.use else { return nil }
    let challenges = head.fields.challenges(AuthenticationFields.origin.challenge)
    let offers = session.spaces.offers(in: challenges, from: .origin(request.uri.origin))
    guard let stale = digest.renewal(of: use.login, in: offers),
      let next = session.answer(stale, with: use.login.credential, to: request)
    else {
      session.spaces.drop(use.login)
      setDigest(DigestAuthentication())
      return nil
    }
    digest.use = next
    isUnsent = true
    return next.proof.fieldValue
  }

  /// Sets the Authorization field of a request before it is sent.
  ///
  /// Digest credentials are sent only once. After a redirect, new credentials replace them, or the field is removed if the target
  /// is outside the protection space. A request without Authorization gets preemptive Digest credentials if one of the `permitted`
  /// logins has a protection space that contains the request's URI.
  mutating func prepare(_ request: inout EngineRequest, permitted: [Login], _ session: inout SessionLogins) {
    let given = request.fields.first("Authorization")
    if isUnsent, let use = digest.use, given == use.proof.fieldValue {
      (isUnsent, carried) = (false, use)
      return
    }
    let sent = given == nil ? nil : carried.flatMap { $0.proof.fieldValue == given ? $0 : nil }
    if sent != nil { request.fields.remove("Authorization") }
    let login =
      given == nil ? permitted.first { $0.scheme == .digest && $0.party == .origin(request.uri.origin) } : sent?.login
    let use = login.flatMap { session.proof(of: $0, for: request) }
    setDigest(DigestAuthentication(use), carried: sent)
    if let use { request.fields.append(name: "Authorization", value: use.proof.fieldValue) }
  }

  private mutating func setDigest(
    _ digest: DigestAuthentication, isUnsent: Bool = false, carried: DigestSpaces.Use? = nil
  ) {
    (self.digest, self.isUnsent, self.carried) = (digest, isUnsent, carried)
  }

  /// Returns the number of the session's Digest authentication that has computed the Authorization field of the task's latest
  /// request. Equal numbers mean equal realms, user names and passwords. Nil if the field comes from elsewhere.
  func digestNumber(of request: EngineRequest) -> UInt64? {
    guard let use = digest.use, request.fields.first("Authorization") == use.proof.fieldValue else { return nil }
    return use.number
  }

  /// Handles the head of a response other than a proxy's. Returns the response's effect on the authentication.
  mutating func receive(
    _ head: ResponseHead, to request: EngineRequest, _ session: inout SessionLogins
  ) -> ResponseVerdict {
    guard digest.verify(head.fields, .origin, &session) else { return .untrusted }
    guard head.status != AuthenticationFields.origin.status, head.status != AuthenticationFields.proxy.status,
      connection.isFor(.origin(request.uri.origin))
    else { return .trusted }
    return connection.receiveSuccess(challenges: head.fields.challenges(AuthenticationFields.origin.challenge))
  }
}
