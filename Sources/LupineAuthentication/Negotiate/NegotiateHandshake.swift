// NegotiateHandshake: the client's side of a Negotiate authentication on one connection (RFC 4559 §4, §5).

/// The client's side of one Negotiate authentication. It exchanges tokens with a server, and verifies that the server has proven
/// its identity.
package struct NegotiateHandshake: Sendable {
  /// The reason why a Negotiate handshake failed.
  package enum Failure: Error, Sendable, Hashable {
    /// GSSAPI can't establish the security context, for example because there is no Kerberos ticket.
    case context(SecurityContextError)
    /// The server refused the client's token: its 401 or 407 response has no token, or has a token that completes the handshake.
    case refused
    /// The server accepted the request, but hasn't proven its identity.
    case serverIsUnproven
    /// The Negotiate handshake would need more than `NegotiateHandshake.stepsMax` steps of its security context.
    case tooManySteps
  }

  /// The maximum number of steps of the security context in one Negotiate handshake: 10. Kerberos usually takes one step, and NTLM
  /// within SPNEGO takes three.
  package static let stepsMax = 10

  private enum State {
    /// The security context requires another token from the server. `stepCount` is the number of steps so far.
    case open(stepCount: Int)
    /// The security context is established, and needs no further token from the server.
    case established
    case failed(Failure)
  }

  private var context: any SecurityContext
  private var state = State.open(stepCount: 0)

  /// Creates a Negotiate handshake with a security context that hasn't taken a step yet.
  package init(_ context: any SecurityContext) { self.context = context }

  /// Returns the Negotiate token to send with the first request.
  package mutating func start() throws(Failure) -> [UInt8] { try next(after: nil) }

  /// Returns the Negotiate token to send after a 401 or 407 response.
  ///
  /// - Parameter token: The token in the response's challenge, or nil if the challenge has none. Nil means that the server refused
  ///   the credential.
  package mutating func answer(_ token: [UInt8]?) throws(Failure) -> [UInt8] {
    guard let token, case .open = state else { return try fail(.refused) }
    return try next(after: token)
  }

  /// Verifies, after a response other than 401 and 407, that the server has proven its identity. Throws the reason if it hasn't.
  ///
  /// - Parameter token: The token of the response's WWW-Authenticate or Proxy-Authenticate field, or nil if it has none.
  package mutating func finish(_ token: [UInt8]?) throws(Failure) {
    switch state {
    case .established: return
    case .failed(let failure): throw failure
    case .open:
      guard let token else { return try fail(.serverIsUnproven) }
      switch try step(token) {
      case .established(_, isMutual: true): state = .established
      case .established, .proceed: return try fail(.serverIsUnproven)
      }
    }
  }

  private mutating func next(after token: [UInt8]?) throws(Failure) -> [UInt8] {
    switch try step(token) {
    case .proceed(let next): return next
    case .established(let next?, isMutual: true):
      state = .established
      return next
    // The server has authenticated the user, but refuses the request.
    case .established(nil, isMutual: _): return try fail(.refused)
    case .established: return try fail(.serverIsUnproven)
    }
  }

  private mutating func step(_ token: [UInt8]?) throws(Failure) -> SecurityContextStep {
    switch state {
    case .established: return try fail(.refused)
    case .failed(let failure): throw failure
    case .open(let stepCount):
      guard stepCount < Self.stepsMax else { return try fail(.tooManySteps) }
      state = .open(stepCount: stepCount + 1)
      do throws(SecurityContextError) {
        return try context.step(token)
      } catch {
        return try fail(.context(error))
      }
    }
  }

  /// Marks the handshake as failed, so that every later call throws the same error. Always throws `failure`; the return type only
  /// lets callers write `return try fail(…)`.
  private mutating func fail<Result>(_ failure: Failure) throws(Failure) -> Result {
    state = .failed(failure)
    throw failure
  }
}
