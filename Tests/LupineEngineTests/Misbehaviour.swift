// One way in which a server or a proxy misbehaves, and what has to come of it. The tables are in Misbehaviour+*.swift.

import LupineEngine
import LupineOrigin
import Testing

/// What a scripted peer does to the request for "/main", on the first connection that it accepts, or on the first few.
/// On all others it behaves.
struct Misbehaviour: Sendable, CustomTestStringConvertible {
  /// How the request comes to the peer.
  enum Way: Sendable {
    /// To the origin, without TLS.
    case clear
    /// To the origin, through TLS.
    case tls
    /// To a proxy that forwards requests for http.
    case forward
    /// To a proxy that is asked for a tunnel, in which there is TLS.
    case connect
    /// To a SOCKS proxy, with http behind it.
    case socks
  }

  /// When the script takes over.
  enum Stage: Sendable {
    /// As soon as the connection is accepted: before TLS, or before what a proxy says.
    case connected
    /// When the connection can be used; the request hasn't been read.
    case opened
    /// As `opened`, behind a first request that was answered well.
    case used
    /// Behind a first request too, when the client has taken its response and keeps the connection, but before "/main" is
    /// sent. The script doesn't get to see it.
    case idle
  }

  /// What the peer does behind the script.
  enum Ending: Sendable {
    /// It keeps the connection open and waits for the client to close it.
    case holds
    /// It closes its side, and waits for the client to close its own.
    case closes
    /// It cuts the connection.
    case resets
    /// It goes on as a server that behaves.
    case serves
    /// Nothing: the script has closed the connection itself.
    case gone
  }

  enum Outcome: Sendable {
    /// A complete response, and what becomes of the connection.
    case response(status: Int, body: String, Fate)
    /// An error, and a connection that is closed.
    case error(Set<EngineError.Code>, Set<Phase>)
  }

  enum Fate: Sendable {
    /// The next request uses the same connection.
    case kept
    /// It is closed, and the next request opens one.
    case closed
    /// Already the request itself was answered on another connection, which the next one uses too.
    case replaced
  }

  let name: String
  var way = Way.clear
  var stage = Stage.opened
  var ending = Ending.holds
  /// On how many connections it misbehaves.
  var connectionCount = 1
  /// What the error's text has to tell besides place and remedy.
  var told = ""
  /// Whether it makes no sense through TLS.
  var isForClearOnly = false
  let outcome: Outcome
  var prepare: @Sendable (inout EngineRequest) -> Void = { _ in }
  var configure: @Sendable (inout EngineConfiguration) -> Void = { _ in }
  let script: @Sendable (Peer) throws -> Void

  var testDescription: String { name }

  /// Whether it can be seen that the client closes the connection.
  var showsClosing: Bool { ending == .holds || ending == .closes }
}

extension Misbehaviour.Outcome {
  static func fails(_ code: EngineError.Code, _ phases: Phase...) -> Self { .error([code], Set(phases)) }
  /// What every reply that breaks HTTP comes to.
  static let malformed = fails(.malformedResponse, .receive)
  /// What every reply that breaks off comes to.
  static let lost = fails(.connectionLost, .receive)
  static func kept(_ body: String, status: Int = 200) -> Self { .response(status: status, body: body, .kept) }
  static func closed(_ body: String, status: Int = 200) -> Self { .response(status: status, body: body, .closed) }
}

extension Misbehaviour {
  /// A peer that reads the request and answers with these bytes.
  static func reply(
    _ name: String, _ bytes: [UInt8], then ending: Ending = .holds, stage: Stage = .opened, _ outcome: Outcome,
    _ prepare: @escaping @Sendable (inout EngineRequest) -> Void = { _ in }
  ) -> Self {
    Self(name: name, stage: stage, ending: ending, outcome: outcome, prepare: prepare) { peer in
      guard try peer.readRequest() != nil else { throw OriginError.truncatedRequest }
      try peer.send(bytes)
    }
  }

  /// The same, with text.
  static func reply(
    _ name: String, _ text: String, then ending: Ending = .holds, stage: Stage = .opened, _ outcome: Outcome,
    _ prepare: @escaping @Sendable (inout EngineRequest) -> Void = { _ in }
  ) -> Self {
    reply(name, Array(text.utf8), then: ending, stage: stage, outcome, prepare)
  }

  /// Replies that break HTTP, while the connection stays open: the bytes alone have to tell.
  static func malformed(_ replies: [(name: String, text: String)]) -> [Self] {
    replies.map { reply($0.name, $0.text, .malformed) }
  }

  /// Replies that look odd and are all right: body "ok", and the connection is used again.
  static func harmless(_ replies: [(name: String, text: String)]) -> [Self] {
    replies.map { reply($0.name, $0.text, then: .serves, .kept("ok")) }
  }
}

extension EngineRequest {
  /// Makes it a request with a body.
  mutating func carry(_ method: String, _ body: RequestBody) {
    self.method = method
    self.body = body
  }
}

extension String {
  /// Whether an error's text is one line that begins with its place and says what to do in a sentence behind the first,
  /// without what would steer a terminal.
  func isOneLine(at place: String) -> Bool {
    hasPrefix("\(place): ") && hasSuffix(".") && !contains(where: \.isNewline)
      && !unicodeScalars.contains { $0.properties.generalCategory == .control }
      && split(separator: ". ").dropFirst().contains { $0.first?.isUppercase == true }
  }
}
