// ResponseVector: an entry of the table of responses. ResponseVectors+*.swift contain the entries, in groups.

import LupineWire
import Testing

/// The bytes that a client receives on a connection, and the expected result of parsing them.
struct ResponseVector: Sendable, CustomTestStringConvertible {
  enum Outcome: Sendable {
    case response(Expected)
    /// HTTP ends after the head, as in a response with 101. `behind` contains the bytes after the head, of any protocol.
    case handOver(Expected, behind: String)
    case failure(WireError)
  }

  /// The expected events of one exchange. Field lines are written as in HTTP. If `fields` is nil, the fields aren't compared.
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
  /// Whether the request offers an upgrade to another protocol.
  let upgrades: Bool
  let bytes: [UInt8]
  /// Whether the peer closes the connection after it has sent the bytes.
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

// Functions that create the vectors. In `wire`, each Unicode scalar below U+0100 represents one byte.
extension ResponseVector {
  /// Returns a vector in which the response is valid and parsed to its end.
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

  /// Returns a vector in which the parser refuses the response with this error.
  static func bad(
    _ name: String, _ wire: String, _ error: WireError, method: String = "GET", upgrades: Bool = false,
    peerCloses: Bool = false, limits: Limits = Limits()
  ) -> ResponseVector {
    ResponseVector(
      name: name, method: method, upgrades: upgrades, bytes: wire.latin1, peerCloses: peerCloses, limits: limits,
      outcome: .failure(error))
  }

  /// Returns a vector in which the response ends HTTP on the connection.
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
  /// Returns the default parsing limits, changed by the closure.
  static func with(_ change: (inout Limits) -> Void) -> Limits {
    var limits = Limits()
    change(&limits)
    return limits
  }
}

extension String {
  /// The string as bytes in Latin-1, one per Unicode scalar. Traps on a scalar above U+00FF, which would be a mistake in a table.
  var latin1: [UInt8] { unicodeScalars.map { UInt8($0.value) } }
}
