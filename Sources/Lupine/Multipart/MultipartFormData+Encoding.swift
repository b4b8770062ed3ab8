// `MultipartFormData`'s encoding, in memory or to a file.
//
// multipart-body := dash-boundary CRLF body-part *(CRLF dash-boundary CRLF body-part) CRLF dash-boundary "--" CRLF
// (RFC 2046 §5.1.1, without preamble and epilogue)

public import Foundation
import LupineLibc

extension MultipartFormData {
  /// Encodes the form in memory. For a large form, ``writeEncodedData(to:)`` needs less memory.
  ///
  /// - Throws: `AFError.multipartEncodingFailed`: the error of the first failed append; `.bodyPartInputStreamCreationFailed` or
  ///   `.inputStreamReadFailed` if a part can't be read; or `.inputStreamReadFailed` with `UnexpectedInputStreamLength` if a
  ///   part's file or stream is shorter or longer than the length that was fixed when the part was appended.
  public func encode() throws -> Data {
    var encoded = Data()
    try write(refusingLongParts: true) { piece in encoded.append(piece) }
    return encoded
  }

  /// Writes the form to a new file, piece by piece. The required memory therefore doesn't depend on the form's length.
  ///
  /// Only the current user can read and write the file. If writing fails, the file is removed. The length of a part is fixed when
  /// the part is appended; further bytes of its file or stream are omitted.
  ///
  /// - Throws: `AFError.multipartEncodingFailed`. The reasons are those of ``encode()``, except that a part may be too long; and
  ///   `.outputStreamFileAlreadyExists`, `.outputStreamURLInvalid`, `.outputStreamCreationFailed` or `.outputStreamWriteFailed`
  ///   if the file can't be created or written.
  public func writeEncodedData(to fileURL: URL) throws {
    if let appendError { throw appendError }
    let file = try makeFile(at: fileURL)
    do {
      try write(to: file)
    } catch {
      try? fileManager.removeItem(at: fileURL)
      throw error
    }
  }

  /// Writes the form to `file` and closes the file. Some file systems report a failed write only when the file is closed.
  func write(to file: FileHandle) throws(AFError) {
    func checked(_ change: () throws -> Void) throws(AFError) {
      do {
        try change()
      } catch {
        throw .multipartEncodingFailed(reason: .outputStreamWriteFailed(error: error))
      }
    }
    try write(refusingLongParts: false) { piece throws(AFError) in try checked { try file.write(contentsOf: piece) } }
    try checked { try file.close() }
  }

  private func makeFile(at fileURL: URL) throws(AFError) -> FileHandle {
    if fileManager.fileExists(atPath: fileURL.path) {
      throw .multipartEncodingFailed(reason: .outputStreamFileAlreadyExists(at: fileURL))
    }
    guard fileURL.isFileURL else {
      throw .multipartEncodingFailed(reason: .outputStreamURLInvalid(url: fileURL))
    }
    // O_EXCL ensures that a file or link created since the check above isn't overwritten.
    let descriptor = open(fileURL.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)
    if descriptor >= 0 { return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) }
    if errno == EEXIST {
      throw .multipartEncodingFailed(reason: .outputStreamFileAlreadyExists(at: fileURL))
    }
    throw .multipartEncodingFailed(reason: .outputStreamCreationFailed(for: fileURL))
  }

  private func write(
    refusingLongParts: Bool, to output: (Data) throws(AFError) -> Void
  ) throws(AFError) {
    if let appendError { throw appendError }
    for (index, part) in parts.enumerated() {
      let delimiter = (index == 0 ? "" : "\r\n") + "--\(boundary)\r\n"
      try output(Data((delimiter + part.headerText).utf8))
      try part.copyBody(refusingMore: refusingLongParts, to: output)
    }
    if !parts.isEmpty { try output(Data("\r\n--\(boundary)--\r\n".utf8)) }
  }
}

/// A part of a form: its headers and the source of its body.
struct MultipartBodyPart {
  enum Body {
    case data(Data)
    case file(URL)
    case stream(InputStream)
  }

  let headers: HTTPHeaders
  /// The length of the part's body in bytes. It was announced or measured when the part was appended.
  let length: UInt64
  let body: Body

  /// The part's header section: *(field-name ": " field-value CRLF) CRLF
  var headerText: String {
    headers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
  }

  /// The error for the part's first header field whose name or value contains a line break, or nil if there is none.
  var headerError: AFError.ForbiddenPartHeader? {
    let forbidden = headers.first { field in
      [field.name, field.value].contains { $0.utf8.contains { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") } }
    }
    return forbidden.map { AFError.ForbiddenPartHeader(name: $0.name, value: $0.value) }
  }

  /// Passes the part's body to `output` in pieces. If the body has more than `length` bytes, refuses it if `refusingMore` is true,
  /// and otherwise doesn't read beyond `length`. Throws `AFError.multipartEncodingFailed` with the reason `.inputStreamReadFailed`
  /// if the body is refused, is shorter than `length` or can't be read, or with the reason `.bodyPartInputStreamCreationFailed` if
  /// its file can't be opened. Passes on the errors of `output`.
  func copyBody(refusingMore: Bool, to output: (Data) throws(AFError) -> Void) throws(AFError) {
    switch body {
    case .data(let data):
      try output(data)
    case .file(let url):
      guard let file = try? FileHandle(forReadingFrom: url) else {
        throw .multipartEncodingFailed(reason: .bodyPartInputStreamCreationFailed(for: url))
      }
      try copy(refusingMore: refusingMore, to: output) { count in try file.read(upToCount: count) ?? Data() }
    case .stream(let stream):
      if stream.streamStatus == .notOpen { stream.open() }
      defer { stream.close() }
      try copy(refusingMore: refusingMore, to: output) { count in Data(try stream.readBytes(upToCount: count)) }
    }
  }

  private func copy(
    refusingMore: Bool, to output: (Data) throws(AFError) -> Void, from read: (Int) throws -> Data
  ) throws(AFError) {
    var bytesRead: UInt64 = 0
    while refusingMore ? bytesRead <= length : bytesRead < length {
      // To find out whether there are further bytes, more bytes than expected must be requested.
      let bytesWanted = refusingMore ? Self.pieceBytes : Int(min(UInt64(Self.pieceBytes), length - bytesRead))
      let piece: Data
      do {
        piece = try read(bytesWanted)
      } catch {
        throw .multipartEncodingFailed(reason: .inputStreamReadFailed(error: error))
      }
      if piece.isEmpty { break }
      bytesRead += UInt64(piece.count)
      try output(piece)
    }
    guard bytesRead == length else {
      let error = AFError.UnexpectedInputStreamLength(bytesExpected: length, bytesRead: bytesRead)
      throw .multipartEncodingFailed(reason: .inputStreamReadFailed(error: error))
    }
  }

  /// The maximum number of bytes per read: 64 KiB. With this size, the cost of the system calls is negligible.
  private static let pieceBytes = 65_536
}
