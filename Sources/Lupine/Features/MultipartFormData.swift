// A form of several parts for an upload: what is appended, and how each part is announced (RFC 7578).

public import Foundation
import LupineURLSession

/// A `multipart/form-data` body (RFC 7578), made of parts that are data, files or streams.
///
/// Appending throws nothing: of the appends that fail the first one is remembered, and thrown when the form is encoded.
/// A form of data and files may be encoded more than once; a stream can be read only once. A form without parts encodes
/// to no bytes.
///
/// Names, file names, media types and headers are written as they are given, without any escape: what somebody else
/// chose may hold no quotation mark and no line break.
open class MultipartFormData: CustomStringConvertible {
  /// Bytes up to which an upload encodes a form in memory; a longer one goes through a file. 10 MB, as in Alamofire.
  public static let encodingMemoryThreshold: UInt64 = 10_000_000

  /// The value of the Content-Type field with which the form is sent.
  open var contentType: String

  /// What separates the parts.
  public let boundary: String

  /// Bytes of all parts' bodies together, their headers and the boundaries not counted.
  public var contentLength: UInt64 {
    parts.reduce(0) { sum, part in
      let (total, isOverflow) = sum.addingReportingOverflow(part.length)
      return isOverflow ? .max : total
    }
  }

  /// How many parts there are, and the bytes of their bodies.
  open var description: String {
    let size = ReadableText.bytes(Int64(clamping: contentLength))
    return "\(type(of: self))(\(ReadableText.count(parts.count, "part")), \(size), boundary: \(boundary))"
  }

  let fileManager: FileManager
  private(set) var parts: [MultipartBodyPart] = []
  private(set) var appendError: AFError?

  /// Makes a form without parts.
  ///
  /// - Parameters:
  ///   - fileManager: asked about the files of parts, and about the one that the form is written to.
  ///   - boundary: 1 to 70 of the characters that RFC 2046 §5.1.1 allows, in a sequence that no part holds; by default
  ///     `alamofire.boundary.` and 16 random hex digits.
  public init(fileManager: FileManager = .default, boundary: String? = nil) {
    self.fileManager = fileManager
    self.boundary = boundary ?? Self.makeBoundary()
    contentType = "multipart/form-data; boundary=\(self.boundary)"
  }

  /// Appends data.
  ///
  /// - Parameters:
  ///   - data: the part's body.
  ///   - name: the name of the form's field.
  ///   - fileName: the name of the file that the data stands for; nil for none.
  ///   - mimeType: the data's media type; nil for none, which servers read as text/plain (RFC 7578 §4.4).
  public func append(_ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil) {
    parts.append(
      MultipartBodyPart(
        headers: Self.headers(name: name, fileName: fileName, mimeType: mimeType), length: UInt64(data.count),
        body: .data(data)))
  }

  /// Appends a file, whose name and media type are made of the URL's last component.
  ///
  /// The media type is that of the file's extension in `/etc/mime.types`, or else in a built-in table; an unknown
  /// extension gives application/octet-stream. The file is read when the form is encoded.
  ///
  /// The form fails with `.bodyPartFilenameInvalid` for a name without an extension, and otherwise as
  /// ``append(_:withName:fileName:mimeType:)-(URL,_,_,_)`` says.
  public func append(_ fileURL: URL, withName name: String) {
    let fileExtension = fileURL.pathExtension
    guard !fileExtension.isEmpty else {
      return remember(.multipartEncodingFailed(reason: .bodyPartFilenameInvalid(in: fileURL)))
    }
    append(
      fileURL, withName: name, fileName: fileURL.lastPathComponent,
      mimeType: MediaTypeTable.system.type(forExtension: fileExtension))
  }

  /// Appends a file, which is read when the form is encoded.
  ///
  /// The form fails with `.bodyPartURLInvalid`, `.bodyPartFileNotReachable`, `.bodyPartFileNotReachableWithError`,
  /// `.bodyPartFileIsDirectory`, `.bodyPartFileSizeNotAvailable` or `.bodyPartFileSizeQueryFailedWithError` unless the
  /// URL names a regular file that may be read.
  ///
  /// - Parameters:
  ///   - fileURL: the file with the part's body.
  ///   - name: the name of the form's field.
  ///   - fileName: the name of the file that the server is told.
  ///   - mimeType: the file's media type.
  public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
    do {
      let length = try readableFileLength(fileURL)
      parts.append(
        MultipartBodyPart(
          headers: Self.headers(name: name, fileName: fileName, mimeType: mimeType), length: length,
          body: .file(fileURL)))
    } catch {
      remember(error)
    }
  }

  /// Appends a stream as a file.
  ///
  /// - Parameters:
  ///   - stream: read and closed when the form is encoded.
  ///   - length: how many bytes the stream gives.
  ///   - name: the name of the form's field.
  ///   - fileName: the name of the file that the server is told.
  ///   - mimeType: the file's media type.
  public func append(
    _ stream: InputStream, withLength length: UInt64, name: String, fileName: String, mimeType: String
  ) {
    append(
      stream, withLength: length, headers: Self.headers(name: name, fileName: fileName, mimeType: mimeType))
  }

  /// Appends a stream under headers of one's own.
  ///
  /// - Parameters:
  ///   - stream: read and closed when the form is encoded.
  ///   - length: how many bytes the stream gives.
  ///   - headers: all header fields of the part; RFC 7578 §4.2 asks for a Content-Disposition.
  public func append(_ stream: InputStream, withLength length: UInt64, headers: HTTPHeaders) {
    parts.append(MultipartBodyPart(headers: headers, length: length, body: .stream(stream)))
  }

  private func remember(_ error: AFError) {
    appendError = appendError ?? error
  }

  /// Bytes of the file as it is now.
  private func readableFileLength(_ fileURL: URL) throws(AFError) -> UInt64 {
    guard fileURL.isFileURL else { throw .multipartEncodingFailed(reason: .bodyPartURLInvalid(url: fileURL)) }

    // The attributes are those of a symbolic link, not of what it names.
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

  /// Content-Disposition (RFC 7578 §4.2) and Content-Type (§4.4), in this order.
  private static func headers(name: String, fileName: String?, mimeType: String?) -> HTTPHeaders {
    var disposition = "form-data; name=\"\(name)\""
    if let fileName { disposition += "; filename=\"\(fileName)\"" }
    var headers: HTTPHeaders = [.contentDisposition(disposition)]
    if let mimeType { headers.add(.contentType(mimeType)) }
    return headers
  }

  private static func makeBoundary() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 16)
    return "alamofire.boundary." + String(repeating: "0", count: 16 - digits.count) + digits
  }
}
