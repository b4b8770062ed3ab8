// `MultipartEncodingFailureReason`: the reasons why a multipart form could not be encoded, with descriptions and affected files.

public import Foundation
import LupineURLSession

extension AFError {
  /// The reason why a multipart form could not be encoded.
  public enum MultipartEncodingFailureReason: Sendable {
    /// The URL of a part's file isn't a file URL.
    case bodyPartURLInvalid(url: URL)
    /// A part's file name and media type can't be derived from its URL, whose last component has no extension.
    case bodyPartFilenameInvalid(in: URL)
    /// The file of a part exists, but this process doesn't have permission to read the file.
    case bodyPartFileNotReachable(at: URL)
    /// The file of a part wasn't found. `error` is the system's error.
    case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
    /// The URL of a part's file refers to a directory.
    case bodyPartFileIsDirectory(at: URL)
    /// The size of a part's file isn't known in advance, because the file is a pipe or a device.
    case bodyPartFileSizeNotAvailable(at: URL)
    /// The system could not determine the size of a part's file. `error` is the system's error.
    case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
    /// The file of a part could not be opened when the form was encoded.
    case bodyPartInputStreamCreationFailed(for: URL)
    /// The file for the encoded form could not be created.
    case outputStreamCreationFailed(for: URL)
    /// The file for the encoded form already exists.
    case outputStreamFileAlreadyExists(at: URL)
    /// The URL of the file for the encoded form isn't a file URL.
    case outputStreamURLInvalid(url: URL)
    /// Writing the encoded form failed. `error` is the system's error, or an ``AFError/ForbiddenPartHeader`` if a part's header
    /// field can't be written.
    case outputStreamWriteFailed(error: any Error)
    /// Reading a part failed. `error` is the system's error, or an ``AFError/UnexpectedInputStreamLength`` if the part's length
    /// differs from the length that was fixed when the part was appended.
    case inputStreamReadFailed(error: any Error)
  }

  /// The error for a part of a multipart form whose length differed from the length that was fixed when the part was appended.
  public struct UnexpectedInputStreamLength: LocalizedError {
    /// The length of the part in bytes when it was appended: the length of its file, or the one that the caller passed.
    public var bytesExpected: UInt64
    /// The number of bytes read from the part. If the part is too short, its entire length. If it is too long, a number greater
    /// than ``bytesExpected``.
    public var bytesRead: UInt64

    /// A sentence with both lengths, and another sentence that states the remedy.
    public var errorDescription: String? {
      "\(bytesExpected) bytes were announced, but \(bytesRead < bytesExpected ? "only" : "at least") \(bytesRead) were "
        + "read. Pass the stream's exact length, and don't change a file between appending and encoding it."
    }
  }
}

extension AFError {
  /// The error for a multipart form in which a part's header field contains CR or LF. These characters would end the field's line,
  /// and begin another field or the part's body. Alamofire doesn't have this error.
  public struct ForbiddenPartHeader: LocalizedError {
    /// The name of the rejected header field.
    public var name: String
    /// The value of the rejected header field.
    public var value: String

    /// Names the rejected header field, and describes how to correct it.
    public var errorDescription: String? {
      // The name may contain the line break itself.
      let name = String(String.UnicodeScalarView(name.unicodeScalars.map { $0.value < 0x20 ? "\u{FFFD}" : $0 }))
      return "The part's header field \(name) contains a line break. Remove CR and LF from its name and value."
    }
  }
}

extension AFError.MultipartEncodingFailureReason {
  var sentence: String {
    switch self {
    case .bodyPartURLInvalid(let url):
      "The part's URL \(ReadableText.url(url)) is not a file URL. Download the resource first, and append its data."
    case .bodyPartFilenameInvalid(let url):
      "\(ReadableText.url(url)) doesn't end in a name with an extension, so its file name and media type can't be "
        + "derived. Pass fileName and mimeType explicitly."
    case .bodyPartFileNotReachable(let url):
      "This process doesn't have permission to read the part's file \(url.path). Change its permissions or owner."
    case .bodyPartFileNotReachableWithError(let url, let error):
      error.sentence("The part's file \(url.path) was not found", remedy: "Check the path.")
    case .bodyPartFileIsDirectory(let url):
      "The part's file \(url.path) is a directory. Append each of its files, or an archive of them."
    case .bodyPartFileSizeNotAvailable(let url):
      "The part's file \(url.path) is not a regular file, so its size is not known. "
        + "Append it as a stream with a length, or as data."
    case .bodyPartFileSizeQueryFailedWithError(let url, let error):
      error.sentence("The size of the part's file \(url.path) could not be read", remedy: "Check its permissions.")
    case .bodyPartInputStreamCreationFailed(let url):
      "The part's file \(url.path) could not be opened. Keep it in place and readable until the form is encoded."
    case .outputStreamCreationFailed(let url):
      "The output file \(url.path) could not be created. Check that its directory exists and is writable."
    case .outputStreamFileAlreadyExists(let url):
      "The form was not written because the file \(url.path) exists already. Remove it, or choose another path."
    case .outputStreamURLInvalid(let url):
      "The form was not written to \(ReadableText.url(url)) because that is not a file URL. Pass a file URL."
    case .outputStreamWriteFailed(let error):
      error.sentence("The form could not be written", remedy: "Check the free space on the disk.")
    case .inputStreamReadFailed(let error):
      error.sentence("A part of the form could not be read", remedy: "Check the part's file or stream.")
    }
  }

  var url: URL? {
    switch self {
    case .bodyPartURLInvalid(let url), .bodyPartFilenameInvalid(let url), .bodyPartFileNotReachable(let url),
      .bodyPartFileNotReachableWithError(let url, _), .bodyPartFileIsDirectory(let url),
      .bodyPartFileSizeNotAvailable(let url), .bodyPartFileSizeQueryFailedWithError(let url, _),
      .bodyPartInputStreamCreationFailed(let url), .outputStreamCreationFailed(let url),
      .outputStreamFileAlreadyExists(let url), .outputStreamURLInvalid(let url):
      url
    case .outputStreamWriteFailed, .inputStreamReadFailed:
      nil
    }
  }
}
