// TaskAuthentication: one task's authentication to origins and proxies: the additions to its requests, and their responses.

package import LupineAuthentication
package import LupineEngine

/// The authentication of one task to origins and proxies. It takes events and returns what to do, without locks, I/O or callbacks:
/// its owner guards it with the task's lock, and passes the state that the session's tasks share.
///
/// Created when the task receives its first challenge, or when the task starts if the session has already answered a challenge.
package struct TaskAuthentication: Sendable {
  /// The next step in the preparation of a request.
  package enum Preparation: Sendable {
    /// Send this request. `digest` is the number of the Digest authentication that has computed its Authorization field, or nil if
    /// the field comes from elsewhere. A number belongs to one origin, realm, user name and password, and to one session.
    case send(EngineRequest, digest: UInt64?)
    /// Start this handshake without holding a lock, and pass the result to `prepare`.
    case start(HandshakeStart)
    case fail(ConnectionHandshake.Failure)
  }

  /// How a task continues after a server refused its request.
  package enum Reaction: Sendable {
    /// Send the request again, with this value of the Authorization field, because only the nonce was stale.
    case authorize(String)
    /// Send the request again. `prepare` adds the credentials to it.
    case resend
    /// Ask for a credential that answers one of the challenges.
    case ask(AuthenticationQuestion)
    /// A credential can't help, for example because the connection that the request requires is closed.
    case stand
  }

  /// A request in preparation, with the additions for its proxy.
  fileprivate struct Draft: Sendable {
    var request: EngineRequest
    let proxy: Proxy?
    let permitted: [Login]
    let certificate: [UInt8]?
    var proxied: ProxyAuthentication.Additions?
  }

  /// A handshake whose first message must be created before the request can be sent.
  package struct HandshakeStart: Sendable {
    fileprivate let draft: Draft
    fileprivate let handshake: ConnectionHandshake
    fileprivate let binding: ChannelBinding?
    fileprivate let sources: AuthenticationSources

    /// Whether `run` may block, because GSSAPI requests a Kerberos ticket.
    package var mayBlock: Bool { handshake.login.scheme == .negotiate }

    /// Creates the first message of the handshake.
    package func run() -> StartedHandshake {
      var handshake = handshake
      let message = Result { () throws(ConnectionHandshake.Failure) in try handshake.first(binding, sources) }
      return StartedHandshake(draft: draft, handshake: handshake, message: message)
    }
  }

  /// A handshake with its first message.
  package struct StartedHandshake: Sendable {
    fileprivate let draft: Draft
    fileprivate let handshake: ConnectionHandshake
    fileprivate let message: Result<String, ConnectionHandshake.Failure>
  }

  /// The task's latest prepared request, with the proxy through which it is sent.
  private struct Sent {
    let request: EngineRequest
    let proxy: Proxy?
  }

  private var origin = OriginAuthentication()
  private var proxy: ProxyAuthentication
  private var sent: Sent?

  /// Creates the authentication of one task. `known` contains the credentials in the URLs of proxies.
  package init(_ known: KnownCredentials) { proxy = ProxyAuthentication(known) }

  // MARK: Requests

  /// Makes the next request to an origin begin an NTLM or Negotiate handshake without waiting for a challenge. Returns false and
  /// has no effect if the scheme isn't NTLM or Negotiate, or can't use the credential.
  package mutating func begin(
    _ scheme: AuthenticationOffer.Scheme, with credential: PasswordCredential, at target: Origin,
    _ session: inout SessionLogins
  ) -> Bool {
    guard scheme == .ntlm || scheme == .negotiate, credential.suits(scheme) else { return false }
    origin.connection.begin(Login(party: .origin(target), scheme: scheme, credential: credential), &session)
    return true
  }

  /// Prepares a request before it is sent: adds the credentials, and selects the connection that they authenticate.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - proxy: The proxy of the request, or nil if the request is sent directly to the origin.
  ///   - permitted: Those of `session.candidates(for:via:)` that the task may send (`KnownCredentials.permits`).
  ///   - certificate: The server's certificate in DER from the task's latest TLS connection, or nil without TLS.
  ///   - session: The state that the session's tasks share.
  package mutating func prepare(
    _ request: EngineRequest, via proxy: Proxy?, permitted: [Login], certificate: [UInt8]?,
    _ session: inout SessionLogins
  ) -> Preparation {
    sent = Sent(request: request, proxy: proxy)
    // Before a redirect to http, the task may have used TLS.
    let isEncrypted = request.uri.origin.scheme == .https
    var draft = Draft(
      request: request, proxy: proxy, permitted: permitted, certificate: isEncrypted ? certificate : nil)
    origin.prepare(&draft.request, permitted: permitted, &session)
    guard let proxy else { return proceed(draft, .add(nil), &session) }
    return proceed(draft, self.proxy.prepare(draft.request, via: proxy, permitted: permitted, &session), &session)
  }

  /// Continues the preparation of a request after a handshake was started.
  package mutating func prepare(_ started: StartedHandshake, _ session: inout SessionLogins) -> Preparation {
    let (draft, handshake, message) = (started.draft, started.handshake, started.message)
    return switch handshake.login.party {
    case .origin: finish(draft, origin.connection.started(handshake, message), session.sources)
    case .proxy: proceed(draft, proxy.started(handshake, message, for: draft.request, &session), &session)
    }
  }

  /// Prepares the connection to the origin, after the proxy's part of the preparation.
  private mutating func proceed(
    _ draft: Draft, _ step: PreparationStep<ProxyAuthentication.Additions>, _ session: inout SessionLogins
  ) -> Preparation {
    var draft = draft
    switch step {
    case .add(let additions): draft.proxied = additions
    case .start(let handshake, let binding):
      return .start(
        HandshakeStart(draft: draft, handshake: handshake, binding: binding, sources: session.sources))
    case .fail(let failure): return .fail(failure)
    }
    let request = draft.request
    let party = AuthenticationParty.origin(request.uri.origin)
    let tunnel = draft.proxied?.group
    origin.connection.leave(for: party, &session)
    if !request.fields.contains("Authorization"), tunnel == nil, draft.proxy?.forwards(request) != true {
      origin.connection.reuse(at: party, &session) { draft.permitted.contains($0) }
    }
    guard origin.connection.isFor(party) else { return finish(draft, .add(nil), session.sources) }
    // The group of a tunnel belongs to the proxy's credential. Later tasks therefore can't use an origin's connection that is
    // authenticated within the tunnel.
    let bound = origin.connection.prepare(isPassedOn: tunnel == nil, certificate: draft.certificate, &session)
    return finish(draft, bound, session.sources)
  }

  /// Replaces the request's Authorization field if NTLM or Negotiate authenticates the connection to the origin, and adds the
  /// requirements on the connection.
  private func finish(
    _ draft: Draft, _ step: PreparationStep<ConnectionAuthentication.Additions>, _ sources: AuthenticationSources
  ) -> Preparation {
    let bound: ConnectionAuthentication.Additions?
    switch step {
    case .add(let additions): bound = additions
    case .start(let handshake, let binding):
      return .start(HandshakeStart(draft: draft, handshake: handshake, binding: binding, sources: sources))
    case .fail(let failure): return .fail(failure)
    }
    var (request, proxied) = (draft.request, draft.proxied)
    if let bound {
      request.fields.remove("Authorization")
      if let value = bound.value { request.fields.append(name: "Authorization", value: value) }
    }
    if proxied?.isAnnouncement == true || bound?.isAnnouncement == true { request.body = RequestBody() }
    if proxied != nil || bound != nil {
      request.connectionDemand = ConnectionDemand(
        group: bound?.group ?? proxied?.group,
        needsOpenConnection: bound?.needsOpenConnection == true || proxied?.needsOpenConnection == true,
        proxyAuthorization: proxied?.authorization)
    }
    return .send(request, digest: origin.digestNumber(of: request))
  }

  /// Makes the task's authenticated connections available to later tasks. Called when the task has ended.
  package mutating func end(_ session: inout SessionLogins) {
    origin.connection.end(&session)
    proxy.connection.end(&session)
  }

  // MARK: Responses

  /// Determines from a response's head whether the response may be delivered to the caller. Called before the body is delivered.
  package mutating func verdict(on head: ResponseHead, _ session: inout SessionLogins) -> ResponseVerdict {
    guard let sent else { return .trusted }
    if let via = sent.proxy, head.status != 407 || sent.request.uri.origin.scheme == .https {
      let verdict = proxy.receive(head, to: sent.request, via: via, &session)
      guard verdict == .trusted else { return verdict }
    }
    return origin.receive(head, to: sent.request, &session)
  }

  /// Returns how to continue after a server refused a request.
  package mutating func reaction(
    to cause: AuthenticationRefusal, _ request: EngineRequest, via proxy: Proxy?, _ session: inout SessionLogins
  ) -> Reaction {
    switch cause {
    case .missingConnection:
      let isMissing =
        origin.connection.connectionIsMissing() || self.proxy.connection.connectionIsMissing()
        || proxy.map { self.proxy.needsAnotherMessage(request, via: $0) } == true
      if isMissing { return .resend }
    case .tunnel(let challenges, _):
      if let proxy, self.proxy.resends(after: challenges, from: proxy, request, &session) { return .resend }
    case .response(let head) where head.status == 407:
      let challenges = head.fields.challenges(AuthenticationFields.proxy.challenge)
      if let proxy, proxy.forwards(request), self.proxy.resends(after: challenges, from: proxy, request, &session) {
        return .resend
      }
    case .response(let head):
      if let value = origin.renewed(after: head, to: request, &session) { return .authorize(value) }
      let challenges = head.fields.challenges(AuthenticationFields.origin.challenge)
      if origin.connection.isFor(.origin(request.uri.origin)),
        origin.connection.resends(after: challenges, session.sources)
      {
        return .resend
      }
    }
    return question(of: cause, request, via: proxy, session).map { .ask($0) } ?? .stand
  }

  /// Returns the challenges for a refused request, and the server that sent them. Returns nil if a credential can't help.
  package func question(
    of cause: AuthenticationRefusal, _ request: EngineRequest, via proxy: Proxy?, _ session: borrowing SessionLogins
  ) -> AuthenticationQuestion? {
    let (party, challenges): (AuthenticationParty, [Challenge])
    switch cause {
    case .missingConnection: return nil
    case .tunnel(let all, _):
      guard let address = proxy.flatMap({ ProxyAddress($0) }) else { return nil }
      (party, challenges) = (.proxy(address), all)
    case .response(let head) where head.status == 407:
      guard let proxy, proxy.forwards(request), let address = ProxyAddress(proxy) else { return nil }
      (party, challenges) = (.proxy(address), head.fields.challenges(AuthenticationFields.proxy.challenge))
    case .response(let head):
      var all = head.fields.challenges(AuthenticationFields.origin.challenge)
      // A forwarding proxy may use one connection to the origin for several clients, so an authenticated connection isn't safe
      // unless the proxy declares otherwise (RFC 4559 §6).
      if proxy?.forwards(request) == true,
        head.fields.list("Proxy-Support")?.lowercased().contains("session-based-authentication") != true
      {
        all.removeAll { $0.isOf(scheme: "NTLM") || $0.isOf(scheme: "Negotiate") }
      }
      (party, challenges) = (.origin(request.uri.origin), all)
    }
    return AuthenticationQuestion(
      party: party, offers: session.spaces.offers(in: challenges, from: party), request: request)
  }

  /// Answers a challenge with the credential that the caller has chosen, and returns the decision about the refused request.
  /// `credential` is nil if the chosen credential has no password.
  package mutating func respond(
    to offer: AuthenticationOffer, of question: AuthenticationQuestion, with credential: PasswordCredential?,
    _ session: inout SessionLogins
  ) -> AuthenticationAnswer {
    switch question.party {
    case .origin: origin.respond(to: offer, with: credential, for: question.request, &session)
    case .proxy(let address):
      proxy.respond(to: offer, of: address, with: credential, for: question.request, &session)
    }
  }
}

extension Proxy {
  /// Returns whether this proxy forwards the request, instead of opening a tunnel for it.
  fileprivate func forwards(_ request: EngineRequest) -> Bool {
    ProxyAddress(self) != nil && !request.isTunneled
  }
}
