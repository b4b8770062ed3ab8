// SocketTests: TCP sockets on the loopback interface.

import Glibc
import LupineLoopback
import LupineTestSupport
import Testing

@testable import LupineReactor

@Suite("Socket", .timeLimit(.minutes(10)))
struct SocketTests {
  private func pair() throws -> (client: Socket, server: Socket) {
    try Socket.pair(to: Socket.listen(onNumeric: "127.0.0.1"))
  }

  /// Returns the bytes that have arrived on the socket, nil if there are none yet, or an empty array at the end of the connection.
  private func receive(_ socket: Socket) throws -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    return try socket.receive(into: &buffer).map { Array(buffer[..<$0]) }
  }

  @Test("both ends of a connection report their own and the peer's address", arguments: loopbacks)
  func addresses(host: String) throws {
    let listener = try Socket.listen(onNumeric: host)
    let (client, server) = try Socket.pair(to: listener)
    let port = try #require(listener.localAddress).port
    #expect(port > 0)
    #expect(client.peerAddress == SocketAddress(numeric: host, port: port))
    #expect(server.localAddress == client.peerAddress)
    #expect(server.peerAddress == client.localAddress)
    #expect(client.localAddress?.port != port)
    #expect(listener.peerAddress == nil)
  }

  @Test("a socket receives the bytes that the peer sends back, and a read returns nil if no bytes are available")
  func echo() throws {
    let (client, server) = try pair()
    #expect(try receive(client) == nil)
    #expect(try client.send([1, 2, 3]) == 3)
    let received = try #require(try receive(server))
    #expect(received == [1, 2, 3])
    #expect(try server.send(received + [4]) == 4)
    try client.wait(.readable)
    #expect(try receive(client) == [1, 2, 3, 4])
    #expect(try receive(client) == nil)
  }

  @Test("sending from an offset of a buffer, and reading at an offset, leave the bytes before the offset unchanged")
  func offsets() throws {
    let (client, server) = try pair()
    #expect(try client.send([9, 8, 1, 2, 3], from: 2) == 3)
    var buffer: [UInt8] = [7, 7, 7, 0, 0]
    let count = try server.receive(into: &buffer, from: 3)
    #expect(count == 2)
    #expect(buffer == [7, 7, 7, 1, 2])
    #expect(try receive(server) == [3])
  }

  @Test("after the peer has stopped sending, a socket read returns no bytes, and writes still succeed")
  func halfClose() throws {
    let (client, server) = try pair()
    server.shutdownSending()
    try client.wait(.readable)
    #expect(try receive(client) == [])
    #expect(try client.send([5]) == 1)
    #expect(try receive(server) == [5])
  }

  @Test("a socket's send accepts no bytes while the kernel's buffer is full, and every accepted byte arrives")
  func backpressure() throws {
    let (client, server) = try pair()
    let bytes = SequenceBytes.bytes(from: 0, count: SequenceBytes.period)
    var sent = 0
    while let count = try client.send(bytes, from: sent % bytes.count) { sent += count }
    #expect(sent > 0)
    client.shutdownSending()
    var received = 0
    var isSame = true
    while let part = try receive(server), !part.isEmpty {
      if part != SequenceBytes.bytes(from: received, count: part.count) { isSame = false }
      received += part.count
    }
    #expect(received == sent)
    #expect(isSame)
  }

  @Test("a socket's finishConnecting reports a refused connection", arguments: loopbacks)
  func refused(host: String) throws {
    // The socket is bound, so that no other process gets the port, but it doesn't listen.
    let address = try #require(SocketAddress(numeric: host, port: 0))
    let number = socket(address.family, CInt(SOCK_STREAM.rawValue), 0)
    let owner = Socket(FileDescriptor(owning: number))
    let bound = address.withPointer { bind(number, $0, $1) }
    try #require(bound == 0)
    let client = try Socket.connect(to: try #require(owner.localAddress))
    try client.wait(.writable)
    let error = #expect(throws: SystemError(call: "connect", code: ECONNREFUSED)) { try client.finishConnecting() }
    #expect(error?.isConnectionRefused == true)
  }

  @Test("a socket's finishConnecting reports a refused connection if the socket is connected to itself")
  func connectedToItself() throws {
    // A port that was free a moment ago, on an address that no other test uses.
    let port = try #require(Socket.listen(onNumeric: "127.8.9.12").localAddress?.port)
    let address = try #require(SocketAddress(numeric: "127.8.9.12", port: port))
    var options = SocketOptions()
    options.localAddress = address
    let client = try Socket.connect(to: address, options: options)
    try client.wait(.writable)
    #expect(client.localAddress == address)
    #expect(client.peerAddress == address)
    let error = #expect(throws: SystemError(call: "connect", code: ECONNREFUSED)) { try client.finishConnecting() }
    #expect(error?.isConnectionRefused == true)
  }

  @Test("after a connection reset, reads and writes fail without raising a signal")
  func reset() throws {
    let client: Socket
    do {
      let (kept, server) = try pair()
      server.resetOnClose()
      client = kept
    }
    try client.wait(.readable)
    #expect(throws: SystemError(call: "recv", code: ECONNRESET)) { _ = try receive(client) }
    #expect(throws: SystemError(call: "send", code: EPIPE)) { _ = try client.send([1]) }
  }

  @Test("listening on a port that is in use fails")
  func taken() throws {
    let listener = try Socket.listen(onNumeric: "127.0.0.1")
    let address = try #require(listener.localAddress)
    #expect(throws: SystemError(call: "bind", code: EADDRINUSE)) { _ = try Socket.listen(on: address) }
  }

  @Test("shutting down a listening socket ends a blocked accept")
  func endsAccept() async throws {
    let listener = try Socket.listen(onNumeric: "127.0.0.1")
    let (errors, continuation) = AsyncStream.makeStream(of: SystemError?.self)
    try Thread.start(name: "lupine-accept") {
      do throws(SystemError) {
        _ = try listener.accept()
        continuation.yield(nil)
      } catch {
        continuation.yield(error)
      }
    }
    // The socket no longer listens, whether or not the thread is already blocked.
    listener.shutdownBoth()
    var iterator = errors.makeAsyncIterator()
    let error = await iterator.next()
    #expect(error == SystemError(call: "accept", code: EINVAL))
  }
}
