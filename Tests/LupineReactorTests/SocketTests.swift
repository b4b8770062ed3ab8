// TCP on the loopback interface.

import Glibc
import Testing

@testable import LupineReactor

/// A socket for `#expect` and for two threads, neither of which can take a noncopyable value.
private final class Peer: Sendable {
  private let socket: Socket

  init(_ socket: consuming Socket) { self.socket = socket }

  convenience init(listeningOn host: String) throws {
    self.init(try Socket.listen(on: try #require(SocketAddress(numeric: host, port: 0))))
  }

  convenience init(connectingTo address: SocketAddress) throws {
    self.init(try Socket.connect(to: address))
    try wait(.writable)
  }

  var local: SocketAddress? { socket.localAddress }
  var remote: SocketAddress? { socket.peerAddress }

  func wait(_ interest: Poller.Interest) throws {
    var poller = try Poller()
    try poller.add(socket.number, interest, token: 1)
    var events: [Poller.Event] = []
    try poller.wait(until: nil, now: .now, into: &events)
    try #require(!events.isEmpty)
  }

  func finishConnecting() throws(SystemError) { try socket.finishConnecting() }
  func accept() throws(SystemError) -> Peer { Peer(try socket.accept()) }
  func send(_ bytes: [UInt8], from offset: Int = 0) throws(SystemError) -> Int? {
    try socket.send(bytes, from: offset)
  }

  /// What is there; nil if nothing is, empty at the end.
  func receive() throws(SystemError) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    return try socket.receive(into: &buffer).map { Array(buffer[..<$0]) }
  }

  func receive(into buffer: inout [UInt8], from offset: Int) throws(SystemError) -> Int? {
    try socket.receive(into: &buffer, from: offset)
  }

  func shutdownSending() { socket.shutdownSending() }
  func shutdownBoth() { socket.shutdownBoth() }
  func resetOnClose() { socket.resetOnClose() }
}

@Suite("Socket", .timeLimit(.minutes(1)))
struct SocketTests {
  static let loopbacks = ["127.0.0.1"] + ((try? Peer(listeningOn: "::1")) == nil ? [] : ["::1"])

  private func connected(to listener: Peer) throws -> (client: Peer, server: Peer) {
    let client = try Peer(connectingTo: try #require(listener.local))
    try client.finishConnecting()
    return (client, try listener.accept())
  }

  private func pair() throws -> (client: Peer, server: Peer) { try connected(to: Peer(listeningOn: "127.0.0.1")) }

  @Test("both ends know their own and each other's address", arguments: loopbacks)
  func addresses(host: String) throws {
    let listener = try Peer(listeningOn: host)
    let (client, server) = try connected(to: listener)
    let port = try #require(listener.local).port
    #expect(port > 0)
    #expect(client.remote?.description == SocketAddress(numeric: host, port: port)?.description)
    #expect(server.local?.description == client.remote?.description)
    #expect(server.remote?.description == client.local?.description)
    #expect(client.local?.port != port)
    #expect(listener.remote == nil)
  }

  @Test("bytes are echoed; while none are there, the answer is nil")
  func echo() throws {
    let (client, server) = try pair()
    #expect(try client.receive() == nil)
    #expect(try client.send([1, 2, 3]) == 3)
    let received = try #require(try server.receive())
    #expect(received == [1, 2, 3])
    #expect(try server.send(received + [4]) == 4)
    try client.wait(.readable)
    #expect(try client.receive() == [1, 2, 3, 4])
    #expect(try client.receive() == nil)
  }

  @Test("offsets leave what stands in front of them alone")
  func offsets() throws {
    let (client, server) = try pair()
    #expect(try client.send([9, 8, 1, 2, 3], from: 2) == 3)
    var buffer: [UInt8] = [7, 7, 7, 0, 0]
    let count = try server.receive(into: &buffer, from: 3)
    #expect(count == 2)
    #expect(buffer == [7, 7, 7, 1, 2])
    #expect(try server.receive() == [3])
  }

  @Test("the end of the peer's side is told as no bytes, and this side can still send")
  func halfClose() throws {
    let (client, server) = try pair()
    server.shutdownSending()
    try client.wait(.readable)
    #expect(try client.receive() == [])
    #expect(try client.send([5]) == 1)
    #expect(try server.receive() == [5])
  }

  @Test("what the kernel has no room for is not taken, and all that was taken arrives")
  func backpressure() throws {
    let (client, server) = try pair()
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var sent = 0
    while let count = try client.send(bytes, from: sent % bytes.count) { sent += count }
    #expect(sent > 0)
    client.shutdownSending()
    var received = 0
    var isSame = true
    while let part = try server.receive(), !part.isEmpty {
      for (index, byte) in part.enumerated() where byte != bytes[(received + index) % bytes.count] { isSame = false }
      received += part.count
    }
    #expect(received == sent)
    #expect(isSame)
  }

  @Test("a port on which nobody listens is told when connecting is finished", arguments: loopbacks)
  func refused(host: String) throws {
    // Bound, so that nobody else gets the port meanwhile, but not listening.
    let address = try #require(SocketAddress(numeric: host, port: 0))
    let number = socket(address.family, CInt(SOCK_STREAM.rawValue), 0)
    let owner = Peer(Socket(FileDescriptor(owning: number)))
    let bound = address.withPointer { bind(number, $0, $1) }
    try #require(bound == 0)
    let client = try Peer(connectingTo: try #require(owner.local))
    let error = #expect(throws: SystemError(call: "connect", code: ECONNREFUSED)) { try client.finishConnecting() }
    #expect(error?.isConnectionRefused == true)
  }

  @Test("after a reset reading is an error, and writing too, which raises no signal")
  func reset() throws {
    let client: Peer
    do {
      let (kept, server) = try pair()
      server.resetOnClose()
      client = kept
    }
    try client.wait(.readable)
    #expect(throws: SystemError(call: "recv", code: ECONNRESET)) { _ = try client.receive() }
    #expect(throws: SystemError(call: "send", code: EPIPE)) { _ = try client.send([1]) }
  }

  @Test("a port that is taken can't be listened on")
  func taken() throws {
    let listener = try Peer(listeningOn: "127.0.0.1")
    let address = try #require(listener.local)
    #expect(throws: SystemError(call: "bind", code: EADDRINUSE)) { _ = try Socket.listen(on: address) }
  }

  @Test("ending a listener returns whoever waits in accept")
  func endsAccept() async throws {
    let listener = try Peer(listeningOn: "127.0.0.1")
    let (errors, continuation) = AsyncStream.makeStream(of: SystemError?.self)
    try Thread.start(name: "lupine-accept") {
      do throws(SystemError) {
        _ = try listener.accept()
        continuation.yield(nil)
      } catch {
        continuation.yield(error)
      }
    }
    // Whether the thread waits already or not, the socket doesn't listen any more.
    listener.shutdownBoth()
    var iterator = errors.makeAsyncIterator()
    let error = await iterator.next()
    #expect(error == SystemError(call: "accept", code: EINVAL))
  }
}
