// Misbehaviour: one way in which a server or proxy misbehaves, with the expected outcome. The tables are in
// Misbehaviour+*.swift.

import LupineEngine
import LupineOrigin
import Testing

/// A peer's script for the request for "/main". The peer misbehaves on its first `connectionCount` connections and
/// behaves on all others.
struct Misbehaviour: Sendable, CustomTestStringConvertible {
  /// The route by which the request reaches the peer.
  enum Way: Sendable {
    /// To the origin, without TLS.
    case clear
    /// To the origin, through TLS.
    case tls
    /// To a proxy that forwards http requests.
    case forward
    /// To a proxy that opens a tunnel for TLS.
    case connect
    /// To a SOCKS proxy, with http in the tunnel.
    case socks
  }

  /// The time at which the peer's script starts.
  enum Stage: Sendable {
    /// After accepting the connection: before TLS or the proxy's handshake.
    case connected
    /// After the connection is ready for use, before the peer reads the request.
    case opened
    /// As `opened`, after a first request that succeeded.
    case used
    /// After a first request that succeeded, when the connection is idle in the client and before "/main" is sent. The
    /// script never sees "/main".
    case idle
  }

  /// The peer's behavior after the script.
  enum Ending: Sendable {
    /// Keeps the connection open until the client closes it.
    case holds
    /// Closes its sending side, then waits for the client to close the connection.
    case closes
    /// Resets the connection.
    case resets
    /// Continues as a server that behaves.
    case serves
    /// Nothing: the script has closed the connection.
    case gone
  }

  enum Outcome: Sendable {
    /// A complete response, and the fate of the connection.
    case response(status: Int, body: String, Fate)
    /// An error with one of these codes in one of these phases; the connection is closed.
    case error(Set<EngineError.Code>, Set<Phase>)
  }

  enum Fate: Sendable {
    /// The next request uses the same connection.
    case kept
    /// The connection is closed, and the next request opens another.
    case closed
    /// The request itself succeeded on another connection, which the next request uses too.
    case replaced
  }

  let name: String
  var way = Way.clear
  var stage = Stage.opened
  var ending = Ending.holds
  /// The number of connections on which the peer misbehaves.
  var connectionCount = 1
  /// Text that the error's description must contain.
  var quote = ""
  /// Whether the misbehavior doesn't apply to TLS.
  var isForClearOnly = false
  let outcome: Outcome
  var prepare: @Sendable (inout EngineRequest) -> Void = { _ in }
  var configure: @Sendable (inout EngineConfiguration) -> Void = { _ in }
  let script: @Sendable (Peer) throws -> Void

  var testDescription: String { name }

  /// Whether the peer can see that the client closes the connection.
  var showsClosing: Bool { ending == .holds || ending == .closes }
}

extension Misbehaviour.Outcome {
  static func fails(_ code: EngineError.Code, _ phases: Phase...) -> Self { .error([code], Set(phases)) }
  /// The outcome of every reply that violates HTTP.
  static let malformed = fails(.malformedResponse, .receive)
  /// The outcome of every truncated reply.
  static let lost = fails(.connectionLost, .receive)
  static func kept(_ body: String, status: Int = 200) -> Self { .response(status: status, body: body, .kept) }
  static func closed(_ body: String, status: Int = 200) -> Self { .response(status: status, body: body, .closed) }
}

extension Misbehaviour {
  /// Creates a peer that reads the request and sends these bytes.
  static func reply(
    _ name: String, _ bytes: [UInt8], then ending: Ending = .holds, stage: Stage = .opened, _ outcome: Outcome,
    _ prepare: @escaping @Sendable (inout EngineRequest) -> Void = { _ in }
  ) -> Self {
    Self(name: name, stage: stage, ending: ending, outcome: outcome, prepare: prepare) { peer in
      guard try peer.readRequest() != nil else { throw OriginError.truncatedRequest }
      try peer.send(bytes)
    }
  }

  /// Creates a peer that reads the request and sends this text.
  static func reply(
    _ name: String, _ text: String, then ending: Ending = .holds, stage: Stage = .opened, _ outcome: Outcome,
    _ prepare: @escaping @Sendable (inout EngineRequest) -> Void = { _ in }
  ) -> Self {
    reply(name, Array(text.utf8), then: ending, stage: stage, outcome, prepare)
  }

  /// Creates peers whose replies violate HTTP while the connection stays open, so that only the bytes reveal the error.
  static func malformed(_ replies: [(name: String, text: String)]) -> [Self] {
    replies.map { reply($0.name, $0.text, .malformed) }
  }

  /// Creates peers whose replies are unusual but valid: the body is "ok", and the connection is used again.
  static func harmless(_ replies: [(name: String, text: String)]) -> [Self] {
    replies.map { reply($0.name, $0.text, then: .serves, .kept("ok")) }
  }
}

extension EngineRequest {
  /// Gives the request a method and a body.
  mutating func carry(_ method: String, _ body: RequestBody) {
    self.method = method
    self.body = body
  }
}

extension String {
  /// Returns whether an error's description is one line that begins with `place`, contains no control characters, and
  /// states a remedy in a sentence after the first.
  func isOneLine(at place: String) -> Bool {
    hasPrefix("\(place): ") && hasSuffix(".") && !contains(where: \.isNewline)
      && !unicodeScalars.contains { $0.properties.generalCategory == .control }
      && split(separator: ". ").dropFirst().contains { $0.first?.isUppercase == true }
  }
}
