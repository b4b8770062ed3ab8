// Misbehaviour: one way in which a server or proxy misbehaves, with the expected outcome. The tables are in
// Misbehaviour+*.swift.

import LupineEngine
import LupineOrigin
import Testing

/// One way in which a server or proxy misbehaves when it is asked for "/main", and the expected outcome. The peer misbehaves on its
/// first `connectionCount` connections, and behaves correctly on all others.
struct Misbehaviour: Sendable, CustomTestStringConvertible {
  /// The way in which the client connects to the misbehaving peer.
  enum Way: Sendable {
    /// The peer is the origin, and the URL is http.
    case clear
    /// The peer is the origin, and the URL is https.
    case tls
    /// The peer is an HTTP proxy that forwards an http request.
    case forward
    /// The peer is an HTTP proxy that the client asks with CONNECT to open a tunnel for https.
    case connect
    /// The peer is a SOCKS proxy, and the URL is http.
    case socks
  }

  /// The point of a connection at which the peer starts to misbehave.
  enum Stage: Sendable {
    /// After the peer has accepted the connection, before TLS and before the proxy's handshake.
    case connected
    /// When the connection is ready for requests, before the peer has read the first one.
    case opened
    /// Before the peer reads the second request of a connection whose first request has succeeded.
    case used
    /// When the connection is idle after a first request that has succeeded. The peer misbehaves before the client asks for
    /// "/main", which therefore needs another connection.
    case idle
  }

  /// The peer's behavior after its script has ended.
  enum Ending: Sendable {
    /// The peer keeps the connection open until the client closes it.
    case holds
    /// The peer shuts down its sending direction, then waits for the client to close the connection.
    case closes
    /// The peer resets the connection.
    case resets
    /// The peer answers all further requests correctly.
    case serves
    /// The peer does nothing more, because its script has already closed the connection.
    case gone
  }

  enum Outcome: Sendable {
    /// The request gets a complete response. The last value states whether its connection is used again.
    case response(status: Int, body: String, Fate)
    /// The request fails with one of these codes in one of these phases, and its connection is closed.
    case error(Set<EngineError.Code>, Set<Phase>)
  }

  enum Fate: Sendable {
    /// The connection of the request for "/main" stays open, and the next request uses it.
    case kept
    /// The connection of the request for "/main" is closed, and the next request opens another one.
    case closed
    /// The request for "/main" itself succeeds on another connection, and the next request uses that one.
    case replaced
  }

  let name: String
  var way = Way.clear
  var stage = Stage.opened
  var ending = Ending.holds
  /// The number of connections on which the peer misbehaves. It behaves correctly on all later ones.
  var connectionCount = 1
  /// Text that the description of the request's error must contain.
  var quote = ""
  /// Whether this test case doesn't make sense over TLS.
  var isForClearOnly = false
  let outcome: Outcome
  var prepare: @Sendable (inout EngineRequest) -> Void = { _ in }
  var configure: @Sendable (inout EngineConfiguration) -> Void = { _ in }
  let script: @Sendable (Peer) throws -> Void

  var testDescription: String { name }

  /// Whether the peer can detect that the client closes the connection.
  var showsClosing: Bool { ending == .holds || ending == .closes }
}

extension Misbehaviour.Outcome {
  static func fails(_ code: EngineError.Code, _ phases: Phase...) -> Self { .error([code], Set(phases)) }
  /// The expected outcome for a reply that violates HTTP.
  static let malformed = fails(.malformedResponse, .receive)
  /// The expected outcome for a truncated reply.
  static let lost = fails(.connectionLost, .receive)
  static func kept(_ body: String, status: Int = 200) -> Self { .response(status: status, body: body, .kept) }
  static func closed(_ body: String, status: Int = 200) -> Self { .response(status: status, body: body, .closed) }
}

extension Misbehaviour {
  /// Creates a peer that reads the request and sends the given bytes as its reply.
  static func reply(
    _ name: String, _ bytes: [UInt8], then ending: Ending = .holds, stage: Stage = .opened, _ outcome: Outcome,
    _ prepare: @escaping @Sendable (inout EngineRequest) -> Void = { _ in }
  ) -> Self {
    Self(name: name, stage: stage, ending: ending, outcome: outcome, prepare: prepare) { peer in
      guard try peer.readRequest() != nil else { throw OriginError.truncatedRequest }
      try peer.send(bytes)
    }
  }

  /// Creates a peer that reads the request and sends the given text as its reply.
  static func reply(
    _ name: String, _ text: String, then ending: Ending = .holds, stage: Stage = .opened, _ outcome: Outcome,
    _ prepare: @escaping @Sendable (inout EngineRequest) -> Void = { _ in }
  ) -> Self {
    reply(name, Array(text.utf8), then: ending, stage: stage, outcome, prepare)
  }

  /// Creates peers whose replies violate HTTP. The peers keep the connection open, so the client can detect the error only from the
  /// reply's bytes.
  static func malformed(_ replies: [(name: String, text: String)]) -> [Self] {
    replies.map { reply($0.name, $0.text, .malformed) }
  }

  /// Creates peers whose replies are unusual but valid. The response's body must be "ok", and the client must reuse the connection.
  static func harmless(_ replies: [(name: String, text: String)]) -> [Self] {
    replies.map { reply($0.name, $0.text, then: .serves, .kept("ok")) }
  }
}

extension EngineRequest {
  /// Sets the method and the body of the request.
  mutating func carry(_ method: String, _ body: RequestBody) {
    self.method = method
    self.body = body
  }
}

extension String {
  /// Returns whether the string is a well-formed error description: one line that begins with `place`, without control characters,
  /// and with a remedy in a sentence after the first one.
  func isOneLine(at place: String) -> Bool {
    hasPrefix("\(place): ") && hasSuffix(".") && !contains(where: \.isNewline)
      && !unicodeScalars.contains { $0.properties.generalCategory == .control }
      && split(separator: ". ").dropFirst().contains { $0.first?.isUppercase == true }
  }
}
