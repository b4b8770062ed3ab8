// The table of responses and what has to come of them; its groups stand in ResponseVectors+*.swift.

import LupineWire
import Testing

/// The bytes of a connection and the expected outcome.
struct ResponseVector: Sendable, CustomTestStringConvertible {
  enum Outcome: Sendable {
    case response(Expected)
    /// HTTP ends with the head; `behind` is what stands behind it, of whatever protocol.
    case handOver(Expected, behind: String)
    case failure(WireError)
  }

  /// The events of one exchange boiled down. Field lines are written as on the wire; nil: not looked at.
  struct Expected: Sendable {
    var informational: [Int] = []
    var status = 200
    var reason = "OK"
    var fields: [String]?
    var codings: [TransferCoding] = []
    var body = ""
    var trailers: [String] = []
    var close: CloseReason?
  }

  let name: String
  let method: String
  /// Whether the request offers another protocol.
  let upgrades: Bool
  let bytes: [UInt8]
  /// Whether the peer closes the connection behind the bytes.
  let peerCloses: Bool
  let limits: Limits
  let outcome: Outcome

  var testDescription: String { name }

  static let all = [
    statusLines, fieldLines, refusedNames, folds, garbage, controls, lengths, refusedLengths, codings, refusedCodings,
    bodiless, persistence, upgrades, tunnels, smuggling, desync, chunks, chunkTricks, trailerSections, truncations,
    headLimits, bodyLimits,
  ].flatMap(\.self)
}

// How the groups are written. In `wire` each scalar below U+0100 is one byte.
extension ResponseVector {
  /// A response that is read to its end.
  static func good(
    _ name: String, _ wire: String, method: String = "GET", upgrades: Bool = false, peerCloses: Bool = false,
    limits: Limits = Limits(), informational: [Int] = [], status: Int = 200, reason: String = "OK",
    fields: [String]? = nil,
    codings: [TransferCoding] = [], body: String = "", trailers: [String] = [], close: CloseReason? = nil
  ) -> ResponseVector {
    let expected = Expected(
      informational: informational, status: status, reason: reason, fields: fields, codings: codings, body: body,
      trailers: trailers, close: close)
    return ResponseVector(
      name: name, method: method, upgrades: upgrades, bytes: wire.latin1, peerCloses: peerCloses, limits: limits,
      outcome: .response(expected))
  }

  /// A response that is refused.
  static func bad(
    _ name: String, _ wire: String, _ error: WireError, method: String = "GET", upgrades: Bool = false,
    peerCloses: Bool = false, limits: Limits = Limits()
  ) -> ResponseVector {
    ResponseVector(
      name: name, method: method, upgrades: upgrades, bytes: wire.latin1, peerCloses: peerCloses, limits: limits,
      outcome: .failure(error))
  }

  /// A response with which HTTP ends on the connection.
  static func handOver(
    _ name: String, _ wire: String, method: String = "GET", upgrades: Bool = false, informational: [Int] = [],
    status: Int = 200, reason: String = "OK", behind: String = ""
  ) -> ResponseVector {
    let expected = Expected(informational: informational, status: status, reason: reason)
    return ResponseVector(
      name: name, method: method, upgrades: upgrades, bytes: wire.latin1, peerCloses: false, limits: Limits(),
      outcome: .handOver(expected, behind: behind))
  }
}

extension Limits {
  /// The default limits, changed.
  static func with(_ change: (inout Limits) -> Void) -> Limits {
    var limits = Limits()
    change(&limits)
    return limits
  }
}

extension String {
  /// One byte for each scalar; a scalar above U+00FF is a mistake in a table.
  var latin1: [UInt8] { unicodeScalars.map { UInt8($0.value) } }
}
