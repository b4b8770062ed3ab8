// BodySource: reads a request's body from start to end, and compresses and chunks it if necessary.

internal import LupineCoding
internal import LupineReactor
internal import LupineWire

/// Reads the segments of a request body once, from start to end. Applies compression and chunked framing if the request needs them.
struct BodySource: ~Copyable {
  /// The result of a call of `pull`, which reads part of the body.
  enum Pulled: Equatable {
    /// `pull` appended bytes of the request body to its output, or reached the end of the body.
    case more
    /// The producer of the request body has no more bytes yet. The event loop receives `.bodyReady` when the producer has some.
    case nothingYet
  }

  private let segments: [RequestBody.Segment]
  private let isChunked: Bool
  private let inbox: Inbox?  // nil for an empty body, which has no producer
  private let exchange: ExchangeID
  private var encoder: ContentEncoder?
  /// Whether the current segment is a file that must be read into memory, because sendfile(2) doesn't support the file system or
  /// the socket.
  private var hasUnsendableFile = false

  private var index = 0
  private var offset: UInt64 = 0
  private var file: File?
  private var writer: BodyWriter?
  /// The lines of the trailer section, from the producers that have ended.
  private var trailerLines: [UInt8] = []
  /// Whether all bytes of the request body have been read from this source.
  private(set) var isExhausted: Bool
  /// Whether the body can be sent again. False once a producer that can't be restarted has started.
  private(set) var isReplayable = true
  /// The number of body bytes read from the source so far, after compression and without framing.
  private(set) var byteCount: UInt64 = 0

  /// Creates a source that reads the request body of `exchange`.
  ///
  /// If `pull` finds that the body's producer has no bytes yet, the source sends `.bodyReady` to `inbox` once the producer has
  /// written some.
  init(
    _ body: RequestBody, coding: ContentCoding?, isFramed: Bool = true, of exchange: ExchangeID, inbox: Inbox
  ) throws(Failure) {
    segments = body.segments
    let isChunked = isFramed && (coding != nil || body.byteCount == nil)
    self.isChunked = isChunked
    // Reads the parameter instead of the property, because optimized code of Swift 6.3 would release the property once too often.
    isExhausted = body.segments.isEmpty && !isChunked
    self.exchange = exchange
    self.inbox = body.segments.isEmpty ? nil : inbox
    if let coding {
      do {
        encoder = try ContentEncoder(coding)
      } catch {
        throw .coding(error)
      }
    }
  }

  /// The minimum length of a file that is sent with sendfile(2): 128 KiB. A shorter file needs fewer system calls if it is read
  /// into memory.
  static let directFileBytesMin: UInt64 = 128 * 1024

  /// Whether the next segment is a file that is sent unchanged and is long enough for sendfile(2).
  var isAtDirectFile: Bool {
    guard !isChunked, !hasUnsendableFile, index < segments.count, case .file(_, let count) = segments[index] else {
      return false
    }
    return count - offset >= Self.directFileBytesMin
  }

  /// Sends bytes of the next segment, which must be a file, to the socket with sendfile(2), without reading them into memory.
  ///
  /// - Returns: The number of bytes sent, or nil if the socket accepts none now. 0 if sendfile(2) can't send this file, so that the
  ///   caller must use `pull`.
  mutating func sendFile(to socket: any StreamSocket, countMax: Int) throws(Failure) -> Int? {
    guard case .file(let path, let total) = segments[index] else {
      preconditionFailure("the next segment isn't a file")
    }
    try open(path)
    do {
      let count = Int(min(total - offset, UInt64(countMax)))
      let taken: Int? =
        switch file {
        case .some(let file): try socket.send(file, from: offset, count: count)
        case .none: nil
        }
      guard let sent = taken else { return nil }
      byteCount += UInt64(sent)
      advance(by: UInt64(sent), of: total)
      isExhausted = index == segments.count
      return sent
    } catch {
      if error.isNotSupported {
        hasUnsendableFile = true
        return 0
      }
      throw error.isFilesFault ? .bodyUnreadable(error) : .system(error)
    }
  }

  /// Reads about `countMax` bytes of the body and appends them to `output`, compressed and chunked if necessary.
  mutating func pull(_ countMax: Int, into output: inout [UInt8]) throws(Failure) -> Pulled {
    guard isChunked else { return try pullSegments(countMax, into: &output) }
    var content: [UInt8] = []
    let pulled = try pullSegments(countMax, into: &content)
    if encoder != nil { content = try encode(content) }
    byteCount += UInt64(content.count)
    ChunkedEncoder.append(content.span, to: &output)
    if isExhausted { ChunkedEncoder.appendEnd(trailerLines: trailerLines, to: &output) }
    return pulled
  }

  /// Reads about `countMax` bytes of the body's segments and appends them to `output`, without compression or framing.
  private mutating func pullSegments(_ countMax: Int, into output: inout [UInt8]) throws(Failure) -> Pulled {
    let start = output.count
    defer { if !isChunked { byteCount += UInt64(output.count - start) } }
    var pulled = Pulled.more
    while pulled == .more, index < segments.count, output.count - start < countMax {
      let room = countMax - (output.count - start)
      switch segments[index] {
      case .bytes(let bytes):
        let end = min(bytes.count, Int(offset) + room)
        output.append(contentsOf: bytes[Int(offset)..<end])
        advance(by: UInt64(end) - offset, of: UInt64(bytes.count))
      case .held(let bytes):
        let end = min(bytes.byteCount, Int(offset) + room)
        copy(Int(offset)..<end, of: bytes, into: &output)
        advance(by: UInt64(end) - offset, of: UInt64(bytes.byteCount))
      case .file(let path, let count):
        try readFile(path, min(UInt64(room), count - offset), of: count, into: &output)
      case .produced(let producer):
        pulled = try pullProduced(from: producer, into: &output)
      }
    }
    isExhausted = index == segments.count
    return pulled
  }

  private mutating func advance(by count: UInt64, of total: UInt64) {
    offset += count
    if offset == total { nextSegment() }
  }

  private mutating func nextSegment() {
    index += 1
    offset = 0
    hasUnsendableFile = false
    file = nil
    writer = nil
  }

  private func copy(_ range: Range<Int>, of bytes: RequestBody.HeldBytes, into output: inout [UInt8]) {
    let countBefore = output.count
    bytes.append(range, &output)
    precondition(
      output.count - countBefore == range.count, "the body returned a different number of held bytes than requested")
  }

  private mutating func open(_ path: String) throws(Failure) {
    guard file == nil else { return }
    do {
      file = try File(reading: path)
    } catch {
      throw .bodyUnreadable(Self.naming(path, error))
    }
  }

  // Adds the path to the error, because a body may have many files.
  private static func naming(_ path: String, _ error: SystemError) -> SystemError {
    SystemError(call: "\(error.call) \(path)", code: error.code)
  }

  private mutating func readFile(
    _ path: String, _ count: UInt64, of total: UInt64, into output: inout [UInt8]
  ) throws(Failure) {
    try open(path)
    var got = 0
    do {
      if count > 0 { got = try file?.read(Int(count), at: offset, into: &output) ?? 0 }
    } catch {
      throw .bodyUnreadable(Self.naming(path, error))
    }
    guard got > 0 || count == 0 else { throw .bodyUnreadable(.fileEnded(path)) }
    advance(by: UInt64(got), of: total)
  }

  private mutating func pullProduced(
    from producer: RequestBody.Producer, into output: inout [UInt8]
  ) throws(Failure) -> Pulled {
    if writer == nil {
      let fresh = BodyWriter(trailerNames: isChunked ? producer.trailerNames : []) { [inbox, exchange] in
        inbox?.send(.bodyReady(exchange))
      }
      writer = fresh
      isReplayable = isReplayable && producer.isReplayable
      producer.begin(fresh)
    }
    guard let writer else { preconditionFailure("a producer has no writer") }
    let taken: BodyWriter.Taken
    do {
      taken = try writer.takeBuffered()
    } catch {
      throw .bodyFailed(error)
    }
    switch taken {
    case .nothing:
      return .nothingYet
    case .bytes(let bytes):
      offset += UInt64(bytes.count)
      if let declared = producer.byteCount, offset > declared {
        throw .bodyLengthWrong(declared: declared, produced: offset)
      }
      if output.isEmpty { output = bytes } else { output += bytes }
    case .end:
      if let declared = producer.byteCount, offset < declared {
        throw .bodyLengthWrong(declared: declared, produced: offset)
      }
      trailerLines += writer.trailerLines
      nextSegment()
    }
    return .more
  }

  // Compresses content. The encoder may buffer output until later calls. The call at the body's end returns the rest.
  private mutating func encode(_ content: [UInt8]) throws(Failure) -> [UInt8] {
    var output: [UInt8] = []
    var scratch = [UInt8](repeating: 0, count: 16 * 1024)
    do {
      var used = 0
      while used < content.count, let step = try encoder?.encode(content.span.bytes.extracting(used...), into: &scratch)
      {
        used += step.consumed
        output += scratch[..<step.produced]
      }
      while isExhausted, let step = try encoder?.finish(into: &scratch) {
        output += scratch[..<step.produced]
        if step.isDone { break }
      }
    } catch {
      throw .coding(error)
    }
    return output
  }

  /// Notifies the body's producer, if there is one, that the engine needs no more bytes.
  mutating func abandon() {
    writer?.abandon()
    writer = nil
  }
}
