// BarrierServer: a server that responds only after it has read all requests, so that all are concurrent.

import LupineEngine
import LupineLoopback
import LupineOrigin
import LupineTestSupport

/// A server that responds only after it has received a request on each of `connectionCount` connections, so that all requests are
/// in flight at the same time. The response to each request is the request's path.
///
/// A single thread serves the connections one after another. Unread requests wait in the kernel.
final class BarrierServer: Sendable {
  /// The numbers of requests and connections that the server has served.
  struct Report: Sendable, Equatable {
    var requestCount = 0
    /// The number of connections that the client closed after it had received the response.
    var closedCount = 0
  }

  let port: UInt16
  private let listener: Socket
  private let done = Gate()
  private let report = Condition(Report())

  init(connectionCount: Int) throws {
    listener = try Socket.listenOnLoopback(backlog: 4096)
    port = listener.localAddress?.port ?? 0
    try Thread.start(name: "barrier") { [self] in
      serve(connectionCount)
      done.open()
    }
  }

  /// Stops listening, in case the client has failed, waits for the server's thread, and returns the report.
  func stop() async -> Report {
    listener.shutdownBoth()
    await done.wait()
    return report.state
  }

  private func serve(_ connectionCount: Int) {
    var sockets: [Socket] = []
    sockets.reserveCapacity(connectionCount)
    while sockets.count < connectionCount, let socket = try? listener.accept() { sockets.append(socket) }
    guard sockets.count == connectionCount else { return }
    let paths = sockets.map(readPath)
    report.update { $0.requestCount = paths.count { $0 != nil } }
    for (socket, path) in zip(sockets, paths) {
      guard let path else { continue }
      let reply = "HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)"
      _ = try? socket.send(Array(reply.utf8))
    }
    var byte: [UInt8] = [0]
    let closedCount = sockets.count { (try? $0.receive(into: &byte)) == 0 }
    report.update { $0.closedCount = closedCount }
    // Resets the connections. Otherwise thousands would stay in TIME_WAIT for a minute and affect other tests.
    for socket in sockets { socket.resetOnClose() }
  }

  // Reads the head of a GET request, and returns its path. The head arrives in one piece, because the engine sends it in one call.
  private func readPath(_ socket: Socket) -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    guard let count = try? socket.receive(into: &buffer), buffer[..<count].suffix(4).elementsEqual("\r\n\r\n".utf8)
    else { return nil }
    let words = buffer[..<count].split(separator: UInt8(ascii: " "), maxSplits: 2)
    return words.count == 3 ? String(decoding: words[1], as: UTF8.self) : nil
  }
}
