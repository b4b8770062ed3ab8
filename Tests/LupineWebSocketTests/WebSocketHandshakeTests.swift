// WebSocketHandshakeTests: the client's opening handshake.

import LupineWebSocket
import Testing

@Suite("WebSocket handshake")
struct WebSocketHandshakeTests {
  @Test("the request's fields contain the key, the version, the subprotocols and the compression")
  func fields() {
    let plain = WebSocketHandshake(key: "a2V5", deflate: nil)
    #expect(
      plain.fields.map { "\($0.name): \($0.value)" } == [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: a2V5", "Sec-WebSocket-Version: 13",
      ])
    let rich = WebSocketHandshake(key: "a2V5", subprotocols: ["a", "b"])
    #expect(
      rich.fields.suffix(2).map { "\($0.name): \($0.value)" } == [
        "Sec-WebSocket-Protocol: a, b", "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
      ])
  }

  private static let valid = [
    "Upgrade": ["websocket"], "Connection": ["Upgrade"], "Sec-WebSocket-Accept": ["a"],
  ]

  private static let answers: [(status: Int, changes: [String: [String]], error: WebSocketHandshakeError?)] = [
    (101, [:], nil),
    (101, ["Connection": ["keep-alive", "x, UPGRADE"]], nil),
    (200, [:], .status(200)),
    (401, [:], .status(401)),
    (101, ["Upgrade": []], .notUpgraded),
    (101, ["Upgrade": ["h2c"]], .notUpgraded),
    (101, ["Upgrade": ["websocket", "h2c"]], .notUpgraded),
    (101, ["Connection": ["close"]], .notUpgraded),
    (101, ["Sec-WebSocket-Accept": []], .wrongAccept),
    (101, ["Sec-WebSocket-Accept": ["A"]], .wrongAccept),
    (101, ["Sec-WebSocket-Accept": ["a", "a"]], .wrongAccept),
    (101, ["Sec-WebSocket-Protocol": ["chat"]], nil),
    (101, ["Sec-WebSocket-Protocol": ["Chat"]], .unofferedProtocol("Chat")),
    (101, ["Sec-WebSocket-Protocol": ["chat", "chat"]], .unofferedProtocol("chat, chat")),
    (101, ["Sec-WebSocket-Extensions": ["permessage-deflate"]], .unofferedExtension("permessage-deflate")),
  ]

  @Test(
    "an answer is accepted only if it switches to WebSocket, proves that it read the key, and chooses what was offered",
    arguments: answers)
  func answer(_ status: Int, _ changes: [String: [String]], _ error: WebSocketHandshakeError?) {
    let values = Self.valid.merging(changes) { $1 }
    let handshake = WebSocketHandshake(key: "k", subprotocols: ["chat"], deflate: nil)
    let result = Result { () throws(WebSocketHandshakeError) in
      try handshake.check(status: status, expectedAccept: "a") { values[$0] ?? [] }
    }
    if let error {
      #expect(result == .failure(error))
    } else {
      #expect(result == .success(WebSocketAgreement(subprotocol: changes["Sec-WebSocket-Protocol"]?[0])))
    }
  }

  @Test("a description contains at most 64 characters of the server's text, without control characters")
  func longText() {
    let text = WebSocketHandshakeError.unofferedProtocol("\u{1b}" + String(repeating: "x", count: 1000)).description
    #expect(!text.contains("\u{1b}") && !text.contains(String(repeating: "x", count: 64)))
  }
}
