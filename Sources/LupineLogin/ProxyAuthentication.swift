// ProxyAuthentication: one task's authentication to HTTP proxies, for forwarded requests and for CONNECT (RFC 9110 §11.7).

import LupineAuthentication
import LupineEngine

/// One task's authentication to the proxy of its requests.
///
/// The credential is either the one that the caller chose for the proxy's challenge, or the one in the proxy's URL. Before the
/// proxy sends a challenge, the engine sends the URL's credential preemptively with Basic.
struct ProxyAuthentication: Sendable {
  /// The additions to a request that authenticates to a proxy: a credential, and requirements on the request's connection and
  /// content.
  struct Additions: Sendable {
    var authorization: ProxyAuthorization?
    /// The group of connections that the request may use. All requests in a group have the same credential, and tunnels that were
    /// opened without a credential have a group too. Nil for forwarded requests with Basic, Digest or no credential.
    var group: UInt64?
    var needsOpenConnection = false
    var isAnnouncement = false
  }

  /// The maximum number of times that one task replaces the first handshake message for CONNECT: 3, which is enough for concurrent
  /// requests. Without this limit, a proxy that keeps closing tunnels would make the client send a request forever.
  private static let replacementsMax = 3

  private let known: KnownCredentials
  /// The credential that the task has chosen for a proxy, and the scheme that uses it.
  private var choice: Login?
  /// The Digest credentials of the latest forwarded request.
  private var digest = DigestAuthentication()
  /// Whether the credential in the proxy's URL has already been tried as the answer to a challenge.
  private var hasUsedOwn = false
  /// The number of times that the task has replaced the first handshake message for CONNECT, because another request had used the
  /// tunnel that the previous message opened.
  private var replacementCount = 0
  /// The NTLM or Negotiate authentication of the connection to the proxy that the task's forwarded requests use.
  var connection = ConnectionAuthentication()

  init(_ known: KnownCredentials) { self.known = known }

  // MARK: Answers

  /// Answers a challenge of the proxy at `address` with the credential that the caller has chosen, and uses it for later requests.
  /// Returns `.stand` if `credential` is nil, `.reject` if the challenge's scheme can't use it, and `.resend` otherwise.
  mutating func respond(
    to offer: AuthenticationOffer, of address: ProxyAddress, with credential: PasswordCredential?,
    for request: EngineRequest, _ session: inout SessionLogins
  ) -> AuthenticationAnswer {
    guard let credential else { return .stand }
    guard credential.suits(offer.scheme) else { return .reject }
    let choice = Login(party: .proxy(address), scheme: offer.scheme, realm: offer.realm, credential: credential)
    switch offer.content {
    case .basic: guard BasicCredentials.fieldValue(credential) != nil else { return .reject }
    case .digest(let challenge): guard session.spaces.begin(challenge, for: choice) else { return .reject }
    case .ntlm, .negotiate:
      if offer.scheme == .ntlm { session.spaces.noteNTLM(of: choice.party) }
      if !request.isTunneled { connection.begin(choice, &session) }
    }
    self.choice = choice
    session.isUsed = true
    return .resend
  }

  /// Returns whether to send a request again after a 407 response, without asking the delegate for a credential. True if the nonce
  /// was stale, if the handshake has another message, or if the credential in the proxy's URL hasn't been tried yet.
  ///
  /// - Parameters:
  ///   - challenges: The response's challenges.
  ///   - proxy: The proxy that has sent the response.
  ///   - request: The request to send again.
  ///   - session: The state that the session's tasks share.
  mutating func resends(
    after challenges: [Challenge], from proxy: Proxy, _ request: EngineRequest, _ session: inout SessionLogins
  ) -> Bool {
    guard let address = ProxyAddress(proxy) else { return false }
    let offers = session.spaces.offers(in: challenges, from: .proxy(address))
    if let choice, choice.party == .proxy(address) {
      if !request.isTunneled, connection.isFor(choice.party) {
        if connection.resends(after: challenges, session.sources) { return true }
      } else if choice.scheme == .digest, let stale = digest.renewal(of: choice, in: offers),
        session.spaces.begin(stale, for: choice)
      {
        return true
      }
      session.connections.forget(address)
      session.spaces.drop(choice)
      self.choice = nil
    }
    defer { hasUsedOwn = true }
    guard !hasUsedOwn, let own = known.proxyCredential(proxy),
      let offer = offers.first(where: { known.proxySchemes.contains($0.scheme) && own.suits($0.scheme) }),
      // If Basic was sent preemptively, the proxy has already refused it.
      offer.scheme != .basic
        || !(known.sendsProxyCredentialFirst || session.spaces.forbidsPassword(to: .proxy(address)))
    else { return false }
    return respond(to: offer, of: address, with: own, for: request, &session) == .resend
  }

  /// Called when a request couldn't open a tunnel, because the first message of its handshake opens only one tunnel and has already
  /// been used. Returns whether to prepare the request again with a new message.
  mutating func needsAnotherMessage(_ request: EngineRequest, via proxy: Proxy) -> Bool {
    guard request.isTunneled, let choice, choice.scheme == .negotiate,
      choice.party == ProxyAddress(proxy).map({ .proxy($0) }), replacementCount < Self.replacementsMax
    else { return false }
    replacementCount += 1
    return true
  }

  // MARK: Requests

  /// Returns what to add to the next request through this proxy: the credential that the task has chosen for the proxy, or one of
  /// the `permitted` logins that the proxy has accepted earlier.
  ///
  /// If there is neither, adds nothing, and the engine sends the credential in the proxy's URL. If the engine must not send that
  /// credential, returns additions that prevent it.
  mutating func prepare(
    _ request: EngineRequest, via proxy: Proxy, permitted: [Login], _ session: inout SessionLogins
  ) -> PreparationStep<Additions> {
    digest.use = nil
    guard let address = ProxyAddress(proxy) else { return .add(nil) }
    let party = AuthenticationParty.proxy(address)
    guard let choice = choose(at: party, request, permitted, &session) else {
      let isWithheld = !known.sendsProxyCredentialFirst && proxy.user != nil
      let isForbidden = session.spaces.forbidsPassword(to: party)
      return .add(isForbidden || isWithheld ? Self.withoutCredential(request) : nil)
    }
    let group = request.isTunneled ? session.connections.tunnelGroup(choice.ofConnection) : nil
    var value: String?
    switch choice.scheme {
    case .basic: value = BasicCredentials.fieldValue(choice.credential)
    case .digest:
      let use = session.proof(of: choice, for: request)
      // In a tunnel, the head of the response comes from the origin.
      if !request.isTunneled { digest.use = use }
      value = use?.proof.fieldValue
    case .ntlm, .negotiate:
      if request.isTunneled {
        if let handshake = ConnectionHandshake(choice.ofConnection) { return .start(handshake, nil) }
      } else if connection.isFor(party) {
        return Self.additions(connection.prepare(isPassedOn: true, certificate: nil, &session), to: request)
      }
    }
    let authorization = value.map { ProxyAuthorization($0) }
    return .add(authorization.map { Additions(authorization: $0, group: group) } ?? Self.withoutCredential(request))
  }

  /// Called with a handshake that `prepare` has started, and with its first message. Returns what to add to the request.
  mutating func started(
    _ handshake: ConnectionHandshake, _ message: Result<String, ConnectionHandshake.Failure>,
    for request: EngineRequest,
    _ session: inout SessionLogins
  ) -> PreparationStep<Additions> {
    guard request.isTunneled else { return Self.additions(connection.started(handshake, message), to: request) }
    switch message {
    case .success(let value):
      let authorization = handshake.tunnelAuthorization(value, session.sources)
      return .add(Additions(authorization: authorization, group: session.connections.tunnelGroup(handshake.login)))
    case .failure(let failure): return .fail(failure)
    }
  }

  /// Returns the additions that prevent the engine from sending the credential in the proxy's URL with a request. Tunnels without a
  /// credential are in a separate group, because a request that relies on the URL's credential must not use such a tunnel.
  private static func withoutCredential(_ request: EngineRequest) -> Additions {
    Additions(
      authorization: ProxyAuthorization(nil), group: request.isTunneled ? AuthenticatedConnections.bareGroup : nil)
  }

  /// Returns what to add to a forwarded request whose connection is authenticated. If there is no credential for the connection,
  /// the additions prevent the engine from sending the password in the proxy's URL instead.
  private static func additions(
    _ step: PreparationStep<ConnectionAuthentication.Additions>, to request: EngineRequest
  ) -> PreparationStep<Additions> {
    step.map { prepared in
      guard let prepared else { return withoutCredential(request) }
      return Additions(
        authorization: prepared.value.map { ProxyAuthorization($0) }, group: prepared.group,
        needsOpenConnection: prepared.needsOpenConnection, isAnnouncement: prepared.isAnnouncement)
    }
  }

  private mutating func choose(
    at party: AuthenticationParty, _ request: EngineRequest, _ permitted: [Login], _ session: inout SessionLogins
  ) -> Login? {
    if let choice, choice.party == party { return choice }
    guard let accepted = permitted.first(where: { $0.party == party }) else { return nil }
    if !request.isTunneled {
      connection.reuse(at: party, &session) { $0.credential == accepted.credential }
    }
    choice = accepted
    return accepted
  }

  // MARK: Responses

  /// Handles the head of a response other than 407, which means that the proxy has accepted the credential. Returns the response's
  /// effect on the authentication.
  mutating func receive(
    _ head: ResponseHead, to request: EngineRequest, via proxy: Proxy, _ session: inout SessionLogins
  ) -> ResponseVerdict {
    // After a redirect, the request may use a proxy for which the credential wasn't chosen.
    guard let choice, let address = ProxyAddress(proxy), choice.party == .proxy(address) else { return .trusted }
    session.connections.note(choice, by: address)
    // In a tunnel, the head comes from the origin instead of the proxy.
    guard !request.isTunneled else { return .trusted }
    if connection.isFor(choice.party) {
      return connection.receiveSuccess(challenges: head.fields.challenges(AuthenticationFields.proxy.challenge))
    }
    return digest.verify(head.fields, .proxy, &session) ? .trusted : .untrusted
  }
}

extension ConnectionHandshake {
  /// Returns the handshake's first message `value` for CONNECT, together with a closure that answers the proxy's responses to
  /// CONNECT. The closure runs on an event loop (see `SecurityContext`). All messages of the handshake are sent on the connection
  /// that becomes the tunnel.
  func tunnelAuthorization(_ value: String, _ sources: AuthenticationSources) -> ProxyAuthorization {
    // A Negotiate token is valid only once, and its security context can't continue two handshakes.
    ProxyAuthorization(value, isSingleUse: login.scheme == .negotiate) {
      var handshake = self
      return { head in
        let token = head.fields.challenges(AuthenticationFields.proxy.challenge).token(of: login.scheme)
        return handshake.react(to: head.status, token, sources)
      }
    }
  }

  private mutating func react(
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
