// StreamingBody: the body of a request whose call also reads the response, and the writer with which a closure writes it.

public import LupineWire
internal import Synchronization

/// The body of a request that `Engine.execute(_:body:redirects:handler:)` sends while its handler reads the response.
///
/// A closure writes the body. The engine calls it again if the request must be sent again: on another connection, because a kept-alive
/// one turned out to be closed, or to the target of a redirect. A body that can't be written twice is `nonrestartable`; such a redirect
/// then fails with `.bodyNotReplayable`.
public struct StreamingBody: Sendable {
  fileprivate let byteCount: UInt64?
  fileprivate let isReplayable: Bool
  fileprivate let trailerNames: [String]
  fileprivate let write: @Sendable (consuming StreamingBodyWriter) async throws -> Void

  /// A body that `write` can write any number of times.
  ///
  /// - Parameters:
  ///   - byteCount: The number of bytes that `write` writes, which is sent as Content-Length. If nil, the body is sent in chunks. The
  ///     request fails with `.bodyUnreadable` if `write` writes more or fewer bytes.
  ///   - trailerNames: The names of the fields that `write` may pass to `StreamingBodyWriter.finish`. With any, the body is sent in
  ///     chunks even if its length is known.
  ///   - write: Writes the body. The body ends when it returns, or earlier with `finish`. If it throws an error, the request fails with
  ///     `.bodyUnreadable`. It runs in another task, which is cancelled when the engine needs no more of the body. After `finish`,
  ///     it is cancelled when the call's handler has returned or the call has failed.
  public static func restartable(
    byteCount: UInt64? = nil, trailerNames: [String] = [],
    _ write: @escaping @Sendable (consuming StreamingBodyWriter) async throws -> Void
  ) -> StreamingBody {
    StreamingBody(byteCount: byteCount, isReplayable: true, trailerNames: trailerNames, write: write)
  }

  /// A body that `write` can write from any offset in bytes. The engine always passes the offset 0, because HTTP/1.1 has no way to
  /// continue an upload.
  public static func seekable(
    byteCount: UInt64? = nil, trailerNames: [String] = [],
    _ write: @escaping @Sendable (_ offset: UInt64, _ writer: consuming StreamingBodyWriter) async throws -> Void
  ) -> StreamingBody {
    restartable(byteCount: byteCount, trailerNames: trailerNames) { writer in try await write(0, writer) }
  }

  /// A body that `write` can write only once.
  public static func nonrestartable(
    byteCount: UInt64? = nil, trailerNames: [String] = [],
    _ write: @escaping @Sendable (consuming StreamingBodyWriter) async throws -> Void
  ) -> StreamingBody {
    StreamingBody(byteCount: byteCount, isReplayable: false, trailerNames: trailerNames, write: write)
  }

  /// Returns the body for a request. `runs` gets the tasks in which the closure runs.
  func requestBody(_ runs: BodyRuns) -> RequestBody {
    RequestBody(
      byteCount: byteCount, isReplayable: isReplayable, trailerNames: trailerNames,
      didBegin: { runs.add($0) },
      producedBy: { [write] writer in try await write(StreamingBodyWriter(writer)) })
  }
}

/// Writes the body of a request, no faster than the engine sends it.
public struct StreamingBodyWriter: ~Copyable, Sendable {
  private let writer: BodyWriter

  fileprivate init(_ writer: BodyWriter) { self.writer = writer }

  /// Writes bytes, and then waits while 64 KiB or more haven't been taken by the engine.
  ///
  /// Throws `CancellationError` if the engine needs no more of the body, because the response is complete or the call has ended.
  public mutating func write(_ bytes: [UInt8]) async throws { try await writer.write(bytes) }

  /// Ends the body with these fields, whose names must be among the body's `trailerNames`. None by default.
  ///
  /// - Throws: A `WireError` if a field wasn't announced or isn't permitted after the body (RFC 9110 §6.5.1).
  public consuming func finish(_ trailers: Fields = Fields()) throws(WireError) {
    try writer.setTrailers(trailers)
    writer.end()
  }
}

/// The tasks in which a body's closure runs, so that the call that sends the body doesn't return before they have ended.
final class BodyRuns: Sendable {
  private let tasks = Mutex<[Task<Void, Never>]>([])

  func add(_ task: Task<Void, Never>) { tasks.withLock { $0.append(task) } }

  /// Cancels the tasks, and waits until they have ended. A closure that has ended its body can still run: the exchange's end doesn't
  /// cancel it, because the loop has released its writer.
  func end() async {
    let tasks = tasks.withLock { $0 }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
  }
}
