// SendFileTests: sending files with sendfile(2).

import Glibc
import LupineLoopback
import LupineTestSupport
import Testing

@testable import LupineReactor

@Suite("Sending files", .timeLimit(.minutes(10)))
struct SendFileTests {
  private let bytes = SequenceBytes.bytes(from: 0, count: 100_000)

  private func pair() throws -> (client: Socket, server: Socket) {
    try Socket.pair(to: Socket.listen(onNumeric: "127.0.0.1"))
  }

  @Test(
    "sending a file sends only the requested part",
    arguments: [0..<100_000, 0..<1, 99_999..<100_000, 70_000..<70_500])
  func part(range: Range<Int>) throws {
    let temporary = try TemporaryFile(bytes)
    let file = try File(reading: temporary.path)
    let (client, server) = try pair()
    var offset = range.lowerBound
    while offset < range.upperBound {
      try client.wait(.writable)
      offset += try client.send(file, from: UInt64(offset), count: range.upperBound - offset) ?? 0
    }
    client.shutdownSending()
    #expect(try server.receiveAll() == Array(bytes[range]))
  }

  @Test("sending a file stops when the kernel's buffer is full, and can be continued from that position")
  func backpressure() throws {
    let bytes = SequenceBytes.bytes(from: 0, count: SequenceBytes.period)
    let temporary = try TemporaryFile(bytes)
    let file = try File(reading: temporary.path)
    let (client, server) = try pair()
    var sent = 0
    while let count = try client.send(file, from: UInt64(sent % bytes.count), count: bytes.count - sent % bytes.count) {
      sent += count
    }
    #expect(sent > 0)
    client.shutdownSending()
    let received = try server.receiveAll()
    #expect(received.count == sent)
    #expect(received == SequenceBytes.bytes(from: 0, count: sent))
  }

  @Test(
    "sending a file fails if the file is shorter than expected", arguments: [100_000, 100_001, UInt64(Int64.max), .max])
  func ended(offset: UInt64) throws {
    let temporary = try TemporaryFile(bytes)
    let file = try File(reading: temporary.path)
    let (client, _) = try pair()
    #expect(try client.send(file, from: 99_990, count: 100) == 10)
    let error = #expect(throws: SystemError.self) { _ = try client.send(file, from: offset, count: 1) }
    // For the largest offsets, the kernel returns an error without reading the file.
    #expect([.fileEnded(temporary.path), SystemError(call: "sendfile", code: EINVAL)].contains(error))
    if offset < 1 << 62 { #expect(error == .fileEnded(temporary.path)) }
  }

  @Test("sending a file to a closed connection fails, without raising a signal then or later")
  func closed() throws {
    let temporary = try TemporaryFile(bytes)
    let file = try File(reading: temporary.path)
    let (client, server) = try pair()
    server.resetOnClose()
    server.shutdownBoth()
    client.shutdownBoth()
    for _ in 0..<3 {
      #expect(throws: SystemError(call: "sendfile", code: EPIPE)) { _ = try client.send(file, from: 0, count: 10) }
      var pending = sigset_t()
      sigpending(&pending)
      #expect(sigismember(&pending, SIGPIPE) == 0)
    }
  }

  // Simulates sendfile(2) if the connection closes during the call, which no test can time. This runs in a separate process,
  // because the signal would end it.
  @Test(
    "sending a file on a connection that is then lost returns the number of bytes sent, and raises no signal")
  func cutOff() async {
    await #expect(processExitsWith: .success) {
      let sent = SystemCall.withoutBrokenPipeSignal(count: 10) {
        raise(SIGPIPE)
        return 5
      }
      #expect(sent == 5)
    }
  }

  @Test("if the thread's signal mask blocks SIGPIPE, sending a file leaves the mask unchanged")
  func mask() async throws {
    let temporary = try TemporaryFile(bytes)
    let (client, _) = try pair()
    client.shutdownBoth()
    let (results, continuation) = AsyncStream.makeStream(of: Bool.self)
    try Thread.start(name: "lupine-test") {
      var set = sigset_t()
      sigemptyset(&set)
      sigaddset(&set, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &set, nil)
      do {
        _ = try client.send(File(reading: temporary.path), from: 0, count: 10)
      } catch {
        var after = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &after)
        continuation.yield(sigismember(&after, SIGPIPE) == 1)
      }
      continuation.finish()
    }
    var iterator = results.makeAsyncIterator()
    #expect(await iterator.next() == true)
  }
}
