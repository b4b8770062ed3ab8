// HandlerRecord: passes values from a handler on a server's thread to its test.

import Synchronization

@testable import LupineOrigin

final class HandlerRecord: Sendable {
  private let box = Mutex<(request: ReceivedRequest?, ending: Peer.Ending?)>((nil, nil))

  var request: ReceivedRequest? { box.withLock { $0.request } }
  var ending: Peer.Ending? { box.withLock { $0.ending } }

  func set(_ request: ReceivedRequest) { box.withLock { $0.request = request } }
  func set(_ ending: Peer.Ending) { box.withLock { $0.ending = ending } }
}
