// RunAuthentication: the logins of one run: the credentials that each request sends, and the answers to challenges.

import LupineAuthentication
import LupineEngine
import LupineLogin
import Synchronization

/// Decides which credentials the command sends to the origins and proxies of one run.
///
/// A login from the command line or the URL is sent only to the first origin. After a redirect to another origin, the command
/// searches the netrc file for the new host. It doesn't use the login of `default` then, because a server must not choose the host
/// that receives this login. Only the first origin with a given host gets a login, so that a redirect can't send a login to another
/// port.
final class RunAuthentication: Sendable {
  /// How the command continues after the response to a request, or after the request's failure.
  enum Decision {
    /// The command doesn't send the request again, because the response or the failure doesn't require a login, or because there is
    /// no login to send.
    case accept
    /// The command sends this request next, with a login or on another connection.
    case resend(EngineRequest)
    case fail(CommandError)
  }

  /// The login that the command may send to the origin of the current request.
  private struct Login {
    let origin: Origin
    let credential: PasswordCredential
    /// Whether the login was already sent for the current request. If the server then sends another challenge, it has refused the
    /// login.
    var isSpent: Bool
  }

  private struct State: ~Copyable {
    var login: Login?
    /// The hosts to which this run of the command has sent requests.
    var hosts: Set<String> = []
    /// The server's certificate in DER from the latest TLS connection, or nil before the first TLS connection.
    var certificate: [UInt8]?
    var task: TaskAuthentication
    var session = SessionLogins()
  }

  private let options: Options
  private let netrc: Netrc?
  private let upload: Upload
  private let known: KnownCredentials
  private let state: Mutex<State>

  /// Creates the authentication of one run of the command. Throws a `CommandError` with the code `.unreadableInput` if the netrc
  /// file can't be read or parsed.
  init(_ options: Options, of upload: Upload) throws(CommandError) {
    self.options = options
    self.upload = upload
    netrc = try options.netrc.load()
    let schemes = options.proxySchemes
    var known = KnownCredentials { proxy in
      guard let user = proxy.user, let password = proxy.password else { return nil }
      return schemes.credential(PasswordCredential(user: user, password: password))
    }
    known.proxySchemes = schemes.all
    known.sendsProxyCredentialFirst = schemes.sendsPasswordFirst
    self.known = known
    state = Mutex(State(task: TaskAuthentication(known)))
  }

  // MARK: Requests

  /// Prepares the first request of the run. Adds credentials that need no challenge: the bearer token or, if Basic is the only
  /// permitted scheme, the password. If NTLM is the only permitted scheme, its handshake starts with this request where possible.
  func begin(_ first: EngineRequest, via proxy: Proxy?) -> EngineRequest {
    var request = first
    state.withLock { _ = $0.hosts.insert(first.uri.origin.host) }
    guard !options.editsAuthorization else { return request }
    if let token = options.bearerToken {
      request.setAuthorization("Bearer \(token)")
      return request
    }
    let (credential, isOfURL) = firstCredential(for: first.uri)
    // The engine has already added the URL's user information, byte for byte.
    guard !isOfURL || !options.schemes.sendsPasswordFirst else { return request }
    request.fields.remove("Authorization")
    if let credential { add(credential, to: &request, via: proxy) }
    return request
  }

  /// Returns the request to send after a redirect. If the redirect leads to another origin, drops the earlier login, and uses the
  /// netrc file's login for the new host, if there is one.
  func redirected(_ next: EngineRequest, from origin: Origin, via proxy: Proxy?) -> EngineRequest {
    guard next.uri.origin != origin else {
      // The login may be sent again, because other resources of the origin may have another realm.
      state.withLock { state in
        if !options.schemes.sendsPasswordFirst { state.login?.isSpent = false }
      }
      return next
    }
    let isNewHost = state.withLock { state in
      state.login = nil
      return state.hosts.insert(next.uri.origin.host).inserted
    }
    guard isNewHost, !options.editsAuthorization,
      let credential = netrc?.login(for: next.uri.origin.host, allowsDefault: false)
    else { return next }
    var request = next
    add(credential, to: &request, via: proxy)
    return request
  }

  /// Returns the login for the URL of the command line, or nil if there is none. `isOfURL` states whether the login is the URL's
  /// user information.
  private func firstCredential(for uri: URI) -> (PasswordCredential?, isOfURL: Bool) {
    if let login = options.login { return (login, false) }
    let host = uri.origin.host
    guard let given = uri.login else { return (netrc?.login(for: host), false) }
    let precedes = options.netrc.takesPrecedence
    // The file's password belongs to the user that the entry names. For another user, it must not be sent.
    let found = precedes || !given.hasPassword ? netrc?.login(for: host, user: given.credential.user) : nil
    return found != nil || precedes ? (found, false) : (given.credential, true)
  }

  private func add(_ credential: PasswordCredential, to request: inout EngineRequest, via proxy: Proxy?) {
    let schemes = options.schemes
    let (origin, credential) = (request.uri.origin, schemes.credential(credential))
    let sendsPassword = schemes.sendsPasswordFirst
    // NTLM's first message needs no challenge, and is sent without the body.
    let beginsNTLM = schemes.all == [.ntlm] && (origin.scheme == .https || proxy?.scheme.speaksHTTP != true)
    if sendsPassword {
      let login = "\(credential.user):\(credential.password)"
      request.setAuthorization(BasicCredentials.fieldValue(userPass: Array(login.utf8)))
    }
    state.withLock { state in
      let hasBegun =
        !sendsPassword && beginsNTLM && state.task.begin(.ntlm, with: credential, at: origin, &state.session)
      state.login = Login(origin: origin, credential: credential, isSpent: sendsPassword || hasBegun)
    }
  }

  /// Returns the request with its credentials and the requirements on its connection. May block while Kerberos requests a ticket.
  func prepare(_ request: EngineRequest, via proxy: Proxy?) throws(CommandError) -> EngineRequest {
    var preparation = state.withLock { state in
      let permitted = state.session.candidates(for: request, via: proxy).filter { known.permits($0, via: proxy) }
      return state.task.prepare(
        request, via: proxy, permitted: permitted, certificate: state.certificate, &state.session)
    }
    while true {
      switch preparation {
      case .send(let prepared, _): return prepared
      case .fail(let failure): throw Self.failure(failure.explanation, request)
      case .start(let handshake):
        let started = handshake.run()
        preparation = state.withLock { $0.task.prepare(started, &$0.session) }
      }
    }
  }

  /// Stores the server's certificate from the TLS connection of an exchange. NTLM and Negotiate compute their channel bindings from
  /// it.
  func note(_ metrics: ExchangeMetrics) {
    guard let tls = metrics.tls else { return }
    state.withLock { $0.certificate = tls.certificateChain.first }
  }

  // MARK: Responses

  /// Decides whether to send the request again after a response. `request` is the request before `prepare` changed it.
  func decide(_ head: ResponseHead, to request: EngineRequest, via proxy: Proxy?) -> Decision {
    switch state.withLock({ $0.task.verdict(on: head, &$0.session) }) {
    case .trusted: break
    case .resend: return resend(request)
    case .untrusted: return .fail(Self.failure(ConnectionHandshake.Failure.serverIsUnproven.explanation, request))
    }
    guard head.status == 401 || head.status == 407 else { return .accept }
    return answer(.response(head), request, proxy)
  }

  /// Decides whether to send the request again after a failure. `request` is the request before `prepare` changed it.
  func decide(_ error: EngineError, to request: EngineRequest, via proxy: Proxy?) -> Decision {
    guard let refusal = AuthenticationRefusal(error) else { return .accept }
    return answer(refusal, request, proxy)
  }

  private func answer(_ refusal: AuthenticationRefusal, _ request: EngineRequest, _ proxy: Proxy?) -> Decision {
    let reaction = state.withLock { $0.task.reaction(to: refusal, request, via: proxy, &$0.session) }
    switch reaction {
    case .authorize(let value): return resend(request, authorizedBy: value)
    case .resend: return resend(request)
    case .ask(let question): return answer(question)
    case .stand: return .accept
    }
  }

  private func answer(_ question: AuthenticationQuestion) -> Decision {
    guard let credential = spend(for: question.party) else { return .accept }
    for offer in question.offers where options.schemes.all.contains(offer.scheme) {
      switch state.withLock({ $0.task.respond(to: offer, of: question, with: credential, &$0.session) }) {
      case .authorize(let value): return resend(question.request, authorizedBy: value)
      case .resend: return resend(question.request)
      case .reject: continue
      case .stand: return .accept
      }
    }
    return .accept
  }

  /// Returns the login if it is meant for `party` and hasn't been sent for the current request yet, and marks it as sent.
  /// Otherwise, returns nil.
  private func spend(for party: AuthenticationParty) -> PasswordCredential? {
    state.withLock { state in
      guard let login = state.login, !login.isSpent, party == .origin(login.origin) else { return nil }
      state.login?.isSpent = true
      return login.credential
    }
  }

  private func resend(_ request: EngineRequest, authorizedBy value: String) -> Decision {
    var next = request
    next.setAuthorization(value)
    return resend(next)
  }

  private func resend(_ request: EngineRequest) -> Decision {
    guard !request.body.isReplayable else { return .resend(request) }
    guard let body = upload.again() else {
      return .fail(
        CommandError(
          .bodyNotReplayable,
          "\(request.uri.origin): the request must be sent again with credentials, but some of its input has been read. "
            + "Send a file, or pass -H 'Expect: 100-continue', so that the server can ask for credentials first."))
    }
    var next = request
    next.body = body
    return .resend(next)
  }

  private static func failure(_ explanation: String, _ request: EngineRequest) -> CommandError {
    CommandError(.authenticationFailed, "\(request.uri.origin): \(explanation)")
  }
}

extension ConnectionHandshake.Failure {
  /// The part of the error message that states the cause of the failed authentication and the remedy.
  fileprivate var explanation: String {
    switch self {
    case .refused: "the server or the proxy has refused the login. Check it."
    case .serverIsUnproven:
      "the server or the proxy has accepted the login without proving its identity. Use https, so that no other host can "
        + "answer in its place."
    case .unable(let text): text
    }
  }
}

extension Options {
  /// Whether an option --header sets or removes the Authorization field. If so, the command sends no login.
  fileprivate var editsAuthorization: Bool { fieldEdits.contains { $0.name.lowercased() == "authorization" } }
}

extension EngineRequest {
  fileprivate mutating func setAuthorization(_ value: String) {
    fields.remove("Authorization")
    fields.append(name: "Authorization", value: value)
  }
}
