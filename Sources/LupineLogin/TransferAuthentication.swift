// TransferAuthentication: one task's authentication to origins and proxies: the additions to its requests, and their responses.

package import LupineAuthentication
package import LupineEngine
import Synchronization

/// The authentication of one task to origins and proxies. Created when the task receives its first challenge, or when the task
/// starts if the session has already answered a challenge.
package final class TransferAuthentication: Sendable {
  /// How a task continues after a server refused its request, without asking the delegate for a credential.
  package enum Continuation: Sendable, Equatable {
    /// Send the request again, with this value of the Authorization field.
    case authorize(String)
    /// Send the request again. `prepare` adds the credentials to it.
    case resend
  }

  /// The task's latest prepared request, with the proxy through which it is sent.
  private struct Sent {
    let request: EngineRequest
    let proxy: Proxy?
  }

  private let origin: TaskAuthentication
  private let proxy: ProxyAuthentication
  private let known: KnownCredentials
  private let sent = Mutex<Sent?>(nil)

  /// Creates the authentication of one task of a session. `known` are the credentials that the task may send without asking the
  /// delegate.
  package init(_ session: SessionAuthentication, _ known: KnownCredentials) {
    origin = TaskAuthentication(session, known)
    proxy = ProxyAuthentication(session, known)
    self.known = known
  }

  // MARK: Requests

  /// Returns whether `prepare` may block for a request through this proxy, because GSSAPI requests a Kerberos ticket. `proxy` is
  /// nil for a request without a proxy.
  package func mayBlock(via proxy: Proxy?) -> Bool {
    origin.connection.mayBlock || proxy.map { self.proxy.mayBlock(via: $0) } == true
  }

  /// Makes the next request to an origin begin an NTLM or Negotiate handshake without waiting for a challenge. Returns false and
  /// has no effect if the scheme isn't NTLM or Negotiate, or can't use the credential.
  package func begin(
    _ scheme: AuthenticationOffer.Scheme, with credential: PasswordCredential, at target: Origin
  ) -> Bool {
    guard scheme == .ntlm || scheme == .negotiate, credential.suits(scheme) else { return false }
    origin.connection.begin(.init(party: .origin(target), scheme: scheme, credential: credential))
    return true
  }

  /// Prepares a request before it is sent: adds the credentials, and selects the connection that they authenticate.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - proxy: The proxy of the request, or nil if the request is sent directly to the origin.
  ///   - certificate: A closure that returns the server's certificate in DER from the task's latest TLS connection, or nil without
  ///     TLS.
  package func prepare(
    _ request: inout EngineRequest, via proxy: Proxy?, certificate: () -> [UInt8]?
  ) throws(ConnectionHandshake.Failure) {
    sent.withLock { [request] in $0 = Sent(request: request, proxy: proxy) }
    origin.prepare(&request)
    var proxied: ProxyAuthentication.Preparation?
    if let proxy { proxied = try self.proxy.prepare(request, via: proxy) }
    let bound = try bound(&request, tunnel: proxied?.group, isForwarded: proxy?.forwards(request) == true, certificate)
    if proxied?.isAnnouncement == true || bound?.isAnnouncement == true { request.body = RequestBody() }
    guard proxied != nil || bound != nil else { return }
    request.connectionDemand = ConnectionDemand(
      group: bound?.group ?? proxied?.group,
      needsOpenConnection: bound?.needsOpenConnection == true || proxied?.needsOpenConnection == true,
      proxyAuthorization: proxied?.authorization)
  }

  /// Replaces the request's Authorization field if NTLM or Negotiate authenticates the connection to the origin, and returns the
  /// other additions to the request. Returns nil if neither scheme does.
  private func bound(
    _ request: inout EngineRequest, tunnel: UInt64?, isForwarded: Bool, _ certificate: () -> [UInt8]?
  ) throws(ConnectionHandshake.Failure) -> ConnectionAuthentication.Preparation? {
    let party = AuthenticationParty.origin(request.uri.origin)
    origin.connection.leave(for: party)
    if !request.fields.contains("Authorization"), tunnel == nil, !isForwarded { reuseConnection(to: party) }
    // The group of a tunnel belongs to the proxy's credential. Later tasks therefore can't use an origin's connection that is
    // authenticated within the tunnel.
    guard origin.connection.isFor(party),
      let prepared = try origin.connection.prepare(isPassedOn: tunnel == nil, certificate: certificate)
    else { return nil }
    request.fields.remove("Authorization")
    if let value = prepared.value { request.fields.append(name: "Authorization", value: value) }
    return prepared
  }

  private func reuseConnection(to party: AuthenticationParty) {
    guard let credential = known.credential else { return }
    origin.connection.reuse(at: party) { credential(party, nil, $0.scheme) == $0.credential }
  }

  /// Returns the number of the Digest authentication that has computed the request's Authorization field, or nil if the field comes
  /// from elsewhere. A number belongs to one origin, realm, user name and password, and to one session.
  package func digestAuthentication(of request: EngineRequest) -> UInt64? { origin.digestNumber(of: request) }

  /// Makes the task's authenticated connections available to later tasks. Called when the task has ended.
  package func end() {
    origin.connection.end()
    proxy.connection.end()
    // Releases the request, because it keeps its body in memory.
    sent.withLock { $0 = nil }
  }

  // MARK: Responses

  /// Determines from a response's head whether the response may be delivered to the caller. Called before the body is delivered.
  package func verdict(on head: ResponseHead) -> ResponseVerdict {
    guard let sent = sent.withLock({ $0 }) else { return .trusted }
    if let via = sent.proxy, head.status != 407 || sent.request.uri.origin.scheme == .https {
      switch proxy.receive(head, to: sent.request, via: via) {
      case .resend: return .resend
      case .untrusted: return .untrusted
      case .accepted, .refused: break
      }
    }
    guard origin.verify(head.fields) else { return .untrusted }
    guard head.status != 401, head.status != 407, origin.connection.isFor(.origin(sent.request.uri.origin)) else {
      return .trusted
    }
    return switch origin.connection.receiveSuccess(challenges: head.fields.challenges("WWW-Authenticate")) {
    case .accepted, .refused: .trusted
    case .resend: .resend
    case .untrusted: .untrusted
    }
  }

  /// Returns how to continue after a server refused a request, if that is possible without asking the delegate for a credential.
  /// Otherwise, returns nil.
  package func continuation(
    after cause: AuthenticationRefusal, _ request: EngineRequest, via proxy: Proxy?
  ) -> Continuation? {
    switch cause {
    case .missingConnection:
      let isMissing =
        origin.connection.connectionIsMissing() || self.proxy.connection.connectionIsMissing()
        || proxy.map { self.proxy.needsAnotherMessage(request, via: $0) } == true
      return isMissing ? .resend : nil
    case .tunnel(let challenges, _):
      return proxy.map { self.proxy.resends(after: challenges, from: $0, request) } == true ? .resend : nil
    case .response(let head) where head.status == 407:
      guard let proxy, proxy.forwards(request) else { return nil }
      let challenges = head.fields.challenges(AuthenticationFields.proxy.challenge)
      return self.proxy.resends(after: challenges, from: proxy, request) ? .resend : nil
    case .response(let head):
      if let value = origin.renewed(afterStatus: head.status, head.fields, to: request) { return .authorize(value) }
      guard origin.connection.isFor(.origin(request.uri.origin)) else { return nil }
      return origin.connection.receive(challenges: head.fields.challenges("WWW-Authenticate")) == .resend
        ? .resend : nil
    }
  }

  /// Returns the challenges for a refused request, and the server that sent them. Returns nil if a credential can't help, for
  /// example because the connection that the request requires is closed.
  package func question(
    of cause: AuthenticationRefusal, _ request: EngineRequest, via proxy: Proxy?
  ) -> AuthenticationQuestion? {
    switch cause {
    case .missingConnection: return nil
    case .tunnel(let challenges, _): return question(challenges, by: proxy)
    case .response(let head) where head.status == 407:
      guard let proxy, proxy.forwards(request) else { return nil }
      return question(head.fields.challenges(AuthenticationFields.proxy.challenge), by: proxy)
    case .response(let head):
      var challenges = head.fields.challenges(AuthenticationFields.origin.challenge)
      // A forwarding proxy may use one connection to the origin for several clients, so an authenticated connection isn't safe
      // unless the proxy declares otherwise (RFC 4559 §6).
      if proxy?.forwards(request) == true,
        head.fields.list("Proxy-Support")?.lowercased().contains("session-based-authentication") != true
      {
        challenges.removeAll { $0.isOf(scheme: "NTLM") || $0.isOf(scheme: "Negotiate") }
      }
      return AuthenticationQuestion(party: .origin(request.uri.origin), challenges: challenges, answering: origin)
    }
  }

  private func question(_ challenges: [Challenge], by proxy: Proxy?) -> AuthenticationQuestion? {
    guard let proxy, let address = ProxyAddress(proxy) else { return nil }
    return AuthenticationQuestion(
      party: .proxy(address), challenges: challenges,
      answering: ProxyAnswering(authentication: self.proxy, proxy: proxy))
  }
}

extension Proxy {
  /// Returns whether this proxy forwards the request, instead of opening a tunnel for it.
  fileprivate func forwards(_ request: EngineRequest) -> Bool {
    ProxyAddress(self) != nil && request.uri.origin.scheme == .http && !request.needsTunnel
  }
}
