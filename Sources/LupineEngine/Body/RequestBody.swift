// RequestBody: the body of a request: a sequence of bytes, files and the output of producers.

public import LupineWire

/// The body of a request: a sequence of bytes, files and the output of producers.
///
/// If the request must be sent again, for a replay or a redirect, the engine sends bytes and files again without help from the
/// caller. It can send the output of a producer again only if the producer's `isReplayable` is true. The engine never reads the
/// body faster than it can send it.
public struct RequestBody: Sendable {
  /// A part of a request body: bytes, a file, or the output of a producer.
  public enum Segment: Sendable {
    /// Bytes in an array.
    case bytes([UInt8])
    /// Bytes in memory that are stored in an object other than an array, such as a `Data` value.
    case held(HeldBytes)
    /// The first `byteCount` bytes of a file. The exchange fails if the file is shorter.
    case file(path: String, byteCount: UInt64)
    /// Bytes that a producer writes while the engine sends the body.
    case produced(Producer)
  }

  /// Bytes in memory that are stored in an object other than an array. The engine copies them piece by piece as it sends them.
  public struct HeldBytes: Sendable {
    /// The number of bytes that the object contains.
    public let byteCount: Int
    package let append: @Sendable (_ range: Range<Int>, _ output: inout [UInt8]) -> Void

    /// Creates a body segment of `byteCount` bytes, which the engine copies by calling `append`.
    ///
    /// `append` must append exactly the bytes of the given range, within `0..<byteCount`, to the array. It is called any number of
    /// times on one of the engine's event loops, and must return quickly.
    public init(byteCount: Int, append: @escaping @Sendable (_ range: Range<Int>, _ output: inout [UInt8]) -> Void) {
      self.byteCount = byteCount
      self.append = append
    }
  }

  /// A part of a request body whose bytes a closure writes while the engine sends the body.
  public struct Producer: Sendable {
    /// The number of bytes that the producer will write, or nil if the number is unknown. If the producer writes more or fewer
    /// bytes, the exchange fails.
    public let byteCount: UInt64?
    /// Whether the producer can be started again to write the same bytes. False by default.
    public let isReplayable: Bool
    /// The names of the fields that the producer may send after the body (`BodyWriter.setTrailers`). None by default.
    public internal(set) var trailerNames: [String] = []
    let begin: @Sendable (BodyWriter) -> Void
  }

  /// The parts of the body, in the order in which they are sent.
  public private(set) var segments: [Segment] = []
  /// The length of the body in bytes, which is sent as Content-Length. If nil, the length is unknown or fields follow the body, and
  /// the body is sent with chunked transfer coding.
  public private(set) var byteCount: UInt64? = 0

  /// Creates an empty request body.
  public init() {}

  /// Creates a request body from an array of bytes.
  public init(_ bytes: [UInt8]) {
    append(.bytes(bytes))
  }

  /// Creates a request body from a string, which is encoded as UTF-8.
  public init(_ text: String) {
    self.init(Array(text.utf8))
  }

  /// Creates a body that `produce` writes while the engine sends it.
  ///
  /// `produce` runs in a separate task with the priority of the task that creates the body. The task is cancelled if the exchange
  /// ends first. The body ends when `produce` returns. If `produce` throws an error, the exchange fails with `.bodyUnreadable`.
  ///
  /// - Parameters:
  ///   - byteCount: The number of bytes that `produce` writes, or nil if it is unknown.
  ///   - isReplayable: Whether `produce` can be called again to write the same bytes: for a redirect, or to
  ///     send the request again after its connection turned out to be closed.
  ///   - trailerNames: The names of the fields that `produce` may send after the body with `BodyWriter.setTrailers`. If there are any,
  ///     the request announces them in a Trailer field, and the body is sent in chunks even if its length is known. The request fails
  ///     with `.invalidRequest` if a name isn't permitted there, such as Content-Type. None by default.
  public init(
    byteCount: UInt64? = nil, isReplayable: Bool = false, trailerNames: [String] = [],
    producedBy produce: @escaping @Sendable (BodyWriter) async throws -> Void
  ) {
    self.init(
      byteCount: byteCount, isReplayable: isReplayable, trailerNames: trailerNames, didBegin: { _ in },
      producedBy: produce)
  }

  /// Creates a body that `produce` writes while the engine sends it. `didBegin` is called on the event loop with the task of each
  /// call of `produce`.
  init(
    byteCount: UInt64?, isReplayable: Bool, trailerNames: [String],
    didBegin: @escaping @Sendable (Task<Void, Never>) -> Void,
    producedBy produce: @escaping @Sendable (BodyWriter) async throws -> Void
  ) {
    // The priority is read here, because the producer starts on a loop's thread, which has no task priority.
    let priority = Task.currentPriority
    append(
      .produced(
        Producer(byteCount: byteCount, isReplayable: isReplayable, trailerNames: trailerNames) { writer in
          let task = Task(priority: priority) {
            do {
              try await produce(writer)
              writer.end()
            } catch {
              writer.end(throwing: error)
            }
          }
          didBegin(task)
          writer.onAbandon { task.cancel() }
        }))
  }

  /// Creates a request body from an asynchronous sequence of byte arrays. The engine requests the next array when there is room to
  /// buffer it.
  ///
  /// Set `isReplayable` if the sequence can be iterated again from its start. `byteCount` is the total number of bytes, or nil if
  /// it is unknown.
  ///
  /// `trailers` is called after the last piece, and returns the fields to send after the body. Their names must be among
  /// `trailerNames`.
  public init<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces, byteCount: UInt64? = nil, isReplayable: Bool = false, trailerNames: [String] = [],
    trailers: @escaping @Sendable () async throws -> Fields = { Fields() }
  ) where Pieces.Element == [UInt8] {
    self.init(byteCount: byteCount, isReplayable: isReplayable, trailerNames: trailerNames) { writer in
      for try await piece in pieces { try await writer.write(piece) }
      try writer.setTrailers(await trailers())
    }
  }

  /// Creates a body of unknown length. `begin` is called on the event loop with the writer to which the bytes must be written, and
  /// must return quickly. If `isReplayable` is true, it may be called again, to send the body again.
  ///
  /// A function, because a trailing closure of an initializer could be taken for a producer, which ends the body when it returns.
  package static func begun(
    isReplayable: Bool, by begin: @escaping @Sendable (BodyWriter) -> Void
  ) -> RequestBody {
    var body = RequestBody()
    body.append(.produced(Producer(byteCount: nil, isReplayable: isReplayable, begin: begin)))
    return body
  }

  /// Appends a segment to the request body.
  public mutating func append(_ segment: Segment) {
    segments.append(segment)
    guard let own = byteCount, let added = segment.byteCount, segment.trailerNames.isEmpty else {
      byteCount = nil
      return
    }
    // A length that exceeds 64 bits is treated as unknown. No caller has that many bytes.
    byteCount = own.addingReportingOverflow(added).overflow ? nil : own + added
  }

  /// The names of the fields that may follow the body, which the request announces in its Trailer field.
  var trailerNames: [String] { segments.flatMap(\.trailerNames) }

  /// Whether the length of the request body is known to be 0.
  public var isEmpty: Bool { byteCount == 0 }

  /// Whether the engine can send the whole body again.
  public var isReplayable: Bool {
    segments.allSatisfy { segment in
      if case .produced(let producer) = segment { producer.isReplayable } else { true }
    }
  }
}

extension RequestBody.Segment {
  fileprivate var trailerNames: [String] {
    if case .produced(let producer) = self { producer.trailerNames } else { [] }
  }

  var byteCount: UInt64? {
    switch self {
    case .bytes(let bytes): UInt64(bytes.count)
    case .held(let bytes): UInt64(bytes.byteCount)
    case .file(_, let count): count
    case .produced(let producer): producer.byteCount
    }
  }
}
