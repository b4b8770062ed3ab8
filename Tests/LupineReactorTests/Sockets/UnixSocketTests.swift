// UnixSocketTests: Unix domain sockets with paths and abstract names.

import Glibc
import LupineLoopback
import Testing

@testable import LupineReactor

@Suite("Unix sockets", .timeLimit(.minutes(10)))
struct UnixSocketTests {
  private static let allOptions: SocketOptions = {
    var options = SocketOptions()
    options.userTimeout = .seconds(1)
    options.localAddress = SocketAddress(numeric: "127.0.0.1", port: 0)
    options.interface = "lupine-none"
    return options
  }()

  @Test(
    "a Unix socket with a path transfers bytes in both directions, even if TCP options are set",
    arguments: [SocketOptions(), allOptions])
  func path(options: SocketOptions) throws {
    let folder = try TemporaryFolder()
    let address = try folder.socketAddress()
    try expectEcho(Socket.listen(on: address), address, options)
  }

  @Test("a Unix socket with an abstract name transfers bytes in both directions")
  func abstract() throws {
    let address = try #require(SocketAddress(socketPath: "@lupine-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"))
    try expectEcho(Socket.listen(on: address), address, SocketOptions())
  }

  private func expectEcho(_ listener: Socket, _ address: SocketAddress, _ options: SocketOptions) throws {
    #expect(listener.localAddress == address)
    let (client, server) = try Socket.pair(to: listener, options: options)
    #expect(client.peerAddress == address)
    #expect(server.localAddress == address)
    // The client's socket has no name.
    #expect(client.localAddress == nil)
    #expect(server.peerAddress == nil)
    #expect(try client.send([1, 2, 3]) == 3)
    var buffer = [UInt8](repeating: 0, count: 3)
    #expect(try server.receive(into: &buffer) == 3)
    #expect(try server.send(buffer) == 3)
    server.shutdownSending()
    try client.wait(.readable)
    #expect(try client.receiveAll() == [1, 2, 3])
  }

  @Test("connecting to a Unix socket whose backlog is full fails with the error for a full queue")
  func queueFull() throws {
    let folder = try TemporaryFolder()
    let address = try folder.socketAddress()
    let listener = try Socket.listen(on: address, backlog: 0)
    var clients = [try Socket.connect(to: address)]
    let error = #expect(throws: SystemError.self) { clients.append(try Socket.connect(to: address)) }
    #expect(error?.isQueueFull == true)
    _ = try listener.accept()
    clients.append(try Socket.connect(to: address))
    #expect(clients.count == 2)
  }

  @Test("connecting to a Unix socket's path fails if there is no socket or nothing listens on it")
  func nobody() throws {
    let folder = try TemporaryFolder()
    let address = try folder.socketAddress()
    #expect(throws: SystemError(call: "connect", code: ENOENT)) { _ = try Socket.connect(to: address) }
    // Binds and listens, then closes the socket. Only its file is left.
    _ = try Socket.listen(on: address)
    let error = #expect(throws: SystemError(call: "connect", code: ECONNREFUSED)) {
      _ = try Socket.connect(to: address)
    }
    #expect(error?.isConnectionRefused == true)
  }
}
