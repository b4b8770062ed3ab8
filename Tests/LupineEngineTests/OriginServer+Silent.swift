// A server whose clients wait.

import LupineOrigin

extension OriginServer {
  /// A server that reads one request on each connection and never answers it; the first one opens the gate.
  static func silent(opening arrived: Gate) throws -> OriginServer {
    try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      arrived.open()
      _ = try peer.awaitClose()
    }
  }
}
