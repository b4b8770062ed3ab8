// ProxyAuthentication: one task's authentication to HTTP proxies, for forwarded requests and for CONNECT (RFC 9110 §11.7).

import LupineAuthentication
import LupineEngine
import Synchronization

/// One task's authentication to the proxy of its requests.
///
/// The credential is either the one that the caller chose for the proxy's challenge, or the one in the proxy's URL. Before the
/// proxy sends a challenge, the engine sends the URL's credential preemptively with Basic.
final class ProxyAuthentication: Sendable {
  /// The additions to a request that authenticates to a proxy: a credential, and requirements on the request's connection and
  /// content.
  struct Preparation: Sendable {
    var authorization: ProxyAuthorization?
    /// The group of connections that the request may use. All requests in a group have the same credential, and tunnels that were
    /// opened without a credential have a group too. Nil for forwarded requests with Basic, Digest or no credential.
    var group: UInt64?
    var needsOpenConnection = false
    var isAnnouncement = false
  }

  /// The credential that the task has chosen for a proxy, and the scheme that uses it.
  private struct Choice {
    let address: ProxyAddress
    let scheme: AuthenticationOffer.Scheme
    let realm: String?
    let credential: PasswordCredential

    var accepted: AuthenticatedConnections.Accepted { .init(scheme: scheme, realm: realm, credential: credential) }
    var digest: DigestSpaces.Key? {
      scheme == .digest ? .init(party: .proxy(address), realm: realm ?? "", credential: credential) : nil
    }
    var connection: AuthenticatedConnections.Key {
      .init(party: .proxy(address), scheme: scheme, credential: credential)
    }
  }

  private struct State {
    var choice: Choice?
    /// The Digest credentials that were sent with the latest forwarded request, or nil if there were none.
    var use: DigestSpaces.Use?
    var staleCount = 0
    /// Whether the credential in the proxy's URL has already been tried as the answer to a challenge.
    var hasUsedOwn = false
    /// The number of times that the task has replaced the first handshake message for CONNECT, because another request had used the
    /// tunnel that the previous message opened.
    var replacementCount = 0
  }

  /// The maximum number of times that one task replaces the first handshake message for CONNECT: 3, which is enough for concurrent
  /// requests. Without this limit, a proxy that keeps closing tunnels would make the client send a request forever.
  private static let replacementsMax = 3

  private let session: SessionAuthentication
  private let known: KnownCredentials
  private let state = Mutex(State())
  /// The NTLM or Negotiate authentication of the connection to the proxy that the task's forwarded requests use.
  let connection: ConnectionAuthentication

  init(_ session: SessionAuthentication, _ known: KnownCredentials) {
    self.session = session
    self.known = known
    connection = ConnectionAuthentication(session)
  }

  /// Returns whether the next call of `prepare` for this proxy may block, because it requests a Kerberos ticket.
  func mayBlock(via proxy: Proxy) -> Bool {
    guard let address = ProxyAddress(proxy) else { return false }
    if let choice = state.withLock({ $0.choice }), choice.address == address { return choice.scheme == .negotiate }
    return session.connections.withLock { $0.accepted[address]?.scheme == .negotiate }
  }

  // MARK: Answers

  /// Returns the challenges of a proxy's response that the client is able and allowed to answer, strongest first. `party` is the
  /// proxy.
  func offers(in challenges: [Challenge], from party: AuthenticationParty) -> [AuthenticationOffer] {
    session.spaces.withLock { $0.offers(in: challenges, from: party) }
  }

  /// Answers a proxy's challenge with a credential. Returns `.stand` if `credential` is nil, `.reject` if the challenge's scheme
  /// can't use the credential, and `.resend` otherwise.
  func respond(
    to offer: AuthenticationOffer, of proxy: Proxy, with credential: PasswordCredential?, for request: EngineRequest
  ) -> AuthenticationAnswer {
    guard let credential else { return .stand }
    return choose(offer, credential, proxy, for: request) ? .resend : .reject
  }

  /// Returns whether to send a request again after a 407 response, without asking the delegate for a credential. True if the nonce
  /// was stale, if the handshake has another message, or if the credential in the proxy's URL hasn't been tried yet.
  ///
  /// - Parameters:
  ///   - challenges: The response's challenges.
  ///   - proxy: The proxy that has sent the response.
  ///   - request: The request to send again.
  func resends(after challenges: [Challenge], from proxy: Proxy, _ request: EngineRequest) -> Bool {
    guard let address = ProxyAddress(proxy) else { return false }
    let choice = state.withLock { $0.choice }
    let offers = offers(in: challenges, from: .proxy(address))
    if let choice, choice.address == address {
      if !Self.isTunneled(request), connection.isFor(.proxy(address)) {
        if connection.receive(challenges: challenges) == .resend { return true }
      } else if let key = choice.digest, renew(key, offers, request) {
        return true
      }
      session.connections.withLock { $0.forget(address) }
      if let key = choice.digest { session.spaces.withLock { $0.drop(key) } }
      state.withLock { $0.choice = nil }
    }
    let isFirst = state.withLock { state in
      defer { state.hasUsedOwn = true }
      return !state.hasUsedOwn
    }
    guard isFirst, let own = known.proxyCredential(proxy),
      let offer = offers.first(where: { known.proxySchemes.contains($0.scheme) && own.suits($0.scheme) }),
      // If Basic was sent preemptively, the proxy has already refused it.
      offer.scheme != .basic || !known.sendsProxyCredentialFirst
    else { return false }
    return choose(offer, own, proxy, for: request)
  }

  /// Called when a request couldn't open a tunnel, because the first message of its handshake opens only one tunnel and has already
  /// been used. Returns whether to prepare the request again with a new message.
  func needsAnotherMessage(_ request: EngineRequest, via proxy: Proxy) -> Bool {
    state.withLock { state in
      guard Self.isTunneled(request), let choice = state.choice, choice.scheme == .negotiate,
        choice.address == ProxyAddress(proxy), state.replacementCount < Self.replacementsMax
      else { return false }
      state.replacementCount += 1
      return true
    }
  }

  private func renew(_ key: DigestSpaces.Key, _ offers: [AuthenticationOffer], _ request: EngineRequest) -> Bool {
    let isAllowed = state.withLock { state in
      state.staleCount += 1
      return state.staleCount <= TaskAuthentication.staleNoncesMax
    }
    let stale = offers.lazy.compactMap(\.digest).first { $0.isStale && $0.realm == key.realm }
    guard isAllowed, let stale else { return false }
    return session.spaces.withLock { $0.begin(stale, for: key) }
  }

  private func choose(
    _ offer: AuthenticationOffer, _ credential: PasswordCredential, _ proxy: Proxy, for request: EngineRequest
  ) -> Bool {
    guard let address = ProxyAddress(proxy), credential.suits(offer.scheme) else { return false }
    let choice = Choice(
      address: address, scheme: offer.scheme, realm: offer.realm, credential: credential)
    switch offer.content {
    case .basic: guard BasicCredentials.fieldValue(credential) != nil else { return false }
    case .digest(let challenge):
      guard let key = choice.digest, session.spaces.withLock({ $0.begin(challenge, for: key) }) else { return false }
    case .ntlm, .negotiate: if !Self.isTunneled(request) { connection.begin(choice.connection) }
    }
    state.withLock { $0.choice = choice }
    session.noteUse()
    return true
  }

  // MARK: Requests

  /// Returns what to add to the next request through this proxy: the credential that the task has chosen for the proxy, or one that
  /// the proxy has accepted earlier and that is still permitted.
  ///
  /// If there is neither, returns nil, and the engine sends the credential in the proxy's URL. If the engine must not send that
  /// credential, returns additions that prevent it.
  func prepare(_ request: EngineRequest, via proxy: Proxy) throws(ConnectionHandshake.Failure) -> Preparation? {
    state.withLock { $0.use = nil }
    guard let address = ProxyAddress(proxy) else { return nil }
    if let choice = choice(for: proxy, address, request) {
      let prepared = Self.isTunneled(request) ? try tunnel(choice, request) : try forward(choice, request)
      // If the task has no credential for the proxy, these additions prevent the engine from sending the password in the proxy's
      // URL instead.
      return prepared ?? Self.withoutCredential(request)
    }
    let party = AuthenticationParty.proxy(address)
    let isBasicDangerous = !party.isProtected && session.spaces.withLock { $0.hasUsedDigest(party) }
    let isWithheld = !known.sendsProxyCredentialFirst && proxy.user != nil
    return isBasicDangerous || isWithheld ? Self.withoutCredential(request) : nil
  }

  /// Returns the additions that prevent the engine from sending the credential in the proxy's URL with a request. Tunnels without a
  /// credential are in a separate group, because a request that relies on the URL's credential must not use such a tunnel.
  private static func withoutCredential(_ request: EngineRequest) -> Preparation {
    Preparation(
      authorization: ProxyAuthorization(nil), group: isTunneled(request) ? AuthenticatedConnections.bareGroup : nil)
  }

  private func choice(for proxy: Proxy, _ address: ProxyAddress, _ request: EngineRequest) -> Choice? {
    if let choice = state.withLock({ $0.choice }), choice.address == address { return choice }
    guard let accepted = session.connections.withLock({ $0.accepted[address] }) else { return nil }
    let permitted = [
      known.credential?(.proxy(address), accepted.realm, accepted.scheme), known.proxyCredential(proxy),
    ]
    guard permitted.contains(accepted.credential) else { return nil }
    let choice = Choice(
      address: address, scheme: accepted.scheme, realm: accepted.realm, credential: accepted.credential)
    if !Self.isTunneled(request) {
      connection.reuse(at: .proxy(address)) { $0.credential == accepted.credential }
    }
    state.withLock { $0.choice = choice }
    return choice
  }

  private func tunnel(
    _ choice: Choice, _ request: EngineRequest
  ) throws(ConnectionHandshake.Failure) -> Preparation? {
    let group = session.connections.withLock { $0.tunnelGroup(choice.connection) }
    let authorization: ProxyAuthorization?
    switch choice.scheme {
    case .basic: authorization = BasicCredentials.fieldValue(choice.credential).map { ProxyAuthorization($0) }
    case .digest:
      let covered = DigestSpaces.CoveredRequest(
        party: .proxy(choice.address), method: "CONNECT", target: request.uri.origin.authorityForm,
        clientNonce: session.sources.nonce()
      ) { $0.hash([]) }
      let use = choice.digest.flatMap { key in session.spaces.withLock { $0.proof(with: key, for: covered) } }
      authorization = use.map { ProxyAuthorization($0.proof.fieldValue) }
    case .ntlm, .negotiate: authorization = try TunnelHandshake.authorization(choice.connection, session.sources)
    }
    return authorization.map { Preparation(authorization: $0, group: group) }
  }

  private func forward(
    _ choice: Choice, _ request: EngineRequest
  ) throws(ConnectionHandshake.Failure) -> Preparation? {
    switch choice.scheme {
    case .basic:
      return BasicCredentials.fieldValue(choice.credential).map { Preparation(authorization: ProxyAuthorization($0)) }
    case .digest:
      let body = request.body
      let covered = DigestSpaces.CoveredRequest(
        party: .proxy(choice.address), method: request.method,
        target: request.uri.origin.description + request.uri.target, clientNonce: session.sources.nonce()
      ) { digest in body.bytesInMemory.flatMap { digest.hash($0) } }
      let use = choice.digest.flatMap { key in session.spaces.withLock { $0.proof(with: key, for: covered) } }
      state.withLock { $0.use = use }
      return use.map { Preparation(authorization: ProxyAuthorization($0.proof.fieldValue)) }
    case .ntlm, .negotiate:
      // The handshake may belong to another proxy, which an earlier request used.
      guard connection.isFor(.proxy(choice.address)),
        let prepared = try connection.prepare(isPassedOn: true, certificate: { nil })
      else { return nil }
      return Preparation(
        authorization: prepared.value.map { ProxyAuthorization($0) }, group: prepared.group,
        needsOpenConnection: prepared.needsOpenConnection, isAnnouncement: prepared.isAnnouncement)
    }
  }

  // MARK: Responses

  /// Handles the head of a response other than 407, which means that the proxy has accepted the credential. Returns the response's
  /// effect on the authentication.
  func receive(
    _ head: ResponseHead, to request: EngineRequest, via proxy: Proxy
  ) -> ConnectionAuthentication.Verdict {
    let (choice, use) = state.withLock { ($0.choice, $0.use) }
    // After a redirect, the request may use a proxy for which the credential wasn't chosen.
    guard let choice, choice.address == ProxyAddress(proxy) else { return .accepted }
    session.connections.withLock { $0.note(choice.accepted, by: choice.address) }
    // In a tunnel, the head comes from the origin instead of the proxy.
    guard !Self.isTunneled(request) else { return .accepted }
    if connection.isFor(.proxy(choice.address)) {
      return connection.receiveSuccess(challenges: head.fields.challenges(AuthenticationFields.proxy.challenge))
    }
    guard let use, let value = head.fields.list(AuthenticationFields.proxy.info) else { return .accepted }
    let verdict = session.spaces.withLock { $0.verify(DigestInformation(value), for: use) }
    return verdict == .forged ? .untrusted : .accepted
  }

  /// Returns whether the request is sent through a tunnel. If it is, the client sends the proxy's credential only with CONNECT, not
  /// with the request.
  private static func isTunneled(_ request: EngineRequest) -> Bool {
    request.uri.origin.scheme == .https || request.needsTunnel
  }
}

/// Answers the challenges that one task receives from one proxy.
struct ProxyAnswering: ChallengeAnswering {
  let authentication: ProxyAuthentication
  let proxy: Proxy

  func offers(in challenges: [Challenge], from party: AuthenticationParty) -> [AuthenticationOffer] {
    authentication.offers(in: challenges, from: party)
  }

  func respond(
    to offer: AuthenticationOffer, with credential: PasswordCredential?, for request: EngineRequest
  ) -> AuthenticationAnswer {
    authentication.respond(to: offer, of: proxy, with: credential, for: request)
  }
}

/// Creates the NTLM and Negotiate handshakes that authenticate CONNECT requests. All messages of a handshake are sent on the
/// connection that becomes the tunnel.
enum TunnelHandshake {
  /// Returns the handshake's first message for CONNECT, together with a closure that answers the proxy's responses to CONNECT. With
  /// Negotiate, the call may block. The closure runs on an event loop (see `SecurityContext`).
  static func authorization(
    _ key: AuthenticatedConnections.Key, _ sources: AuthenticationSources
  ) throws(ConnectionHandshake.Failure) -> ProxyAuthorization? {
    guard var first = ConnectionHandshake(key) else { return nil }
    let value = try first.first(nil, sources)
    // A Negotiate token is valid only once, and its security context can't continue two handshakes.
    return ProxyAuthorization(value, isSingleUse: key.scheme == .negotiate) { [first] in
      var handshake = first
      return { head in
        let token = head.fields.challenges(AuthenticationFields.proxy.challenge).token(of: key.scheme)
        return handshake.react(to: head.status, token, sources)
      }
    }
  }
}

extension ConnectionHandshake {
  fileprivate mutating func react(
    to status: Int, _ token: [UInt8]?, _ sources: AuthenticationSources
  ) -> ProxyAuthorization.Reaction {
    do throws(Failure) {
      if status == 407 {
        guard token != nil else { return .accept }
        return .send(try answer(token, nil, sources))
      }
      try finish(token)
      return .accept
    } catch {
      return error == .serverIsUnproven ? .distrust : status == 407 ? .accept : .distrust
    }
  }
}
