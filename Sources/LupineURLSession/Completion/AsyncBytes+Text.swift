// AsyncBytes+Text: the bytes of a response as lines, events, characters or Unicode scalars, decoded as UTF-8.

internal import Foundation
public import LupineEngine

extension URLSession.AsyncBytes {
  /// The lines of the body, without their line endings. As in Foundation, empty lines are skipped.
  ///
  /// A line ends with a line feed, a carriage return, a carriage return followed by a line feed, or one of U+000B, U+000C,
  /// U+0085, U+2028 and U+2029. Invalid UTF-8 is replaced with U+FFFD. A line of more than 16 MiB fails with
  /// `URLError.dataLengthExceedsMaximum`, unlike in Foundation, where a server may fill the memory.
  public var lines: Lines { lines(upTo: EventStreamLimits().lineBytesMax) }

  /// Returns the lines of the body, like ``lines``, but with `bytesMax` as the maximum length of a line in bytes. Lupine's addition to
  /// URLSession's API.
  public func lines(upTo bytesMax: Int) -> Lines { Lines(bytes: self, bytesMax: bytesMax) }

  /// Returns the events of the body, which is an event stream (WHATWG HTML, "Server-sent events"). Lupine's addition to URLSession's
  /// API.
  ///
  /// The caller checks the status code, which must be 200, and the media type, which must be `text/event-stream`. An event without an
  /// end is dropped at the end of the body.
  ///
  /// - Parameters:
  ///   - limits: The limits for lines, events and IDs.
  ///   - lastEventID: The ID that was sent as `Last-Event-ID`. Events have this ID until the server sends another one.
  public func events(limits: EventStreamLimits = EventStreamLimits(), lastEventID: String = "") -> Events {
    Events(bytes: self, parser: EventStreamParser(limits: limits, lastEventID: lastEventID))
  }

  /// The characters of the body. Invalid UTF-8 is replaced by U+FFFD.
  public var characters: Characters { Characters(scalars: unicodeScalars) }

  /// The Unicode scalars of the body. Invalid UTF-8 is replaced by U+FFFD.
  public var unicodeScalars: UnicodeScalars { UnicodeScalars(bytes: self) }

  /// The lines of a response's body, decoded as UTF-8, without line endings and empty lines.
  public struct Lines: AsyncSequence, Sendable {
    /// The element of the sequence: a line without its line ending.
    public typealias Element = String

    let bytes: URLSession.AsyncBytes
    let bytesMax: Int

    /// Creates an iterator over the lines of the body.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: bytes.source, bytesMax: bytesMax) }

    /// An iterator over the lines of a response's body.
    public struct AsyncIterator: AsyncIteratorProtocol {
      private let source: URLSession.AsyncBytes.Source
      private var lines: TextLines
      private var part = Data()
      private var index = 0
      private var isOver = false

      init(source: URLSession.AsyncBytes.Source, bytesMax: Int) {
        self.source = source
        lines = TextLines(lineBytesMax: bytesMax)
      }

      /// Returns the next line that isn't empty, or nil at the end of the body. Throws a `URLError` if the request fails, which is
      /// `.dataLengthExceedsMaximum` if a line is too long.
      public mutating func next() async throws -> String? {
        // An iterator that has thrown returns nil afterward, and not the beginning of a line.
        guard !isOver else { return nil }
        isOver = true
        while true {
          // A copy without the bytes, because the span of a property would keep the other properties from being changed.
          let part = part
          if let line = try source.limiting({ try lines.next(in: part.span, from: &index) }) {
            isOver = false
            return line
          }
          guard let next = try await source.nextPart() else { return try source.limiting { try lines.last() } }
          (self.part, index) = (next, 0)
        }
      }
    }
  }

  /// The events of a response's body, as an asynchronous sequence.
  public struct Events: AsyncSequence, Sendable {
    /// The element of the sequence: an event.
    public typealias Element = ServerSentEvent

    let bytes: URLSession.AsyncBytes
    let parser: EventStreamParser

    /// Creates an iterator over the events of the body.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: bytes.source, parser: parser) }

    /// An iterator over the events of a response's body.
    public struct AsyncIterator: AsyncIteratorProtocol {
      private let source: URLSession.AsyncBytes.Source
      private var parser: EventStreamParser
      private var part = Data()
      private var index = 0
      private var isOver = false

      init(source: URLSession.AsyncBytes.Source, parser: EventStreamParser) {
        self.source = source
        self.parser = parser
      }

      /// Returns the next event, or nil at the end of the body. Throws a `URLError` if the request fails, which is
      /// `.dataLengthExceedsMaximum` if a limit is exceeded.
      public mutating func next() async throws -> ServerSentEvent? {
        guard !isOver else { return nil }
        isOver = true
        while true {
          let part = part
          if let event = try source.limiting({ try parser.next(in: part.span, from: &index) }) {
            isOver = false
            return event
          }
          guard let next = try await source.nextPart() else { return nil }
          (self.part, index) = (next, 0)
        }
      }
    }
  }

  /// The Unicode scalars of a response's body, as an asynchronous sequence.
  public struct UnicodeScalars: AsyncSequence, Sendable {
    /// The element of the sequence: a Unicode scalar.
    public typealias Element = Unicode.Scalar

    let bytes: URLSession.AsyncBytes

    /// Creates an iterator over the Unicode scalars of the body.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes.makeAsyncIterator()) }

    /// An iterator over the Unicode scalars of a response's body.
    public struct AsyncIterator: AsyncIteratorProtocol {
      var bytes: URLSession.AsyncBytes.AsyncIterator
      /// A byte that was read after an incomplete UTF-8 sequence but doesn't belong to it. The next scalar starts with this byte.
      private var leftover: UInt8?

      init(bytes: URLSession.AsyncBytes.AsyncIterator) { self.bytes = bytes }

      /// Returns the next Unicode scalar, or nil at the end of the body. Throws a `URLError` if the request fails.
      public mutating func next() async throws -> Unicode.Scalar? {
        guard let first = try await nextByte() else { return nil }
        let byteCount: Int
        switch first {
        case 0..<0x80: return Unicode.Scalar(first)
        case 0xC2...0xDF: byteCount = 2
        case 0xE0...0xEF: byteCount = 3
        case 0xF0...0xF4: byteCount = 4
        default: return "\u{FFFD}"
        }
        var scalar = [first]
        while scalar.count < byteCount, let byte = try await nextByte() {
          guard byte & 0xC0 == 0x80 else {
            leftover = byte
            return "\u{FFFD}"
          }
          scalar.append(byte)
        }
        // The bytes may be an incomplete sequence at the end of the body, an overlong sequence, or a surrogate.
        return String(validating: scalar, as: UTF8.self)?.unicodeScalars.first ?? "\u{FFFD}"
      }

      private mutating func nextByte() async throws -> UInt8? {
        if let leftover = leftover.take() { return leftover }
        return try await bytes.next()
      }
    }
  }

  /// The characters of a response's body, as an asynchronous sequence.
  public struct Characters: AsyncSequence, Sendable {
    /// The element of the sequence: a character.
    public typealias Element = Character

    let scalars: UnicodeScalars

    /// Creates an iterator over the characters of the body.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(scalars: scalars.makeAsyncIterator()) }

    /// An iterator over the characters of a response's body.
    public struct AsyncIterator: AsyncIteratorProtocol {
      var scalars: UnicodeScalars.AsyncIterator
      private var text = ""

      init(scalars: UnicodeScalars.AsyncIterator) { self.scalars = scalars }

      /// Returns the next character, or nil at the end of the body. Throws a `URLError` if the request fails.
      public mutating func next() async throws -> Character? {
        // A character is known to be complete only when the next one has begun.
        do {
          while text.count < 2, let scalar = try await scalars.next() { text.unicodeScalars.append(scalar) }
        } catch {
          // An iterator that has thrown returns nil afterward, and not a character that may be incomplete.
          text = ""
          throw error
        }
        return text.isEmpty ? nil : text.removeFirst()
      }
    }
  }
}

extension URLSession.AsyncBytes.Source {
  /// Calls `read`. If a limit is exceeded, cancels the session task, and throws a `URLError` instead of the `EventStreamError`.
  fileprivate func limiting<Value>(_ read: () throws -> Value) throws -> Value {
    do {
      return try read()
    } catch let error as EventStreamError {
      task.cancel()
      throw URLError(.dataLengthExceedsMaximum, error.description, underlying: error)
    }
  }
}
