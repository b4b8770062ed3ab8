// Files that the kernel sends by itself.

import Glibc
import LupineTestSupport
import Testing

@testable import LupineReactor

@Suite("Sending files", .timeLimit(.minutes(10)))
struct SendFileTests {
  private let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  private func pair() throws -> (client: Socket, server: Socket) {
    try Socket.pair(to: Socket.listen(onNumeric: "127.0.0.1"))
  }

  @Test(
    "a part of a file arrives, and what stood in front of it and behind it doesn't",
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

  @Test("what the kernel has no room for is not taken, and goes on where it stopped")
  func backpressure() throws {
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
    #expect(received.indices.allSatisfy { received[$0] == bytes[$0 % bytes.count] })
  }

  @Test("a file that is shorter than said is told", arguments: [100_000, 100_001, UInt64(Int64.max), .max])
  func ended(offset: UInt64) throws {
    let temporary = try TemporaryFile(bytes)
    let file = try File(reading: temporary.path)
    let (client, _) = try pair()
    #expect(try client.send(file, from: 99_990, count: 100) == 10)
    let error = #expect(throws: SystemError.self) { _ = try client.send(file, from: offset, count: 1) }
    // Beyond what an offset can be, the kernel doesn't look at the file.
    #expect([.fileEnded(temporary.path), SystemError(call: "sendfile", code: EINVAL)].contains(error))
    if offset < 1 << 62 { #expect(error == .fileEnded(temporary.path)) }
  }

  @Test("to a closed connection it is an error, which raises no signal, now or later")
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

  // As sendfile does if the connection is closed while it runs, which no test can time. In a process of its own, which the
  // signal would end.
  @Test("a transfer that was cut off raises no signal, though it tells how many bytes went out before")
  func cutOff() async {
    await #expect(processExitsWith: .success) {
      let sent = SystemCall.withoutBrokenPipeSignal(count: 10) {
        raise(SIGPIPE)
        return 5
      }
      #expect(sent == 5)
    }
  }

  @Test("a signal mask that blocks SIGPIPE is left as it was")
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
