// StatusLine: parses status-line = HTTP-version SP status-code SP [ reason-phrase ] (RFC 9112 §4).

/// The parts of a valid status line.
struct StatusLine: Sendable {
  let minorVersion: UInt8
  let status: Int
  let reason: Range<UInt32>

  // HTTP-version = "HTTP/" DIGIT "." DIGIT. The section parser has already checked "HTTP/".
  /// Parses a status line, and throws `WireError.malformedStatusLine` or `.unsupportedVersion` if it isn't one of HTTP/1. The
  /// space before an empty reason phrase may be missing, because many servers omit it.
  init(_ bytes: borrowing Span<UInt8>, _ line: Range<Int>) throws(WireError) {
    let start = line.lowerBound
    guard line.count >= 8 else { throw .malformedStatusLine(offset: line.upperBound) }
    let (major, minor) = (bytes[start + 5], bytes[start + 7])
    guard major == 0x31, bytes[start + 6] == 0x2E, minor &- 0x30 < 10 else {
      throw .unsupportedVersion(Self.version(bytes, line))
    }
    guard line.count >= 12, bytes[start + 8] == Byte.space else { throw .malformedStatusLine(offset: start + 8) }
    var status = 0
    for index in start + 9..<start + 12 {
      let digit = bytes[index] &- 0x30
      guard digit < 10 else { throw .malformedStatusLine(offset: index) }
      status = status * 10 + Int(digit)
    }
    guard status >= 100 else { throw .malformedStatusLine(offset: start + 9) }
    guard line.count == 12 || bytes[start + 12] == Byte.space else { throw .malformedStatusLine(offset: start + 12) }
    minorVersion = minor == 0x30 ? 0 : 1
    self.status = status
    reason = UInt32(min(start + 13, line.upperBound))..<UInt32(line.upperBound)
  }

  private static func version(_ bytes: borrowing Span<UInt8>, _ line: Range<Int>) -> String {
    var text = ""
    for index in line.prefix(12) {
      guard bytes[index] > Byte.space, bytes[index] < 0x7F else { break }
      text.unicodeScalars.append(Unicode.Scalar(bytes[index]))
    }
    return text
  }
}
