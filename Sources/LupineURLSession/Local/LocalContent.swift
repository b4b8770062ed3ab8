// LocalContent: opens a file: or data: URL, determines its type, and reads it in pieces.

import Foundation
import LupineEngine
import LupineLibc

/// The content of a file: or data: URL, which a task reads in pieces. The methods may block the thread on disk I/O.
struct LocalContent: ~Copyable {
  private enum Source: ~Copyable {
    case file(File)
    case bytes(Data)
    /// No content, because the request method is HEAD.
    case nothing
  }

  private let url: URL
  private let mediaType: String
  /// The charset that a data: URL states. Nil if the URL states none, and for a file, whose charset is unknown.
  private let charset: String?
  /// The length of the entire content in bytes. Nil if the length is unknown because the file reports the length 0 but has content,
  /// like the files in /proc.
  private let byteCount: UInt64?
  private let source: Source
  private var offset: UInt64 = 0

  /// The maximum number of bytes to read from the content at once: 256 KiB, the maximum that the engine reads from a socket.
  private static let pieceBytesMax = 256 * 1024

  /// Returns whether `LocalContent` supports the URL's scheme, which must be `file` or `data`.
  static func serves(_ url: URL) -> Bool {
    let scheme = url.scheme?.lowercased()
    return scheme == "file" || scheme == "data"
  }

  /// Opens the file at the request's file: URL, or decodes the request's data: URL.
  ///
  /// - Throws: `URLError.unsupportedURL` for a method other than GET and HEAD, a request with a body, or a file on another
  ///   host; `.badURL` for a malformed URL; for files also `.fileDoesNotExist`, `.fileIsDirectory`,
  ///   `.noPermissionsToReadFile` or `.cannotOpenFile`.
  init(of request: URLRequest) throws(URLError) {
    guard let url = request.url?.absoluteURL else { throw URLError(.badURL) }
    let method = request.httpMethod ?? "GET"
    guard method == "GET" || method == "HEAD", request.body == .none else {
      throw URLError(
        .unsupportedURL, local: url, "supports only GET and HEAD without a body. To write a file, use FileManager.")
    }
    let isHead = method == "HEAD"
    if url.scheme?.lowercased() == "data" {
      try self.init(ofData: url, isHead: isHead)
    } else {
      try self.init(ofFile: url, isHead: isHead)
    }
  }

  private init(ofData url: URL, isHead: Bool) throws(URLError) {
    let data: DataURL
    do {
      data = try DataURL(url.absoluteString)
    } catch {
      throw URLError(.badURL, local: url, "can't be decoded: \(error)", error)
    }
    self.url = url
    source = isHead ? .nothing : .bytes(data.content)
    (mediaType, charset) = (data.mediaType, data.charset)
    byteCount = UInt64(data.content.count)
  }

  private init(ofFile url: URL, isHead: Bool) throws(URLError) {
    let path = try Self.path(of: url)
    do throws(SystemError) {
      let file = try File(reading: path)
      byteCount = try file.contentByteCount()
      source = isHead ? .nothing : .file(file)
    } catch {
      throw URLError(opening: url, error)
    }
    self.url = url
    mediaType = MediaTypeTable.system.type(forExtension: url.pathExtension)
    charset = nil
  }

  // file-URI = "file:" ( "//" [ "localhost" ] path-absolute / path-absolute ) (RFC 8089 §2)
  private static func path(of url: URL) throws(URLError) -> String {
    let host = url.host(percentEncoded: false) ?? ""
    guard host.isEmpty || host.lowercased() == "localhost", url.user == nil, url.port == nil else {
      throw URLError(
        .unsupportedURL, local: url, "names a file on another host. Leave the host empty to read a local file.")
    }
    let path = url.path(percentEncoded: false)
    guard path.hasPrefix("/"), !path.utf8.contains(0) else {
      throw URLError(.badURL, local: url, "has no absolute path in UTF-8. Create the URL with URL(filePath:).")
    }
    return path
  }

  /// The response's head. Its expected length is the length of the entire content, even for HEAD.
  var response: URLResponse {
    URLResponse(
      url: url, mimeType: mediaType, expectedContentLength: byteCount.map { Int(clamping: $0) } ?? -1,
      textEncodingName: charset)
  }

  /// Whether the entire content has been read. Always false if the content's length is unknown.
  private var isAtEnd: Bool { offset == byteCount }

  /// Reads the next piece of the content. Returns the piece, which has at most `countMax` bytes and may be empty, and whether it is
  /// the last piece.
  ///
  /// Bytes that were added to a file since it was opened aren't read.
  ///
  /// - Throws: `URLError.resourceUnavailable` if the file can't be read or has become shorter.
  mutating func read(_ countMax: Int) throws(URLError) -> (piece: Data, isLast: Bool) {
    let piece: Data
    switch source {
    case .nothing: return (Data(), true)
    case .bytes(let data):
      let start = data.startIndex + Int(offset)
      piece = data[start..<start + min(countMax, Self.pieceBytesMax, data.endIndex - start)]
    case .file(let file):
      let left = byteCount.map { Int(clamping: $0 - offset) } ?? .max
      piece = Data(try Self.read(min(countMax, Self.pieceBytesMax, left), at: offset, of: file, url))
      if piece.isEmpty, !isAtEnd, let byteCount {
        throw URLError(
          .resourceUnavailable, local: url,
          "became shorter while being read: it had \(byteCount) bytes but ended after \(offset). Read it again.")
      }
    }
    offset += UInt64(piece.count)
    return (piece, isAtEnd || piece.isEmpty)
  }

  private static func read(
    _ count: Int, at offset: UInt64, of file: borrowing File, _ url: URL
  ) throws(URLError) -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      _ = try file.read(count, at: offset, into: &bytes)
    } catch {
      throw URLError(
        .resourceUnavailable, local: url,
        "can't be read after \(offset) bytes: \(error). Check the disk's health (dmesg).", error.posixError)
    }
    return bytes
  }
}

extension File {
  /// Returns the file's length in bytes. Returns nil if the file reports the length 0 but has content, like the files in /proc.
  fileprivate func contentByteCount() throws(SystemError) -> UInt64? {
    let count = try byteCount()
    guard count == 0 else { return count }
    var byte: [UInt8] = []
    return try read(1, at: 0, into: &byte) > 0 ? nil : 0
  }
}

extension URLError {
  /// The maximum number of characters of a URL that an error message quotes: 4,096, enough for a path (PATH_MAX is 4,096 bytes).
  private static let quotedCharactersMax = 4_096

  /// Creates the error for a file: or data: URL that can't be read. The error message consists of the URL and `explanation`.
  fileprivate init(_ code: Code, local url: URL, _ explanation: String, _ underlying: (any Error)? = nil) {
    let text = url.scheme?.lowercased() == "data" ? "The data URL" : url.absoluteString
    self.init(
      code, "\(text.prefix(Self.quotedCharactersMax)) \(explanation)", url: url, underlying: underlying)
  }

  /// Creates the error for a file that can't be opened.
  init(opening url: URL, _ error: SystemError) {
    let (code, explanation): (Code, String) =
      switch error.code {
      case ENOENT, ENOTDIR: (.fileDoesNotExist, "doesn't exist. Check the path.")
      case EISDIR: (.fileIsDirectory, "is a directory. Request one of its files.")
      case EACCES, EPERM: (.noPermissionsToReadFile, "isn't readable by this user. Change its permissions.")
      // ENXIO means that the file is a socket, or a device that doesn't exist.
      case EINVAL, ENXIO: (.cannotOpenFile, "isn't a regular file, so reading it might block. Read it with FileHandle.")
      case EMFILE, ENFILE: (.cannotOpenFile, "can't be opened: \(error). Raise the descriptor limit (ulimit -n).")
      default: (.cannotOpenFile, "can't be opened: \(error). Check the path.")
      }
    self.init(code, local: url, explanation, error.posixError)
  }
}
