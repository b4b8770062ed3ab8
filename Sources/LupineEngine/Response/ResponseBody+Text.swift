// ResponseBody+Text: a response's body as lines, or as an event stream.

extension ResponseBody {
  /// The lines of the body as UTF-8 text, without their line endings and without empty lines.
  ///
  /// A line ends with a line feed, a carriage return, a carriage return followed by a line feed, or one of U+000B, U+000C, U+0085,
  /// U+2028 and U+2029. Invalid UTF-8 is replaced with U+FFFD. The iteration throws an ``EngineError``, or an `EventStreamError` if a
  /// line has more than 16 MiB.
  public var lines: Lines { lines(upTo: EventStreamLimits().lineBytesMax) }

  /// Returns the lines of the body, like ``lines``, but with `bytesMax` as the maximum length of a line in bytes.
  public func lines(upTo bytesMax: Int) -> Lines { Lines(body: self, bytesMax: bytesMax) }

  /// Returns the events of the body, which is an event stream (WHATWG HTML, "Server-sent events").
  ///
  /// The caller checks the status code, which must be 200, and the Content-Type, which must be `text/event-stream`. An event without
  /// an end is dropped at the end of the body. The iteration throws an ``EngineError``, or an `EventStreamError` if a limit is exceeded.
  ///
  /// - Parameters:
  ///   - limits: The limits for lines, events and IDs.
  ///   - lastEventID: The ID that was sent as `Last-Event-ID`. Events have this ID until the server sends another one.
  public func events(limits: EventStreamLimits = EventStreamLimits(), lastEventID: String = "") -> Events {
    Events(body: self, parser: EventStreamParser(limits: limits, lastEventID: lastEventID))
  }

  /// The lines of a response's body as text.
  public struct Lines: AsyncSequence, Sendable {
    let body: ResponseBody
    let bytesMax: Int

    /// Returns an iterator over the lines of the body.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// An iterator over the lines of a response's body.
    public struct AsyncIterator: AsyncIteratorProtocol {
      private let pieces: ResponseBody.AsyncIterator
      private var lines: TextLines
      private var piece: [UInt8] = []
      private var index = 0
      private var isOver = false

      init(_ sequence: Lines) {
        pieces = sequence.body.makeAsyncIterator()
        lines = TextLines(lineBytesMax: sequence.bytesMax)
      }

      /// Returns the next line, or nil after the last line. An iterator that has thrown an error returns nil afterward.
      public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> String? {
        guard !isOver else { return nil }
        isOver = true
        while true {
          // A copy without the bytes, because the span of a property would keep the other properties from being changed.
          let piece = piece
          if let line = try lines.next(in: piece.span, from: &index) {
            isOver = false
            return line
          }
          guard let next = try await pieces.next() else { return try lines.last() }
          (self.piece, index) = (next, 0)
        }
      }
    }
  }

  /// The events of a response's body.
  public struct Events: AsyncSequence, Sendable {
    let body: ResponseBody
    let parser: EventStreamParser

    /// Returns an iterator over the events of the body.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// An iterator over the events of a response's body.
    public struct AsyncIterator: AsyncIteratorProtocol {
      private let pieces: ResponseBody.AsyncIterator
      private var parser: EventStreamParser
      private var piece: [UInt8] = []
      private var index = 0
      private var isOver = false

      init(_ sequence: Events) {
        pieces = sequence.body.makeAsyncIterator()
        parser = sequence.parser
      }

      /// Returns the next event, or nil after the last event. An iterator that has thrown an error returns nil afterward.
      public mutating func next(
        isolation actor: isolated (any Actor)? = #isolation
      ) async throws -> ServerSentEvent? {
        guard !isOver else { return nil }
        isOver = true
        while true {
          let piece = piece
          if let event = try parser.next(in: piece.span, from: &index) {
            isOver = false
            return event
          }
          guard let next = try await pieces.next() else { return nil }
          (self.piece, index) = (next, 0)
        }
      }
    }
  }
}
