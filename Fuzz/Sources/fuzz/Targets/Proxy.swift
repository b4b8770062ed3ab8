// Replies of proxies to CONNECT and SOCKS 5.

@testable import LupineEngine
@testable import LupineWire

extension FuzzTarget {
  /// Fuzzes the handshakes with proxies. The input is a byte of choices, followed by the bytes that the proxy sends.
  static let proxy = FuzzTarget(
    name: "proxy", summary: "any split of a proxy's reply has the same outcome; the tunnel's bytes aren't consumed"
  ) { bytes in
    var input = Input(bytes)
    let choices = input.byte()
    let wire = Array(input.rest)
    var cutter = Cutter(bytes)
    var first: Dialogue?
    for pieces in cutter.waysToCut(wire) {
      let dialogue = Dialogue(pieces, choices)
      if let first {
        hold(dialogue == first, "cut in another way: \(dialogue), and \(first)")
      } else {
        first = dialogue
      }
    }
  }

  /// The result of a proxy handshake: the bytes that the client sent, the bytes of the tunnel, and the error.
  private struct Dialogue: Equatable {
    var sent: [[UInt8]] = []
    var isDone = false
    var tunnel: [UInt8] = []
    var error: String?

    init(_ pieces: [[UInt8]], _ choices: UInt8) {
      let schemes: [Proxy.Scheme] = [.http, .socks5, .socks5h]
      let hasUser = choices & 4 != 0
      let hosts = ["origin.test", "10.0.0.1", "fd00::1", String(repeating: "a", count: 255)]
      let origin = Origin(scheme: .https, host: hosts[Int(choices >> 3) % hosts.count], port: 443)
      guard
        let proxy = try? Proxy(
          schemes[Int(choices & 3) % 3], host: "proxy.test", port: 1080, user: hasUser ? "user" : nil,
          password: hasUser ? "secret" : ""),
        var handshake = try? proxy.handshake(to: origin, limits: Limits())
      else { fatalError("no handshake") }
      sent = [handshake.opening]
      for piece in pieces {
        if isDone {
          tunnel += piece
        } else if error == nil {
          feed(piece, &handshake)
        }
      }
      if !isDone, error == nil { error = "\(handshake.receiveEnd())" }
    }

    private mutating func feed(_ piece: [UInt8], _ handshake: inout any ProxyHandshake & ~Copyable) {
      GuardedBytes.with(piece) { span in
        var cursor = 0
        do throws(ProxyError) {
          while true {
            switch try handshake.receive(span, at: &cursor) {
            case .needMoreBytes: return hold(cursor == piece.count, "more bytes are needed, but some are left")
            case .send(let bytes): sent.append(bytes)
            case .done:
              isDone = true
              tunnel += piece[cursor...]
              return
            }
          }
        } catch {
          // A `notHTTP` error quotes the start of the reply, whose length depends on how much was received.
          if case .wire(.notHTTP) = error.cause { self.error = "notHTTP" } else { self.error = "\(error)" }
        }
      }
    }
  }
}
