// A server that answers nobody before it has read everybody's request, so that all are under way at the same time.

import LupineEngine
import LupineOrigin

/// Accepts a number of connections, reads a request on each, and only then answers them all: with their own paths.
///
/// One thread does it, one connection behind the other, since a client's request waits in the kernel until it is read.
final class BarrierServer: Sendable {
  /// What became of it.
  struct Report: Sendable, Equatable {
    var requestCount = 0
    /// Connections that the client closed when it was done.
    var closedCount = 0
  }

  let port: UInt16
  private let listener: Socket
  private let done = Gate()
  private let report = Condition(Report())

  init(connectionCount: Int) throws {
    guard let loopback = SocketAddress(numeric: "127.0.0.1", port: 0) else {
      throw OriginError.notAnAddress("127.0.0.1")
    }
    listener = try Socket.listen(on: loopback, backlog: 4096)
    port = listener.localAddress?.port ?? 0
    try Thread.start(name: "barrier") { [self] in
      serve(connectionCount)
      done.open()
    }
  }

  /// Ends it if the client gave up, and waits for its thread.
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
    // In place of thousands that stay in TIME_WAIT for a minute, in everybody's way.
    for socket in sockets { socket.resetOnClose() }
  }

  // A GET's head, which comes as a whole: the engine hands it to the kernel at once.
  private func readPath(_ socket: Socket) -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    guard let count = try? socket.receive(into: &buffer), buffer[..<count].suffix(4).elementsEqual("\r\n\r\n".utf8)
    else { return nil }
    let words = buffer[..<count].split(separator: UInt8(ascii: " "), maxSplits: 2)
    return words.count == 3 ? String(decoding: words[1], as: UTF8.self) : nil
  }
}
