// NTLMServer: a server or proxy for tests that authenticates connections by NTLM. It checks the user name and the order
// of the messages, but not the response to its challenge, which `NTLMTests` checks.

import LupineEngine
import LupineOrigin
import Synchronization

/// A mock server or proxy with NTLM authentication. On each connection, it responds with 401 or 407 until the user `u` has
/// sent both NTLM messages on that connection.
final class NTLMServer: Sendable {
  private struct State {
    var challenged: Set<Int> = []
    var authenticated: Set<Int> = []
    var messages: [String] = []
  }

  private let isProxy: Bool
  private let offer: String
  private let state = Mutex(State())

  /// Creates a server that offers the authentication scheme `offer` to requests without an NTLM message.
  init(isProxy: Bool = false, offer: String = "NTLM") {
    self.isProxy = isProxy
    self.offer = offer
  }

  /// For each request, the connection's index and the type of the NTLM message (0 for none), such as "1:3".
  var messages: [String] { state.withLock { $0.messages } }

  /// Returns the reply to a request that arrived on the connection with this index.
  func reply(to request: ReceivedRequest, on connection: Int) -> Reply {
    let value = request.fields.first(isProxy ? "Proxy-Authorization" : "Authorization") ?? ""
    let message = value.hasPrefix("NTLM ") ? Base64.decode(String(value.dropFirst(5))) ?? [] : []
    let type = message.count > 8 ? Int(message[8]) : 0
    return state.withLock { state in
      state.messages.append("\(connection):\(type)")
      switch type {
      case 1:
        state.challenged.insert(connection)
        return refusal("NTLM \(Base64.encode(Self.challenge))", request.body.isEmpty)
      case 3:
        guard state.challenged.remove(connection) != nil, Self.user(message) == "u" else { return refusal(offer) }
        state.authenticated.insert(connection)
      default:
        guard state.authenticated.contains(connection) else { return refusal(offer) }
      }
      return .text("in \(String(decoding: request.body, as: UTF8.self))")
    }
  }

  private func refusal(_ challenge: String, _ isExpected: Bool = true) -> Reply {
    // The request with NTLM's first message has no body.
    guard isExpected else { return Reply(status: 500) }
    return .text("refused", status: isProxy ? 407 : 401)
      .with(isProxy ? "Proxy-Authenticate" : "WWW-Authenticate", challenge)
  }

  // CHALLENGE_MESSAGE without names: flags, a nonce, and an empty list of attributes (MS-NLMP 2.2.1.2)
  static let challenge: [UInt8] =
    Array("NTLMSSP\0".utf8) + [2, 0, 0, 0] + [0, 0, 0, 0, 48, 0, 0, 0] + [0x01, 0x02, 0x88, 0x00]
    + [1, 2, 3, 4, 5, 6, 7, 8] + [UInt8](repeating: 0, count: 8) + [4, 0, 4, 0, 48, 0, 0, 0]
    + [UInt8](repeating: 0, count: 8) + [0, 0, 0, 0]

  // UserNameFields at 36: Len (2), MaxLen (2), BufferOffset (4); UTF-16 (MS-NLMP 2.2.1.3)
  private static func user(_ message: [UInt8]) -> String {
    guard message.count > 44 else { return "" }
    let (count, offset) = (Int(message[36]), Int(message[40]))
    guard offset + count <= message.count else { return "" }
    return String(decoding: message[offset..<offset + count].filter { $0 != 0 }, as: UTF8.self)
  }
}
