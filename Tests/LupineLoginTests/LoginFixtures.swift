// LoginFixtures: the authentications of tasks and of their session, whose handshakes start at once.

import LupineAuthentication
import LupineEngine

@testable import LupineLogin

/// The state that the tasks of a session share.
final class LoginSession {
  var logins: SessionLogins

  init(_ sources: AuthenticationSources = AuthenticationSources(nonce: { "c" })) { logins = SessionLogins(sources) }

  /// Creates a session whose security contexts are copies of `context`.
  convenience init(_ context: some SecurityContext) {
    self.init(AuthenticationSources(context: { _, _ in context }))
  }
}

extension KnownCredentials {
  /// The user names and passwords in the URLs of proxies.
  static var ofProxies: KnownCredentials {
    KnownCredentials { proxy in
      guard let user = proxy.user, let password = proxy.password else { return nil }
      return PasswordCredential(user: user, password: password)
    }
  }
}

/// One task's authentication.
final class LoginTask {
  var task: TaskAuthentication
  let session: LoginSession
  let known: KnownCredentials
  /// Whether the preparation of a request has started a handshake that may block.
  private(set) var mayHaveBlocked = false

  init(_ session: LoginSession, _ known: KnownCredentials = .ofProxies) {
    self.session = session
    self.known = known
    task = TaskAuthentication(known)
  }

  func prepare(
    _ request: EngineRequest, via proxy: Proxy? = nil, certificate: [UInt8]? = nil
  ) throws(ConnectionHandshake.Failure) -> (request: EngineRequest, digest: UInt64?) {
    let permitted = session.logins.candidates(for: request, via: proxy).filter { known.permits($0, via: proxy) }
    var step = task.prepare(request, via: proxy, permitted: permitted, certificate: certificate, &session.logins)
    while true {
      switch step {
      case .send(let request, let digest): return (request, digest)
      case .fail(let failure): throw failure
      case .start(let handshake):
        if handshake.mayBlock { mayHaveBlocked = true }
        step = task.prepare(handshake.run(), &session.logins)
      }
    }
  }

  func begin(_ scheme: AuthenticationOffer.Scheme, with credential: PasswordCredential, at origin: Origin) -> Bool {
    task.begin(scheme, with: credential, at: origin, &session.logins)
  }

  func verdict(on head: ResponseHead) -> ResponseVerdict { task.verdict(on: head, &session.logins) }

  func reaction(
    to cause: AuthenticationRefusal, _ request: EngineRequest, via proxy: Proxy? = nil
  ) -> TaskAuthentication.Reaction {
    task.reaction(to: cause, request, via: proxy, &session.logins)
  }

  func respond(
    to offer: AuthenticationOffer, of question: AuthenticationQuestion, with credential: PasswordCredential?
  ) -> AuthenticationAnswer {
    task.respond(to: offer, of: question, with: credential, &session.logins)
  }

  func end() { task.end(&session.logins) }
}

/// The authentication of one connection.
final class LoginConnection {
  private var authentication = ConnectionAuthentication()
  let session: LoginSession

  init(_ session: LoginSession) { self.session = session }

  /// Returns the additions to the next request, and whether its preparation has started a handshake.
  func start(
    isPassedOn: Bool = true, certificate: [UInt8]? = nil
  ) throws(ConnectionHandshake.Failure) -> (additions: ConnectionAuthentication.Additions?, didStart: Bool) {
    let step = authentication.prepare(isPassedOn: isPassedOn, certificate: certificate, &session.logins)
    return (try finish(step), step.isStart)
  }

  func prepare(
    isPassedOn: Bool = true, certificate: [UInt8]? = nil
  ) throws(ConnectionHandshake.Failure) -> ConnectionAuthentication.Additions? {
    try start(isPassedOn: isPassedOn, certificate: certificate).additions
  }

  private func finish(
    _ step: PreparationStep<ConnectionAuthentication.Additions>
  ) throws(ConnectionHandshake.Failure) -> ConnectionAuthentication.Additions? {
    try step.run(session.logins.sources) { authentication.started($0, $1) }
  }

  func begin(_ login: Login) { authentication.begin(login, &session.logins) }
  func resends(after challenges: [Challenge]) -> Bool {
    authentication.resends(after: challenges, session.logins.sources)
  }
  func receiveSuccess(challenges: [Challenge]) -> ResponseVerdict {
    authentication.receiveSuccess(challenges: challenges)
  }
  func connectionIsMissing() -> Bool { authentication.connectionIsMissing() }
  func isFor(_ party: AuthenticationParty) -> Bool { authentication.isFor(party) }
  func leave(for party: AuthenticationParty) { authentication.leave(for: party, &session.logins) }
  func reuse(at party: AuthenticationParty) { authentication.reuse(at: party, &session.logins) { _ in true } }
  func end() { authentication.end(&session.logins) }
}

/// One task's authentication to its proxy.
final class LoginProxy {
  private var authentication = ProxyAuthentication(.ofProxies)
  let session: LoginSession

  init(_ session: LoginSession) { self.session = session }

  func prepare(
    _ request: EngineRequest, via proxy: Proxy
  ) throws(ConnectionHandshake.Failure) -> ProxyAuthentication.Additions? {
    let permitted = session.logins.candidates(for: request, via: proxy).filter {
      KnownCredentials.ofProxies.permits($0, via: proxy)
    }
    return try authentication.prepare(request, via: proxy, permitted: permitted, &session.logins)
      .run(session.logins.sources) { authentication.started($0, $1, for: request, &session.logins) }
  }

  func respond(
    to offer: AuthenticationOffer, of address: ProxyAddress, with credential: PasswordCredential,
    for request: EngineRequest
  ) -> AuthenticationAnswer {
    authentication.respond(to: offer, of: address, with: credential, for: request, &session.logins)
  }

  func resends(after challenges: [Challenge], from proxy: Proxy, _ request: EngineRequest) -> Bool {
    authentication.resends(after: challenges, from: proxy, request, &session.logins)
  }

  func needsAnotherMessage(_ request: EngineRequest, via proxy: Proxy) -> Bool {
    authentication.needsAnotherMessage(request, via: proxy)
  }

  func receive(_ head: ResponseHead, to request: EngineRequest, via proxy: Proxy) -> ResponseVerdict {
    authentication.receive(head, to: request, via: proxy, &session.logins)
  }
}

extension PreparationStep {
  fileprivate var isStart: Bool { if case .start = self { true } else { false } }

  /// Creates the first message of the handshake, if one must be started, and returns the additions.
  fileprivate func run(
    _ sources: AuthenticationSources,
    _ started: (ConnectionHandshake, Result<String, ConnectionHandshake.Failure>) -> PreparationStep
  ) throws(ConnectionHandshake.Failure) -> Additions? {
    switch self {
    case .add(let additions): return additions
    case .fail(let failure): throw failure
    case .start(var handshake, let binding):
      let message = Result { () throws(ConnectionHandshake.Failure) in try handshake.first(binding, sources) }
      return try started(handshake, message).run(sources, started)
    }
  }
}
