// SoakServers: the servers of a soak, with different kinds of responses, which are restarted in the middle of requests.

import Foundation
import LupineEngine
import LupineOrigin
import Synchronization

/// The servers of a soak test, one with TLS and one without. Their ports don't change when they are restarted.
final class SoakServers: Sendable {
  private struct State: Sendable {
    var plain: OriginServer
    var secure: OriginServer
    var restarts = 0
  }

  let plainURL: String
  let secureURL: String
  let identity: ServerIdentity
  private let state: Mutex<State>

  init() throws {
    identity = try ServerIdentity.throwaway()
    let plain = try OriginServer(handler: Self.serve)
    let secure = try OriginServer(tls: identity, handler: Self.serve)
    (plainURL, secureURL) = (plain.url, secure.url)
    state = Mutex(State(plain: plain, secure: secure))
  }

  var restartCount: Int { state.withLock { $0.restarts } }

  /// Stops and restarts one server after the other, in the middle of their responses.
  func restart() throws {
    let (plain, secure) = state.withLock { ($0.plain, $0.secure) }
    plain.stop()
    let newPlain = try OriginServer(port: plain.port, handler: Self.serve)
    secure.stop()
    let newSecure = try OriginServer(tls: identity, port: secure.port, handler: Self.serve)
    state.withLock { state in
      (state.plain, state.secure) = (newPlain, newSecure)
      state.restarts += 1
    }
  }

  func stop() {
    let (plain, secure) = state.withLock { ($0.plain, $0.secure) }
    plain.stop()
    secure.stop()
  }

  @Sendable private static func serve(_ peer: Peer) throws {
    try peer.serve { request in
      if let coding = ContentCoding(name: request.path.dropFirst()) {
        return Reply(.coded(Array(Traffic.body), coding))
      }
      switch request.path {
      case "/big": return Reply(.pattern(byteCount: UInt64(Traffic.bigByteCount)))
      case "/chunks": return Reply(.chunks([Array(Traffic.body), Array(Traffic.body)], pause: .milliseconds(1)))
      case "/redirect": return Reply(status: 302, fields: ["Location": "/big"])
      case "/close": return Reply(fields: ["Connection": "close"], .bytes(Array(Traffic.body)))
      case "/hold": return .hold
      // The server refuses the first attempt. The retry has the field X-Retry.
      case "/retry": return .text("again", status: request.fields.contains("X-Retry") ? 200 : 503)
      case "/cut":
        try peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        peer.close()
        throw OriginError.closed
      default: return .text("\(request.body.count)")
      }
    }
  }
}
