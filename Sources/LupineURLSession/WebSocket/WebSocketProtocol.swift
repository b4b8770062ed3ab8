// WebSocketProtocol: a URLProtocol that answers WebSocket tasks in place of a server.

import Dispatch
import Foundation
import LupineEngine
import Synchronization

/// A class of ``URLProtocol`` that can answer WebSocket tasks. Sessions don't offer these tasks to other classes, as on Apple's
/// systems.
package protocol WebSocketProtocol: URLProtocol {}

extension URLSessionWebSocketTask {
  /// Returns the fields of the response that accepts the opening handshake of `request`.
  package static func acceptingFields(for request: URLRequest, subprotocol: String?) -> [String: String] {
    let key = request.value(forHTTPHeaderField: "Sec-WebSocket-Key") ?? ""
    var fields = ["Upgrade": "websocket", "Connection": "Upgrade"]
    fields["Sec-WebSocket-Accept"] = WebSocketOpening.accept(forKey: key)
    fields["Sec-WebSocket-Protocol"] = subprotocol
    return fields
  }

  /// Makes the task send its frames to a closure instead of a connection.
  package func sendFrames(to receive: @escaping @Sendable ([UInt8]?) -> Void) -> ClientFrames {
    let frames = ClientFrames(receive)
    channel.attach(frames.begin())
    return frames
  }
}

/// Passes the bytes that a WebSocket task sends to a closure.
package final class ClientFrames: Sendable {
  private let writer = Mutex<BodyWriter?>(nil)
  private let queue = DispatchQueue(label: "lupine.websocket.frames")
  private let receive: @Sendable ([UInt8]?) -> Void

  /// `receive` is called with bytes in order, and finally with nil, one call at a time.
  fileprivate init(_ receive: @escaping @Sendable ([UInt8]?) -> Void) { self.receive = receive }

  fileprivate func begin() -> BodyWriter {
    let writer = BodyWriter { self.drain() }
    self.writer.withLock { $0 = writer }
    drain()
    return writer
  }

  /// Makes the task send nothing from now on.
  package func stop() { writer.withLock { $0.take() }?.abandon() }

  private func drain() {
    queue.async {
      while let writer = self.writer.withLock({ $0 }), let taken = try? writer.takeBuffered() {
        switch taken {
        case .bytes(let bytes): self.receive(bytes)
        case .nothing: return
        case .end:
          // Releases the writer, which retains this object.
          self.writer.withLock { $0 = nil }
          return self.receive(nil)
        }
      }
    }
  }
}
