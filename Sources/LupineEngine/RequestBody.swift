// A request's body: bytes and files, sent one behind the other, and read only as fast as they can be sent.

internal import LupineReactor

/// The content of a request. It can be sent again, so a replay or a redirect needs no help from the caller.
public struct RequestBody: Sendable {
  /// A part of a body.
  public enum Segment: Sendable {
    /// Bytes in memory.
    case bytes([UInt8])
    /// The first `byteCount` bytes of a file. It is an error if the file turns out to be shorter.
    case file(path: String, byteCount: UInt64)
  }

  /// The parts, in order.
  public private(set) var segments: [Segment] = []
  /// The length in bytes, which becomes the Content-Length.
  public private(set) var byteCount: UInt64 = 0

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

  /// Appends a part.
  public mutating func append(_ segment: Segment) {
    switch segment {
    case .bytes(let bytes): byteCount += UInt64(bytes.count)
    case .file(_, let count): byteCount += count
    }
    segments.append(segment)
  }
}

/// Reads a body from its start to its end.
struct BodySource: ~Copyable {
  private let segments: [RequestBody.Segment]
  private var index = 0
  private var offset: UInt64 = 0
  private var file: File?

  init(_ body: RequestBody) {
    segments = body.segments
  }

  /// Whether everything has been pulled.
  var isExhausted: Bool { index == segments.count }

  /// Appends up to `countMax` bytes to `output`. Throws if a file can't be read, or is shorter than it was said to be.
  mutating func pull(_ countMax: Int, into output: inout [UInt8]) throws(SystemError) {
    var room = countMax
    while room > 0, index < segments.count {
      let before = output.count
      let total: UInt64
      switch segments[index] {
      case .bytes(let bytes):
        total = UInt64(bytes.count)
        output.append(contentsOf: bytes[Int(offset)..<min(bytes.count, Int(offset) + room)])
      case .file(let path, let count):
        total = count
        try readFile(path, min(UInt64(room), count - offset), into: &output)
      }
      offset += UInt64(output.count - before)
      room -= output.count - before
      if offset == total {
        index += 1
        offset = 0
        file = nil
      }
    }
  }

  private mutating func readFile(_ path: String, _ count: UInt64, into output: inout [UInt8]) throws(SystemError) {
    var got = 0
    do {
      if file == nil { file = try File(reading: path) }
      guard count > 0 else { return }
      got = try file?.read(Int(count), at: offset, into: &output) ?? 0
    } catch {
      // A body may have many files.
      throw SystemError(call: "\(error.call) \(path)", code: error.code)
    }
    if got == 0 { throw SystemError.fileEnded(path) }
  }
}
