// A request's body: bytes, files and what a producer writes, sent one behind the other.

/// The content of a request.
///
/// Bytes and files can be sent again, so that a replay or a redirect needs no help from the caller; what a producer
/// writes can, if the producer says so. Nothing is read faster than it can be sent.
public struct RequestBody: Sendable {
  /// A part of a body.
  public enum Segment: Sendable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// Bytes in memory that are of another type than an array of bytes.
    case held(HeldBytes)
    /// The first `byteCount` bytes of a file. It is an error if the file turns out to be shorter.
    case file(path: String, byteCount: UInt64)
    /// What a producer writes.
    case produced(Producer)
  }

  /// Bytes in memory that somebody else holds: they are copied a piece at a time, as they are sent.
  public struct HeldBytes: Sendable {
    /// How many there are.
    public let byteCount: Int
    let append: @Sendable (_ range: Range<Int>, _ output: inout [UInt8]) -> Void

    /// Names the bytes by their count, and how to get at them.
    ///
    /// `append` appends those in a range within `0..<byteCount` to an array, no more and no fewer. It is called on the
    /// engine's loop, any number of times, and must return quickly.
    public init(byteCount: Int, append: @escaping @Sendable (_ range: Range<Int>, _ output: inout [UInt8]) -> Void) {
      self.byteCount = byteCount
      self.append = append
    }
  }

  /// Writes a part of a body while it is sent.
  public struct Producer: Sendable {
    /// How many bytes will be written, or nil if that isn't known. It is an error if there are more or fewer.
    public let byteCount: UInt64?
    /// Whether `produce` can be called again to write the same bytes.
    public let isReplayable: Bool
    let begin: @Sendable (BodyWriter) -> Void
  }

  /// The parts, in order.
  public private(set) var segments: [Segment] = []
  /// The length in bytes, which becomes the Content-Length; nil if it isn't known, and the body is sent chunked.
  public private(set) var byteCount: UInt64? = 0

  /// Creates an empty body.
  public init() {}

  /// Creates a body of bytes.
  public init(_ bytes: [UInt8]) {
    append(.bytes(bytes))
  }

  /// Creates a body of UTF-8 text.
  public init(_ text: String) {
    self.init(Array(text.utf8))
  }

  /// Creates a body that is written while it is sent.
  ///
  /// `produce` runs in a task of its own, with the priority of the task that creates the body; it is cancelled if the
  /// exchange ends first. It is done when `produce` returns, and fails with `.bodyUnreadable` if that throws.
  /// `isReplayable` says that it may be called again to write the same bytes, for a redirect or a connection that turned
  /// out to be closed.
  public init(
    byteCount: UInt64? = nil, isReplayable: Bool = false,
    producedBy produce: @escaping @Sendable (BodyWriter) async throws -> Void
  ) {
    // It is begun on a loop's thread, which has no priority of its own to pass on.
    let priority = Task.currentPriority
    append(
      .produced(
        Producer(byteCount: byteCount, isReplayable: isReplayable) { writer in
          let task = Task(priority: priority) {
            do {
              try await produce(writer)
              writer.finish()
            } catch {
              writer.finish(throwing: error)
            }
          }
          writer.onAbandon { task.cancel() }
        }))
  }

  /// Creates a body of the pieces of a sequence, each of which is asked for when there is room to send it.
  ///
  /// A sequence that can be iterated again from its start may be declared replayable.
  public init<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces, byteCount: UInt64? = nil, isReplayable: Bool = false
  ) where Pieces.Element == [UInt8] {
    self.init(byteCount: byteCount, isReplayable: isReplayable) { writer in
      for try await piece in pieces { try await writer.write(piece) }
    }
  }

  /// Appends a part.
  public mutating func append(_ segment: Segment) {
    segments.append(segment)
    guard let own = byteCount, let added = segment.byteCount else {
      byteCount = nil
      return
    }
    // A length beyond 64 bits can't be sent, and no caller has so many bytes.
    byteCount = own.addingReportingOverflow(added).overflow ? nil : own + added
  }

  /// Whether nothing is to be sent.
  public var isEmpty: Bool { byteCount == 0 }

  /// Whether it can be sent again.
  public var isReplayable: Bool {
    segments.allSatisfy { segment in
      if case .produced(let producer) = segment { producer.isReplayable } else { true }
    }
  }
}

extension RequestBody.Segment {
  var byteCount: UInt64? {
    switch self {
    case .bytes(let bytes): UInt64(bytes.count)
    case .held(let bytes): UInt64(bytes.byteCount)
    case .file(_, let count): count
    case .produced(let producer): producer.byteCount
    }
  }
}
