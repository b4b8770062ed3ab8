// `MultipartFormData`: the parts of a multipart form, and their headers (RFC 7578).

public import Foundation
import LupineURLSession

/// A `multipart/form-data` body (RFC 7578) with parts from data, files and streams.
///
/// ```swift
/// let form = MultipartFormData()
/// form.append(Data("A photo".utf8), withName: "title")
/// form.append(photo, withName: "photo", fileName: "photo.png", mimeType: "image/png")
/// AF.upload(multipartFormData: form, to: "https://example.org/photos").validate().responseString { print($0.result) }
/// ```
///
/// The append methods don't throw. If one fails, encoding the form throws the error of the first failed append. A form of data
/// and files can be encoded several times, but a stream can be read only once. A form without parts encodes to no bytes.
///
/// In names and file names, `"`, CR and LF are written as `%22`, `%0D` and `%0A`, as browsers do (HTML standard,
/// multipart/form-data encoding algorithm). A media type or header field with CR or LF is an error.
open class MultipartFormData: CustomStringConvertible {
  /// The size, in bytes, from which an upload encodes a form to a temporary file instead of memory: 10 MB, as in Alamofire.
  public static let encodingMemoryThreshold: UInt64 = 10_000_000

  /// The value of the form's Content-Type field.
  open var contentType: String

  /// The boundary that separates the parts of the form.
  public let boundary: String

  /// The total length of the parts' bodies in bytes, without their headers and the boundaries.
  public var contentLength: UInt64 {
    parts.reduce(0) { sum, part in
      let (total, isOverflow) = sum.addingReportingOverflow(part.length)
      return isOverflow ? .max : total
    }
  }

  /// A textual description: the number of parts, the total size of their bodies in bytes, and the boundary.
  open var description: String {
    let size = ReadableText.bytes(Int64(clamping: contentLength))
    return "\(type(of: self))(\(ReadableText.count(parts.count, "part")), \(size), boundary: \(boundary))"
  }

  let fileManager: FileManager
  private(set) var parts: [MultipartBodyPart] = []
  private(set) var appendError: AFError?

  /// Creates a form without parts.
  ///
  /// - Parameters:
  ///   - fileManager: Provides the attributes of the parts' files and of the output file.
  ///   - boundary: 1 to 70 of the characters that RFC 2046 §5.1.1 allows, in a sequence that no part contains. By default,
  ///     `alamofire.boundary.` followed by 16 random hex digits.
  public init(fileManager: FileManager = .default, boundary: String? = nil) {
    self.fileManager = fileManager
    self.boundary = boundary ?? Self.makeBoundary()
    contentType = "multipart/form-data; boundary=\(self.boundary)"
  }

  /// Appends a part whose body is `data`.
  ///
  /// - Parameters:
  ///   - data: The part's body.
  ///   - name: The name of the form field.
  ///   - fileName: The file name of the part, or nil to send none.
  ///   - mimeType: The media type of the data. If nil, no type is sent, and servers assume text/plain (RFC 7578 §4.4). If the
  ///     type contains CR or LF, encoding fails with `.outputStreamWriteFailed` and an ``AFError/ForbiddenPartHeader``.
  public func append(_ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil) {
    append(
      MultipartBodyPart(
        headers: Self.headers(name: name, fileName: fileName, mimeType: mimeType), length: UInt64(data.count),
        body: .data(data)))
  }

  /// Appends a part whose body is a file. The part's file name is the last component of the URL, and its media type depends on the
  /// extension.
  ///
  /// Media types come from `/etc/mime.types`, or from a built-in table if that file is missing. For an unknown extension, the
  /// type is application/octet-stream. The file is read when the form is encoded.
  ///
  /// Encoding fails with `.bodyPartFilenameInvalid` for a name without an extension, and with the errors of
  /// ``append(_:withName:fileName:mimeType:)-(URL,_,_,_)``.
  public func append(_ fileURL: URL, withName name: String) {
    let fileExtension = fileURL.pathExtension
    guard !fileExtension.isEmpty else {
      return remember(.multipartEncodingFailed(reason: .bodyPartFilenameInvalid(in: fileURL)))
    }
    append(
      fileURL, withName: name, fileName: fileURL.lastPathComponent,
      mimeType: MediaTypeTable.system.type(forExtension: fileExtension))
  }

  /// Appends a part whose body is a file. The file is read when the form is encoded.
  ///
  /// Encoding fails with `.bodyPartURLInvalid`, `.bodyPartFileNotReachable`, `.bodyPartFileNotReachableWithError`,
  /// `.bodyPartFileIsDirectory`, `.bodyPartFileSizeNotAvailable` or `.bodyPartFileSizeQueryFailedWithError` unless the URL refers
  /// to a readable regular file.
  ///
  /// - Parameters:
  ///   - fileURL: The file with the part's body.
  ///   - name: The name of the form field.
  ///   - fileName: The file name sent to the server.
  ///   - mimeType: The media type of the file.
  public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
    do {
      let length = try readableFileLength(fileURL)
      append(
        MultipartBodyPart(
          headers: Self.headers(name: name, fileName: fileName, mimeType: mimeType), length: length,
          body: .file(fileURL)))
    } catch {
      remember(error)
    }
  }

  /// Appends a part with a file name and a body that is read from a stream.
  ///
  /// - Parameters:
  ///   - stream: The stream, which is read and closed when the form is encoded.
  ///   - length: The number of bytes in the stream.
  ///   - name: The name of the form field.
  ///   - fileName: The file name sent to the server.
  ///   - mimeType: The media type of the file.
  public func append(
    _ stream: InputStream, withLength length: UInt64, name: String, fileName: String, mimeType: String
  ) {
    append(
      stream, withLength: length, headers: Self.headers(name: name, fileName: fileName, mimeType: mimeType))
  }

  /// Appends a part whose body is read from a stream. The part has only the given header fields, which are written unchanged.
  ///
  /// Encoding fails with `.outputStreamWriteFailed` and an ``AFError/ForbiddenPartHeader`` if a name or value contains CR
  /// or LF.
  ///
  /// - Parameters:
  ///   - stream: The stream, which is read and closed when the form is encoded.
  ///   - length: The number of bytes in the stream.
  ///   - headers: All header fields of the part; RFC 7578 §4.2 requires a Content-Disposition.
  public func append(_ stream: InputStream, withLength length: UInt64, headers: HTTPHeaders) {
    append(MultipartBodyPart(headers: headers, length: length, body: .stream(stream)))
  }

  private func append(_ part: MultipartBodyPart) {
    if let error = part.headerError {
      remember(.multipartEncodingFailed(reason: .outputStreamWriteFailed(error: error)))
    } else {
      parts.append(part)
    }
  }

  private func remember(_ error: AFError) {
    appendError = appendError ?? error
  }

  /// Returns the file's current length in bytes. Throws `AFError.multipartEncodingFailed` with the cause as its reason unless the
  /// URL refers to a readable regular file.
  private func readableFileLength(_ fileURL: URL) throws(AFError) -> UInt64 {
    guard fileURL.isFileURL else { throw .multipartEncodingFailed(reason: .bodyPartURLInvalid(url: fileURL)) }

    // attributesOfItem returns the attributes of a symbolic link, not of its target.
    let path = fileURL.resolvingSymlinksInPath().path
    let isReachable: Bool
    do {
      isReachable = try fileURL.checkResourceIsReachable() && fileManager.isReadableFile(atPath: path)
    } catch {
      throw .multipartEncodingFailed(reason: .bodyPartFileNotReachableWithError(atURL: fileURL, error: error))
    }
    guard isReachable else { throw .multipartEncodingFailed(reason: .bodyPartFileNotReachable(at: fileURL)) }

    let attributes: [FileAttributeKey: Any]
    do {
      attributes = try fileManager.attributesOfItem(atPath: path)
    } catch {
      throw .multipartEncodingFailed(reason: .bodyPartFileSizeQueryFailedWithError(forURL: fileURL, error: error))
    }
    let type = attributes[.type] as? FileAttributeType
    if type == .typeDirectory { throw .multipartEncodingFailed(reason: .bodyPartFileIsDirectory(at: fileURL)) }
    guard type == .typeRegular, let size = attributes[.size] as? NSNumber else {
      throw .multipartEncodingFailed(reason: .bodyPartFileSizeNotAvailable(at: fileURL))
    }
    return size.uint64Value
  }

  /// Returns the header fields of a part: Content-Disposition (RFC 7578 §4.2) and, if `mimeType` isn't nil, Content-Type (§4.4).
  private static func headers(name: String, fileName: String?, mimeType: String?) -> HTTPHeaders {
    var disposition = "form-data; name=\"\(escaped(name))\""
    if let fileName { disposition += "; filename=\"\(escaped(fileName))\"" }
    var headers: HTTPHeaders = [.contentDisposition(disposition)]
    if let mimeType { headers.add(.contentType(mimeType)) }
    return headers
  }

  /// Escapes the characters of `name` that would end the quoted string or the line, as the HTML standard specifies.
  private static func escaped(_ name: String) -> String {
    var escaped = String.UnicodeScalarView()
    // The text is escaped by scalars, because CR and LF together are a single Character.
    for scalar in name.unicodeScalars {
      switch scalar {
      case "\"": escaped.append(contentsOf: "%22".unicodeScalars)
      case "\r": escaped.append(contentsOf: "%0D".unicodeScalars)
      case "\n": escaped.append(contentsOf: "%0A".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }

  private static func makeBoundary() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return "alamofire.boundary." + String(repeating: "0", count: 16 - digits.count) + digits
  }
}
