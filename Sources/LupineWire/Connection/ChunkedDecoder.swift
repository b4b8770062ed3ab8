// ChunkedDecoder: decodes the chunked transfer coding (RFC 9112 §7.1) in place; ChunkedEncoder writes it.

/// Decodes a body in the chunked transfer coding, which the caller passes in pieces of any size. Returns the decoded data as ranges
/// of the caller's bytes.
package struct ChunkedDecoder: Sendable {
  package enum Step {
    case needMoreBytes
    /// Data of a chunk, as a range of the bytes passed to `next`.
    case data(Range<Int>)
    /// The last chunk and the trailer section have been read. The associated value contains the trailer fields.
    case end(Fields)
  }

  private enum State {
    case size(value: UInt64, line: Int)
    case sizePadding(value: UInt64, line: Int)
    case sizeExtension(value: UInt64, line: Int)
    case sizeLineFeed(value: UInt64, line: Int)
    case data(remaining: UInt64)
    case dataCarriageReturn
    case dataLineFeed
    case trailers
  }

  private var state = State.size(value: 0, line: 0)
  private var extensionBytes = 0  // bytes of extensions in all chunks so far, with padding
  private var trailers: SectionParser
  private let limits: Limits

  package init(limits: Limits) {
    self.limits = limits
    trailers = SectionParser(.trailers, limits: limits)
  }

  package mutating func next(_ bytes: borrowing Span<UInt8>, at cursor: inout Int) throws(WireError) -> Step {
    while cursor < bytes.count {
      switch state {
      case .data(let remaining):
        let count = Int(min(remaining, UInt64(bytes.count - cursor)))
        let range = cursor..<cursor + count
        cursor = range.upperBound
        state = remaining == UInt64(count) ? .dataCarriageReturn : .data(remaining: remaining - UInt64(count))
        return .data(range)
      case .dataCarriageReturn:
        guard bytes[cursor] == Byte.carriageReturn else { throw .missingChunkTerminator }
        state = .dataLineFeed
        cursor += 1
      case .dataLineFeed:
        guard bytes[cursor] == Byte.lineFeed else { throw .missingChunkTerminator }
        state = .size(value: 0, line: 0)
        cursor += 1
      case .trailers:
        switch try trailers.next(bytes, at: &cursor) {
        case .needMoreBytes: return .needMoreBytes
        case .section(let section): return .end(section.fields)
        }
      default:
        try readSizeLine(bytes[cursor])
        cursor += 1
      }
    }
    return .needMoreBytes
  }

  // chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF
  // chunk-size = 1*HEXDIG; at most 16 digits, to fit UInt64.
  private mutating func readSizeLine(_ byte: UInt8) throws(WireError) {
    switch state {
    case .size(let value, let line):
      if let digit = Byte.hexValue(byte) {
        guard line < 16 else { throw .chunkSizeOverflow }
        state = .size(value: value << 4 | UInt64(digit), line: try longer(line))
      } else {
        guard line > 0 else { throw .malformedChunkSize(offset: line) }
        try endSize(byte, value: value, line: line)
      }
    case .sizePadding(let value, let line):
      try endSize(byte, value: value, line: line)
    case .sizeExtension(let value, let line):
      if byte == Byte.carriageReturn {
        state = .sizeLineFeed(value: value, line: line)
      } else {
        guard Byte.isFieldContent(byte) else { throw .malformedChunkSize(offset: line) }
        state = .sizeExtension(value: value, line: try longerExtension(line))
      }
    case .sizeLineFeed(let value, let line):
      guard byte == Byte.lineFeed else { throw .malformedChunkSize(offset: line + 1) }
      state = value == 0 ? .trailers : .data(remaining: value)
    case .data, .dataCarriageReturn, .dataLineFeed, .trailers:
      preconditionFailure("not in a chunk-size line")
    }
  }

  // chunk-ext = *( BWS ";" BWS chunk-ext-name ...). Some old servers pad the size with spaces.
  private mutating func endSize(_ byte: UInt8, value: UInt64, line: Int) throws(WireError) {
    switch byte {
    case Byte.carriageReturn: state = .sizeLineFeed(value: value, line: line)
    case Byte.semicolon: state = .sizeExtension(value: value, line: try longerExtension(line))
    case Byte.space, Byte.tab: state = .sizePadding(value: value, line: try longerExtension(line))
    default: throw .malformedChunkSize(offset: line)
    }
  }

  private func longer(_ line: Int) throws(WireError) -> Int {
    guard line < limits.chunkLineBytesMax else { throw .chunkLineTooLong(limit: limits.chunkLineBytesMax) }
    return line + 1
  }

  // Chunk extensions are limited, because small chunks with long extensions can cost many times as many bytes as they deliver
  // (RFC 9112 §7.1.1).
  private mutating func longerExtension(_ line: Int) throws(WireError) -> Int {
    let longer = try longer(line)
    guard extensionBytes < limits.chunkExtensionBytesMax else {
      throw .chunkExtensionsTooLong(limit: limits.chunkExtensionBytesMax)
    }
    extensionBytes += 1
    return longer
  }
}

/// Encodes a body with the chunked transfer coding.
public enum ChunkedEncoder {
  /// Appends `data` as one chunk to `output`. Appends nothing if `data` is empty, because an empty chunk would end the body.
  public static func append(_ data: borrowing Span<UInt8>, to output: inout [UInt8]) {
    guard !data.isEmpty else { return }
    output.append(contentsOf: String(data.count, radix: 16).utf8)
    output.append(contentsOf: [Byte.carriageReturn, Byte.lineFeed])
    output.append(copying: data, 0..<data.count)
    output.append(contentsOf: [Byte.carriageReturn, Byte.lineFeed])
  }

  /// Appends the last chunk and an empty trailer section to `output`, which ends the body.
  public static func appendEnd(to output: inout [UInt8]) {
    appendEnd(trailerLines: [], to: &output)
  }

  /// Appends the last chunk and a trailer section to `output`, which ends the body. Each of the lines must end with CRLF.
  package static func appendEnd(trailerLines: [UInt8], to output: inout [UInt8]) {
    output.append(contentsOf: "0\r\n".utf8)
    output += trailerLines
    output.append(contentsOf: "\r\n".utf8)
  }
}
