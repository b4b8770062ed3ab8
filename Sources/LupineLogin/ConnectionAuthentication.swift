// ConnectionAuthentication: one task's use of NTLM or Negotiate, which authenticate a connection instead of a request. From the
// first message until it closes, the connection is in a separate group, so that other credentials don't use it.

import LupineAuthentication
import LupineEngine

/// The NTLM or Negotiate authentication of one task's connection to an origin, or to a proxy that forwards the task's requests.
struct ConnectionAuthentication: Sendable {
  /// The additions to a request that authenticates its connection: a field, and requirements on the request's connection and
  /// content.
  struct Additions: Sendable {
    /// The value of the Authorization or Proxy-Authorization field to send, or nil to send no such field.
    var value: String?
    var group: UInt64
    /// Whether the request may be sent only on a connection of the group `group` that is already open. If false, the engine may
    /// open a new connection.
    var needsOpenConnection = false
    /// Whether the request is sent without its content, because it only starts the NTLM handshake. The content is sent with the
    /// next message of the handshake.
    var isAnnouncement = false
  }

  private enum Phase {
    case none
    /// A credential was chosen. The task's next request uses an idle authenticated connection, or begins a handshake.
    case chosen
    /// The task's next request carries the first message of the NTLM or Negotiate handshake, on a connection in a new group.
    case begun
    /// The request with the handshake's first message was prepared. It may not have been sent.
    case announced(ConnectionHandshake)
    /// The server has sent a token. The task's next request carries the client's answer to this token.
    case challenged(ConnectionHandshake, TokenAnswer)
    /// The request with the answer to the server's token was prepared. It may not have been sent.
    case answered(ConnectionHandshake)
    /// The connection was authenticated by this task.
    case established
    /// The connection was authenticated by an earlier task. The connection may have closed in the meantime.
    case reused
  }

  /// The client's answer to a server's NTLM or Negotiate token.
  private enum TokenAnswer {
    /// The server's NTLM token. The client computes its answer when it prepares the next request.
    case pending([UInt8])
    /// The value of the Authorization field that answers the server's Negotiate token, or the reason why there is no answer.
    case known(Result<String, ConnectionHandshake.Failure>)
  }

  /// The maximum number of times that one task begins its handshake again: 1. Without this limit, a server that ends the
  /// authentication after each request, or closes the connection during each handshake, would make the client send a request
  /// forever.
  private static let restartsMax = 1

  private var phase = Phase.none
  private var use: (login: Login, group: UInt64)?
  /// Whether later tasks may use the connection that this task has authenticated.
  private var isPassedOn = false
  /// Whether the task chose the credential before the server sent a challenge.
  private var isPreemptive = false
  /// The number of times that the task has restarted its NTLM or Negotiate handshake. The task restarts the handshake if the
  /// server has ended the authentication of the connection, or if the connection was closed.
  private var restartCount = 0

  /// Makes the task's authenticated connection available to later tasks with the same credential, if they may use it. Called when
  /// this task has ended, or when its next request goes to another server.
  mutating func end(_ session: inout SessionLogins) {
    if isPassedOn, let use, case .established = phase { session.connections.putBack(use.group, use.login) }
    reset()
  }

  /// Records the credential that was chosen for an origin or a proxy. The next request to this server uses an idle authenticated
  /// connection, or begins a handshake.
  mutating func begin(_ login: Login, _ session: inout SessionLogins) {
    (use, phase, isPreemptive) = ((login.ofConnection, 0), .chosen, false)
    session.isUsed = true
  }

  /// Makes the next request to `party` use an idle connection that an earlier task has authenticated. `permits` returns whether a
  /// connection's credential may be used. Has no effect if there is no such connection.
  mutating func reuse(at party: AuthenticationParty, _ session: inout SessionLogins, _ permits: (Login) -> Bool) {
    guard !isFor(party), let login = session.connections.logins(at: party).first(where: permits),
      let group = session.connections.take(login)
    else { return }
    (use, phase, isPreemptive) = ((login, group), .reused, true)
  }

  /// Stops using the authenticated connection if it leads to another server than `party`, for example after a redirect. After a
  /// redirect back to the earlier server, a connection must be chosen again.
  mutating func leave(for party: AuthenticationParty, _ session: inout SessionLogins) {
    if let use, use.login.party != party { end(&session) }
  }

  /// Returns whether a credential was chosen for the origin or the proxy `party`.
  func isFor(_ party: AuthenticationParty) -> Bool { use?.login.party == party }

  /// Returns what to add to the next request to the origin or the proxy for which a credential was chosen: nothing if no credential
  /// was chosen. If a handshake must be started first, `started` must be called with its first message.
  ///
  /// - Parameters:
  ///   - isPassedOn: Whether the task may use a connection that an earlier task has authenticated, and pass its connection on to
  ///     later tasks.
  ///   - certificate: The server's certificate in DER from the task's latest TLS connection, or nil without TLS.
  ///   - session: The state that the session's tasks share.
  mutating func prepare(
    isPassedOn: Bool, certificate: [UInt8]?, _ session: inout SessionLogins
  ) -> PreparationStep<Additions> {
    self.isPassedOn = isPassedOn
    if case .chosen = phase {
      phase = .begun
      if isPassedOn, let login = use?.login, let group = session.connections.take(login) {
        (use, phase) = ((login, group), .reused)
      }
    }
    guard let use else { return .add(nil) }
    var additions = Additions(group: use.group)
    var binding: ChannelBinding? { certificate.flatMap { ChannelBinding(serverCertificate: $0) } }
    switch phase {
    case .none, .chosen: return .add(nil)
    case .established: break
    case .reused: additions.needsOpenConnection = true
    // In the phases `announced` and `answered`, the message that was prepared earlier hasn't reached the server. Either the
    // exchange ended before the message was sent, for example because there was no network, or a proxy refused the request.
    // Therefore, another handshake begins.
    case .begun, .announced, .answered:
      guard let handshake = ConnectionHandshake(use.login) else { return .add(nil) }
      self.use?.group = session.connections.newGroup()
      return .start(handshake, binding)
    case .challenged(var handshake, let answer):
      do throws(ConnectionHandshake.Failure) {
        switch answer {
        case .pending(let token): additions.value = try handshake.answer(token, binding, session.sources)
        case .known(let value): additions.value = try value.get()
        }
      } catch {
        reset()
        return .fail(error)
      }
      additions.needsOpenConnection = true
      phase = .answered(handshake)
    }
    return .add(additions)
  }

  /// Called with a handshake that `prepare` has started, and with its first message. Returns what to add to the request.
  mutating func started(
    _ handshake: ConnectionHandshake, _ message: Result<String, ConnectionHandshake.Failure>
  ) -> PreparationStep<Additions> {
    switch message {
    case .success(let value):
      phase = .announced(handshake)
      return .add(
        use.map { Additions(value: value, group: $0.group, isAnnouncement: handshake.announcesFirst) })
    case .failure(let failure):
      reset()
      return .fail(failure)
    }
  }

  /// Handles a 401 or 407 response from the origin or the proxy for which a credential was chosen. Returns whether to send the
  /// request again, without asking the delegate for a credential. `challenges` are the challenges in the response.
  mutating func resends(after challenges: [Challenge], _ sources: AuthenticationSources) -> Bool {
    guard let use else { return false }
    let resends: Bool
    switch phase {
    case .none, .chosen, .begun, .challenged: return false
    case .announced(let handshake):
      resends = challenges.token(of: use.login.scheme).map { proceed(handshake, after: $0, sources) } ?? false
    case .answered(let handshake) where use.login.scheme == .negotiate:
      resends = challenges.token(of: .negotiate).map { proceed(handshake, after: $0, sources) } ?? false
    case .answered: resends = false
    case .reused, .established: resends = restart()
    }
    if !resends { reset() }
    return resends
  }

  /// Handles a response other than 401 and 407 from the origin or the proxy for which a credential was chosen, and returns the
  /// response's effect. `challenges` are the challenges in the response.
  mutating func receiveSuccess(challenges: [Challenge]) -> ResponseVerdict {
    guard let use else { return .trusted }
    switch phase {
    case .none, .chosen, .begun, .challenged, .established: return .trusted
    case .reused: phase = .established
    case .announced(var handshake), .answered(var handshake):
      if case .announced = phase, handshake.announcesFirst {
        // The server requires no credential, but has received the request without its content.
        reset()
        return .resend
      }
      do {
        try handshake.finish(challenges.token(of: use.login.scheme))
        phase = .established
      } catch {
        reset()
        return .untrusted
      }
    }
    return .trusted
  }

  /// Handles the failure of a request because the connection or the tunnel that it needs isn't open. Returns whether to send the
  /// request again.
  mutating func connectionIsMissing() -> Bool {
    switch phase {
    case .none, .chosen, .begun, .established: return false
    case .reused where isPreemptive:
      // A new handshake needs the channel binding, which isn't known before this task has received a challenge.
      reset()
      return true
    // The tunnel for the first message couldn't be opened.
    case .announced: return restart()
    // The engine closes a connection instead of reading a long body, so that the 401 may be the last response on it.
    case .reused, .challenged, .answered: return restart()
    }
  }

  /// Continues the handshake `start` with the server's token in a 401 or 407 response. Returns false if the token completes the
  /// handshake. The refusal is then final: the server has authenticated the user, but doesn't permit the request.
  private mutating func proceed(
    _ start: ConnectionHandshake, after token: [UInt8], _ sources: AuthenticationSources
  ) -> Bool {
    guard start.login.scheme == .negotiate else {
      phase = .challenged(start, .pending(token))
      return true
    }
    var handshake = start
    let answer: Result<String, ConnectionHandshake.Failure>
    do throws(ConnectionHandshake.Failure) {
      answer = .success(try handshake.answer(token, nil, sources))
    } catch {
      guard error != .refused else { return false }
      answer = .failure(error)
    }
    phase = .challenged(handshake, .known(answer))
    return true
  }

  private mutating func restart() -> Bool {
    guard use != nil, restartCount < Self.restartsMax else { return false }
    restartCount += 1
    phase = .begun
    return true
  }

  /// Forgets the credential and the connection, but not how often the handshake was restarted.
  private mutating func reset() { (phase, use, isPassedOn, isPreemptive) = (.none, nil, false, false) }
}
