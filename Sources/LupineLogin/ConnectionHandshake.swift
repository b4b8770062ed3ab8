// ConnectionHandshake: the authentication of one connection by NTLM or Negotiate, message by message (MS-NLMP, RFC 4559).

import LupineAuthentication
import LupineEngine

/// The client's side of one NTLM or Negotiate handshake with an origin or a proxy.
package struct ConnectionHandshake: Sendable {
  private enum Machine: Sendable {
    case ntlm(NTLMHandshake)
    /// The Negotiate handshake, or nil until the first message is created. It isn't created earlier, because creating its security
    /// context may block.
    case negotiate(NegotiateHandshake?)
  }

  /// The reason why the NTLM or Negotiate handshake failed.
  package enum Failure: Error, Sendable, Hashable {
    /// The origin or the proxy has refused the credential or the authentication scheme.
    case refused
    /// The server has accepted the credential, but hasn't proven its own identity.
    case serverIsUnproven
    /// The client can't continue the handshake. The associated value states the cause and the remedy.
    case unable(String)
  }

  let login: Login
  private var machine: Machine

  /// Creates a handshake with the scheme and the credential of `login`. Returns nil for Basic and Digest, which have no handshake.
  init?(_ login: Login) {
    switch login.scheme {
    case .ntlm: machine = .ntlm(NTLMHandshake())
    case .negotiate: machine = .negotiate(nil)
    case .basic, .digest: return nil
    }
    self.login = login
  }

  /// Whether the request with the handshake's first message is sent without its content. True for NTLM, whose first message never
  /// completes the handshake.
  var announcesFirst: Bool { login.scheme == .ntlm }

  /// Returns the value of the Authorization or Proxy-Authorization field with the handshake's first message. With Negotiate, the
  /// call may block.
  ///
  /// - Parameters:
  ///   - binding: The channel binding of the server's TLS connections, or nil without TLS.
  ///   - sources: The source of security contexts.
  mutating func first(_ binding: ChannelBinding?, _ sources: AuthenticationSources) throws(Failure) -> String {
    switch machine {
    case .ntlm(var handshake):
      defer { machine = .ntlm(handshake) }
      return Self.value("NTLM", handshake.start())
    case .negotiate:
      let start: NegotiateHandshake
      do throws(SecurityContextError) {
        start = NegotiateHandshake(try sources.context(login.party.host, binding))
      } catch {
        throw .unable(error.description)
      }
      return try negotiate(start) { handshake throws(NegotiateHandshake.Failure) in
        try handshake.start()
      }
    }
  }

  /// Returns the value of the Authorization or Proxy-Authorization field that answers a 401 or 407 response.
  ///
  /// - Parameters:
  ///   - token: The token in the response's challenge, or nil if the challenge has none.
  ///   - binding: The channel binding of the TLS connection, or nil without TLS.
  ///   - sources: The sources of time and random bytes.
  mutating func answer(
    _ token: [UInt8]?, _ binding: ChannelBinding?, _ sources: AuthenticationSources
  ) throws(Failure) -> String {
    switch machine {
    case .ntlm(var handshake):
      defer { machine = .ntlm(handshake) }
      let parameters = NTLMHandshake.Context(
        credential: login.credential, host: login.party.host, binding: binding, time: sources.time(),
        nonce: sources.bytes())
      do throws(NTLMError) {
        return Self.value("NTLM", try handshake.answer(token, with: parameters))
      } catch {
        throw Failure(error)
      }
    case .negotiate(let handshake?):
      return try negotiate(handshake) { handshake throws(NegotiateHandshake.Failure) in
        try handshake.answer(token)
      }
    case .negotiate(nil): throw .refused
    }
  }

  /// Verifies that a server that has accepted the credential has also proven its own identity. Throws the reason if it hasn't.
  ///
  /// An origin must prove its identity. A proxy may omit the proof, as squid does, because the messages that the client sends to it
  /// reveal nothing that another server could use. If the proxy sends a proof, the proof must be valid.
  ///
  /// - Parameter token: The token in the response's WWW-Authenticate or Proxy-Authenticate field, or nil if there is none.
  mutating func finish(_ token: [UInt8]?) throws(Failure) {
    guard case .negotiate(var handshake?) = machine else { return }
    if token == nil, case .proxy = login.party { return }
    defer { machine = .negotiate(handshake) }
    do {
      try handshake.finish(token)
    } catch {
      throw Failure(error)
    }
  }

  private mutating func negotiate(
    _ start: NegotiateHandshake,
    _ step: (inout NegotiateHandshake) throws(NegotiateHandshake.Failure) -> [UInt8]
  ) throws(Failure) -> String {
    var handshake = start
    defer { machine = .negotiate(handshake) }
    do throws(NegotiateHandshake.Failure) {
      return Self.value("Negotiate", try step(&handshake))
    } catch {
      throw Failure(error)
    }
  }

  private static func value(_ scheme: String, _ message: [UInt8]) -> String { "\(scheme) \(Base64.encode(message))" }
}

extension ConnectionHandshake.Failure {
  fileprivate init(_ error: NTLMError) {
    self =
      switch error {
      case .refused, .noChallenge: .refused
      case .malformed(let part):
        .unable("The server's NTLM challenge is malformed (\(part)). Fix the server, or disable NTLM on it.")
      case .tooLong:
        .unable("An NTLM message is too long. Shorten the user name, or fix the server.")
      case .versionIsTooOld:
        .unable("The server supports only NTLM versions that reveal the password. Enable NTLMv2 on it.")
      case .hashIsUnavailable:
        .unable("OpenSSL's configuration forbids MD5, which NTLM requires. Use another scheme.")
      }
  }

  fileprivate init(_ failure: NegotiateHandshake.Failure) {
    self =
      switch failure {
      case .context(let error): .unable(error.description)
      case .refused: .refused
      case .serverIsUnproven: .serverIsUnproven
      case .tooManySteps: .unable("The server sent too many Negotiate tokens. Fix the server.")
      }
  }
}

extension [Challenge] {
  /// Returns the token in the first challenge with the scheme `scheme`. Returns nil if no challenge has this scheme, or if that
  /// challenge has no token.
  func token(of scheme: AuthenticationOffer.Scheme) -> [UInt8]? {
    for offer in lazy.compactMap({ AuthenticationOffer($0) }) where offer.scheme == scheme {
      switch offer.content {
      case .ntlm(let token), .negotiate(let token): return token
      case .basic, .digest: return nil
      }
    }
    return nil
  }
}
