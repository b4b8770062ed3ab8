// AsyncBytes+Text: the bytes of a response as lines, characters or Unicode scalars, decoded as UTF-8.

extension URLSession.AsyncBytes {
  /// The lines of the body, without their line endings. As in Foundation, empty lines are skipped.
  ///
  /// A line ends with a line feed, a carriage return, a carriage return followed by a line feed, or one of U+000B, U+000C,
  /// U+0085, U+2028 and U+2029. Invalid UTF-8 is replaced with U+FFFD.
  public var lines: Lines { Lines(bytes: self) }

  /// The characters of the body. Invalid UTF-8 is replaced by U+FFFD.
  public var characters: Characters { Characters(scalars: unicodeScalars) }

  /// The Unicode scalars of the body. Invalid UTF-8 is replaced by U+FFFD.
  public var unicodeScalars: UnicodeScalars { UnicodeScalars(bytes: self) }

  /// The lines of a response's body, decoded as UTF-8, without line endings and empty lines.
  public struct Lines: AsyncSequence, Sendable {
    /// The element of the sequence: a line without its line ending.
    public typealias Element = String

    let bytes: URLSession.AsyncBytes

    /// Creates an iterator over the lines of the body.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes.makeAsyncIterator()) }

    /// An iterator over the lines of a response's body.
    public struct AsyncIterator: AsyncIteratorProtocol {
      var bytes: URLSession.AsyncBytes.AsyncIterator
      private var line: [UInt8] = []

      init(bytes: URLSession.AsyncBytes.AsyncIterator) { self.bytes = bytes }

      /// Returns the next line that isn't empty, or nil at the end of the body. Throws a `URLError` if the request fails.
      public mutating func next() async throws -> String? {
        do {
          while let byte = try await bytes.next() {
            line.append(byte)
            let endByteCount = Self.endByteCount(of: line)
            guard endByteCount > 0 else { continue }
            line.removeLast(endByteCount)
            // The line feed after a carriage return ends an empty line, which is skipped.
            if !line.isEmpty { return takeLine() }
          }
        } catch {
          // An iterator that has thrown returns nil afterward, and not the beginning of a line.
          line = []
          throw error
        }
        return line.isEmpty ? nil : takeLine()
      }

      private mutating func takeLine() -> String {
        defer { line.removeAll(keepingCapacity: true) }
        return String(decoding: line, as: UTF8.self)
      }

      /// Returns the length, in bytes, of the line ending with which `line` ends, or 0 if it doesn't end with one.
      private static func endByteCount(of line: [UInt8]) -> Int {
        switch line.last {
        case 0x0A, 0x0B, 0x0C, 0x0D: 1
        // U+0085 is encoded as C2 85.
        case 0x85: line.suffix(2).elementsEqual([0xC2, 0x85]) ? 2 : 0
        // U+2028 and U+2029 are encoded as E2 80 A8 and E2 80 A9.
        case 0xA8, 0xA9: line.dropLast().suffix(2).elementsEqual([0xE2, 0x80]) ? 3 : 0
        default: 0
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
