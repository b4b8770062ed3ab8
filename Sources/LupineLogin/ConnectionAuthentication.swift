// ConnectionAuthentication: one task's use of NTLM or Negotiate, which authenticate a connection instead of a request. From the
// first message until it closes, the connection is in a separate group, so that other credentials don't use it.

import LupineAuthentication
import LupineEngine
import Synchronization

/// The NTLM or Negotiate authentication of one task's connection to an origin, or to a proxy that forwards the task's requests.
final class ConnectionAuthentication: Sendable {
  /// The additions to a request that authenticates its connection: a field, and requirements on the request's connection and
  /// content.
  struct Preparation: Sendable {
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

  /// The effect of a response on the authentication of the connection.
  enum Verdict: Sendable, Hashable {
    /// The connection is authenticated, or the response doesn't concern the authentication.
    case accepted
    /// The client must send the request again, without asking the delegate for a credential.
    case resend
    /// The server has refused the credential.
    case refused
    /// The server has accepted the credential, but hasn't proven its own identity.
    case untrusted
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

  private struct State {
    var phase = Phase.none
    var use: (key: AuthenticatedConnections.Key, group: UInt64)?
    /// Whether later tasks may use the connection that this task has authenticated.
    var isPassedOn = false
    /// Whether the task chose the credential before the server sent a challenge.
    var isPreemptive = false
    /// The number of times that the task has restarted its NTLM or Negotiate handshake. The task restarts the handshake if the
    /// server has ended the authentication of the connection, or if the connection was closed.
    var restartCount = 0
  }

  /// The maximum number of times that one task begins its handshake again: 1. Without this limit, a server that ends the
  /// authentication after each request, or closes the connection during each handshake, would make the client send a request
  /// forever.
  private static let restartsMax = 1

  private let session: SessionAuthentication
  /// The state of the authentication. Its lock and the lock of the session's connections are never held at the same time.
  private let state = Mutex(State())

  init(_ session: SessionAuthentication) { self.session = session }

  /// Makes the task's authenticated connection available to later tasks with the same credential, if they may use it. Called when
  /// this task has ended, or when its next request goes to another server.
  func end() {
    let ended = state.withLock { state in
      defer { state = State(restartCount: state.restartCount) }
      return state
    }
    guard ended.isPassedOn, let use = ended.use, case .established = ended.phase else { return }
    session.connections.withLock { $0.putBack(use.group, use.key) }
  }

  /// Records the credential that was chosen for an origin or a proxy. The next request to this server uses an idle authenticated
  /// connection, or begins a handshake.
  func begin(_ key: AuthenticatedConnections.Key) {
    state.withLock { state in
      state.use = (key, 0)
      state.phase = .chosen
      state.isPreemptive = false
    }
    session.noteUse()
  }

  /// Makes the next request to `party` use an idle connection that an earlier task has authenticated. `permits` returns whether a
  /// connection's credential may be used. Has no effect if there is no such connection.
  func reuse(at party: AuthenticationParty, _ permits: (AuthenticatedConnections.Key) -> Bool) {
    guard !isFor(party) else { return }
    let keys = session.connections.withLock { $0.credentials(at: party) }
    guard let key = keys.first(where: permits),
      let group = session.connections.withLock({ $0.take(key) })
    else { return }
    state.withLock { state in
      state.use = (key, group)
      state.phase = .reused
      state.isPreemptive = true
    }
  }

  /// Stops using the authenticated connection if it leads to another server than `party`, for example after a redirect. After a
  /// redirect back to the earlier server, a connection must be chosen again.
  func leave(for party: AuthenticationParty) {
    let isElsewhere = state.withLock { $0.use.map { $0.key.party != party } ?? false }
    if isElsewhere { end() }
  }

  /// Returns whether a credential was chosen for the origin or the proxy `party`.
  func isFor(_ party: AuthenticationParty) -> Bool { state.withLock { $0.use?.key.party == party } }

  /// Whether the next call of `prepare` may block, because it requests a Kerberos ticket.
  var mayBlock: Bool {
    state.withLock { state in
      guard state.use?.key.scheme == .negotiate else { return false }
      return switch state.phase {
      case .chosen, .begun, .announced, .answered: true
      case .none, .challenged, .established, .reused: false
      }
    }
  }

  /// Returns what to add to the next request to the origin or the proxy for which a credential was chosen. Returns nil if no
  /// credential was chosen.
  ///
  /// - Parameters:
  ///   - isPassedOn: Whether the task may use a connection that an earlier task has authenticated, and pass its connection on to
  ///     later tasks.
  ///   - certificate: A closure that returns the server's certificate in DER from the task's latest TLS connection, or nil without
  ///     TLS.
  func prepare(
    isPassedOn: Bool, certificate: () -> [UInt8]?
  ) throws(ConnectionHandshake.Failure) -> Preparation? {
    choose(isPassedOn: isPassedOn)
    let (phase, use) = state.withLock { ($0.phase, $0.use) }
    guard let use else { return nil }
    var preparation = Preparation(group: use.group)
    var binding: ChannelBinding? { certificate().flatMap { ChannelBinding(serverCertificate: $0) } }
    do throws(ConnectionHandshake.Failure) {
      switch phase {
      case .none, .chosen: return nil
      case .established: break
      case .reused: preparation.needsOpenConnection = true
      // In the phases `announced` and `answered`, the message that was prepared earlier hasn't reached the server. Either the
      // exchange ended before the message was sent, for example because there was no network, or a proxy refused the request.
      // Therefore, another handshake begins.
      case .begun, .announced, .answered:
        guard var handshake = ConnectionHandshake(use.key) else { return nil }
        preparation.group = session.connections.withLock { $0.newGroup() }
        preparation.value = try handshake.first(binding, session.sources)
        preparation.isAnnouncement = handshake.announcesFirst
        state.withLock { state in
          state.use = (use.key, preparation.group)
          state.phase = .announced(handshake)
        }
      case .challenged(var handshake, let answer):
        switch answer {
        case .pending(let token): preparation.value = try handshake.answer(token, binding, session.sources)
        case .known(let value): preparation.value = try value.get()
        }
        preparation.needsOpenConnection = true
        state.withLock { $0.phase = .answered(handshake) }
      }
    } catch {
      reset()
      throw error
    }
    return preparation
  }

  private func choose(isPassedOn: Bool) {
    let chosen = state.withLock { state -> AuthenticatedConnections.Key? in
      state.isPassedOn = isPassedOn
      guard case .chosen = state.phase else { return nil }
      state.phase = .begun
      return state.use?.key
    }
    guard isPassedOn, let key = chosen, let group = session.connections.withLock({ $0.take(key) }) else { return }
    state.withLock { state in
      state.use = (key, group)
      state.phase = .reused
    }
  }

  /// Handles a 401 or 407 response from the origin or the proxy for which a credential was chosen, and returns the response's
  /// effect. `challenges` are the challenges in the response.
  func receive(challenges: [Challenge]) -> Verdict {
    state.withLock { state in
      guard let use = state.use else { return .accepted }
      switch state.phase {
      case .none, .chosen, .begun, .challenged: return .accepted
      case .announced(let handshake):
        guard let token = challenges.token(of: use.key.scheme), proceed(&state, handshake, after: token) else { break }
        return .resend
      case .answered(let handshake):
        guard use.key.scheme == .negotiate, let token = challenges.token(of: .negotiate),
          proceed(&state, handshake, after: token)
        else { break }
        return .resend
      case .reused, .established:
        guard restart(&state) else { break }
        return .resend
      }
      state = State(restartCount: state.restartCount)
      return .refused
    }
  }

  /// Handles a response other than 401 and 407 from the origin or the proxy for which a credential was chosen, and returns the
  /// response's effect. `challenges` are the challenges in the response.
  func receiveSuccess(challenges: [Challenge]) -> Verdict {
    state.withLock { state in
      guard let use = state.use else { return .accepted }
      switch state.phase {
      case .none, .chosen, .begun, .challenged, .established: return .accepted
      case .reused: state.phase = .established
      case .announced(var handshake), .answered(var handshake):
        if case .announced = state.phase, handshake.announcesFirst {
          // The server requires no credential, but has received the request without its content.
          state = State(restartCount: state.restartCount)
          return .resend
        }
        do {
          try handshake.finish(challenges.token(of: use.key.scheme))
          state.phase = .established
        } catch {
          state = State(restartCount: state.restartCount)
          return .untrusted
        }
      }
      return .accepted
    }
  }

  /// Handles the failure of a request because the connection or the tunnel that it needs isn't open. Returns whether to send the
  /// request again.
  func connectionIsMissing() -> Bool {
    state.withLock { state in
      switch state.phase {
      case .none, .chosen, .begun, .established: return false
      case .reused where state.isPreemptive:
        // A new handshake needs the channel binding, which isn't known before this task has received a challenge.
        state = State(restartCount: state.restartCount)
        return true
      // The tunnel for the first message couldn't be opened.
      case .announced: return restart(&state)
      // The engine closes a connection instead of reading a long body, so that the 401 may be the last response on it.
      case .reused, .challenged, .answered: return restart(&state)
      }
    }
  }

  /// Continues the handshake `start` with the server's token in a 401 or 407 response. Returns false if the token completes the
  /// handshake. The refusal is then final: the server has authenticated the user, but doesn't permit the request.
  private func proceed(_ state: inout State, _ start: ConnectionHandshake, after token: [UInt8]) -> Bool {
    guard start.scheme == .negotiate else {
      state.phase = .challenged(start, .pending(token))
      return true
    }
    var handshake = start
    let answer: Result<String, ConnectionHandshake.Failure>
    do throws(ConnectionHandshake.Failure) {
      answer = .success(try handshake.answer(token, nil, session.sources))
    } catch {
      guard error != .refused else { return false }
      answer = .failure(error)
    }
    state.phase = .challenged(handshake, .known(answer))
    return true
  }

  private func restart(_ state: inout State) -> Bool {
    guard state.use != nil, state.restartCount < Self.restartsMax else { return false }
    state.restartCount += 1
    state.phase = .begun
    return true
  }

  private func reset() { state.withLock { $0 = State(restartCount: $0.restartCount) } }
}
