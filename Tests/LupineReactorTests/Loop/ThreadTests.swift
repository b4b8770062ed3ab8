// ThreadTests: the body, name and release of threads.

import Glibc
import LupineReactor
import Testing

@Suite("Thread", .timeLimit(.minutes(10)))
struct ThreadTests {
  /// An object that calls a closure when it is deallocated.
  private final class Tracer: Sendable {
    let onRelease: @Sendable () -> Void
    init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
    deinit { onRelease() }
  }

  @Test(
    "a new thread runs its body, and the thread's name is truncated to 15 bytes",
    arguments: [
      ("lupine-test", "lupine-test"), ("exactly-15-byte", "exactly-15-byte"),
      ("more-than-15-bytes", "more-than-15-by"), ("né-wider-letters", "né-wider-lette"), ("", ""),
    ])
  func runs(name: String, kept: String) async throws {
    let here = pthread_self()
    let (results, continuation) = AsyncStream.makeStream(of: (String, Bool).self)
    try Thread.start(name: name) {
      let file = open("/proc/thread-self/comm", O_RDONLY)
      var text = [UInt8](repeating: 0, count: 32)
      let count = read(file, &text, text.count)
      close(file)
      let name = String(decoding: text.prefix(max(count - 1, 0)), as: UTF8.self)
      continuation.yield((name, pthread_self() != here))
    }
    var iterator = results.makeAsyncIterator()
    let (found, isOther) = try #require(await iterator.next())
    #expect(found == kept)
    #expect(isOther)
  }

  @Test("a thread releases its body closure when the thread ends")
  func releases() async throws {
    let (releases, continuation) = AsyncStream.makeStream(of: Void.self)
    try start(Tracer { continuation.yield() })
    var iterator = releases.makeAsyncIterator()
    let release: Void? = await iterator.next()
    #expect(release != nil)
  }

  private func start(_ tracer: Tracer) throws {
    try Thread.start(name: "lupine-test") { withExtendedLifetime(tracer) {} }
  }
}
