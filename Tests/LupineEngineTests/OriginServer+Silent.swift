// OriginServer+Silent: a server that never replies.

import LupineOrigin

extension OriginServer {
  /// Returns a server that reads one request per connection and never replies. The first request opens the gate `arrived`.
  static func silent(opening arrived: Gate) throws -> OriginServer {
    try OriginServer { peer in
      guard try peer.readRequest() != nil else { return }
      arrived.open()
      _ = try peer.awaitClose()
    }
  }
}
