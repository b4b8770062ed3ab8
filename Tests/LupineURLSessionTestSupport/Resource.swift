// `Resource`: a test server's resource, served whole, in ranges or cut short; and servers that follow scripts.

import Foundation
import LupineEngine
import LupineOrigin
import LupineTestSupport
import Synchronization

/// A resource of a mock server that supports range requests. It has an entity tag, and its bytes are those of the pattern.
struct Resource: Sendable {
  var byteCount = 200_000
  var fields = ["ETag": "\"v1\"", "Accept-Ranges": "bytes"]
  /// The offset of the resource's first byte in the pattern. A changed resource has another offset, and so other bytes.
  var shift = 0

  /// The way in which the server ends its response to a request for the resource.
  enum End: Sendable {
    /// The server sends the complete response.
    case whole
    /// The server closes the connection after this number of bytes of the resource.
    case cut(at: Int)
    /// The server stops after this number of bytes of the resource, and waits until the client closes the connection.
    case hold(at: Int)
  }

  var bytes: Data { Data(Pattern.bytes(shift..<shift + byteCount)) }

  /// Sends a 206 with the bytes from the requested offset if If-Range contains the resource's validator. Otherwise sends a 200
  /// with all bytes.
  func answer(_ request: ReceivedRequest, on peer: Peer, _ end: End = .whole) throws {
    let asked = request.fields.first("range").flatMap { text in
      text.hasPrefix("bytes=") && text.hasSuffix("-") ? Int(text.dropFirst(6).dropLast()) : nil
    }
    let isSame = [fields["ETag"], fields["Last-Modified"]].contains(request.fields.first("if-range"))
    let first = isSame ? asked ?? 0 : 0
    var head = "HTTP/1.1 \(first > 0 ? "206" : "200") \r\nContent-Length: \(byteCount - first)\r\n"
    if first > 0 { head += "Content-Range: bytes \(first)-\(byteCount - 1)/\(byteCount)\r\n" }
    for (name, value) in fields { head += "\(name): \(value)\r\n" }
    try peer.send(head + "\r\n")
    switch end {
    case .whole: try peer.send(Array(bytes[first...]))
    case .cut(let place):
      try peer.send(Array(bytes[first..<place]))
      // A reset would discard the bytes that the client hasn't read yet.
      peer.finishSending()
      _ = try peer.awaitClose()
    case .hold(let place):
      try peer.send(Array(bytes[first..<place]))
      _ = try peer.awaitClose()
    }
  }
}

/// Calls `body` with a server that answers the first request with the first script, the second with the second, and so on.
/// The last script answers all further requests.
func withScripts<Value>(
  _ scripts: [@Sendable (ReceivedRequest, Peer) throws -> Void],
  _ body: (OriginServer, Recorder<ReceivedRequest>) async throws -> Value
) async throws -> Value {
  let count = Atomic(0)
  let requests = Recorder<ReceivedRequest>()
  let origin = try OriginServer { peer in
    while let request = try peer.readRequest() {
      requests.record(request)
      let index = count.add(1, ordering: .relaxed).oldValue
      try scripts[min(index, scripts.count - 1)](request, peer)
    }
  }
  defer { origin.stop() }
  return try await body(origin, requests)
}
