// MultipartFormData: a multipart form (RFC 7578).

public import Foundation
import Lupine
import LupineURLSession

/// A `multipart/form-data` body (RFC 7578) with parts from data, files and streams.
///
/// The append methods don't throw. If one fails, encoding the form throws the error of the first failed append.
open class MultipartFormData {
  private let form = Lupine.MultipartFormData()

  /// Creates a form without parts.
  public init() {}

  /// The value of the form's Content-Type field.
  open var contentType: String { form.contentType }

  /// The boundary that separates the parts of the encoded form.
  public var boundary: String { form.boundary }

  /// The total length of the parts' bodies in bytes, without their headers and the boundaries.
  public var contentLength: UInt64 { form.contentLength }

  /// Appends a part whose body is `data`.
  public func append(_ data: Data, withName name: String) { form.append(data, withName: name) }

  /// Appends a part whose body is `data`, with a media type.
  public func append(_ data: Data, withName name: String, mimeType: String) {
    form.append(data, withName: name, mimeType: mimeType)
  }

  /// Appends a part whose body is `data`, with a file name and a media type.
  public func append(_ data: Data, withName name: String, fileName: String, mimeType: String) {
    form.append(data, withName: name, fileName: fileName, mimeType: mimeType)
  }

  /// Appends a part whose body is the content of a file. The part's media type depends on the file's extension. The file is read
  /// when the form is encoded.
  public func append(_ fileURL: URL, withName name: String) { form.append(fileURL, withName: name) }

  /// Appends a part whose body is the content of a file, with a file name and a media type. The file is read when the form is
  /// encoded.
  public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
    form.append(fileURL, withName: name, fileName: fileName, mimeType: mimeType)
  }

  /// Appends a part whose body is read from a stream, with a file name and a media type. `length` is the number of bytes in the
  /// stream, which is read when the form is encoded.
  public func append(
    _ stream: InputStream, withLength length: UInt64, name: String, fileName: String, mimeType: String
  ) {
    form.append(stream, withLength: length, name: name, fileName: fileName, mimeType: mimeType)
  }

  /// Appends a part whose body is read from a stream of `length` bytes. The part has only the given header fields, which are sorted
  /// by name.
  public func append(_ stream: InputStream, withLength length: UInt64, headers: HTTPHeaders) {
    form.append(stream, withLength: length, headers: Lupine.HTTPHeaders(headers))
  }

  /// Returns the encoded form. Throws `AFError.multipartEncodingFailed` if the form can't be encoded.
  public func encode() throws -> Data { try translatingErrors { try form.encode() } }

  /// Writes the encoded form to a new file. Throws `AFError.multipartEncodingFailed` if the form can't be encoded or written.
  public func writeEncodedData(to fileURL: URL) throws {
    try translatingErrors { try form.writeEncodedData(to: fileURL) }
  }

  private func translatingErrors<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch Lupine.AFError.multipartEncodingFailed(let reason) {
      throw AFError.multipartEncodingFailed(reason: AFError.MultipartEncodingFailureReason(reason))
    }
  }
}

extension AFError.MultipartEncodingFailureReason {
  fileprivate init(_ reason: Lupine.AFError.MultipartEncodingFailureReason) {
    self =
      switch reason {
      case .bodyPartURLInvalid(let url): .bodyPartURLInvalid(url: url)
      case .bodyPartFilenameInvalid(let url): .bodyPartFilenameInvalid(in: url)
      case .bodyPartFileNotReachable(let url): .bodyPartFileNotReachable(at: url)
      case .bodyPartFileNotReachableWithError(let url, let error):
        .bodyPartFileNotReachableWithError(atURL: url, error: error)
      case .bodyPartFileIsDirectory(let url): .bodyPartFileIsDirectory(at: url)
      case .bodyPartFileSizeNotAvailable(let url): .bodyPartFileSizeNotAvailable(at: url)
      case .bodyPartFileSizeQueryFailedWithError(let url, let error):
        .bodyPartFileSizeQueryFailedWithError(forURL: url, error: error)
      case .bodyPartInputStreamCreationFailed(let url): .bodyPartInputStreamCreationFailed(for: url)
      case .outputStreamCreationFailed(let url): .outputStreamCreationFailed(for: url)
      case .outputStreamFileAlreadyExists(let url): .outputStreamFileAlreadyExists(at: url)
      case .outputStreamURLInvalid(let url): .outputStreamURLInvalid(url: url)
      case .outputStreamWriteFailed(let error): .outputStreamWriteFailed(error: error)
      case .inputStreamReadFailed(let error): .inputStreamReadFailed(error: error)
      }
  }
}
