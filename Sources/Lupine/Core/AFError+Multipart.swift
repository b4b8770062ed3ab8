// Why a multipart form could not be encoded: the reasons, their sentences, and the file that each is about.

public import Foundation
import LupineURLSession

extension AFError {
  /// Why a multipart form could not be encoded.
  public enum MultipartEncodingFailureReason: Sendable {
    /// The URL of a part names no file: it has another scheme than `file`.
    case bodyPartURLInvalid(url: URL)
    /// No name and type can be made of the file's URL, for its last component has no extension.
    case bodyPartFilenameInvalid(in: URL)
    /// The file of a part is there, but this process may not read it.
    case bodyPartFileNotReachable(at: URL)
    /// The file of a part can't be found; the system's error is attached.
    case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
    /// The file of a part is a directory.
    case bodyPartFileIsDirectory(at: URL)
    /// The file of a part has no size that is known beforehand: it is a pipe or a device.
    case bodyPartFileSizeNotAvailable(at: URL)
    /// The system failed to tell the size of a part's file; its error is attached.
    case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
    /// The file of a part could no longer be opened when the form was encoded.
    case bodyPartInputStreamCreationFailed(for: URL)
    /// The file to write the form to could not be made.
    case outputStreamCreationFailed(for: URL)
    /// The file to write the form to is there already.
    case outputStreamFileAlreadyExists(at: URL)
    /// The URL to write the form to names no file: it has another scheme than `file`.
    case outputStreamURLInvalid(url: URL)
    /// Writing the form failed; the system's error is attached.
    case outputStreamWriteFailed(error: any Error)
    /// Reading a part failed, or it was shorter or longer than announced: then the error is an
    /// ``AFError/UnexpectedInputStreamLength``.
    case inputStreamReadFailed(error: any Error)
  }

  /// A part of a multipart form had another length than was announced for it.
  public struct UnexpectedInputStreamLength: LocalizedError {
    /// The announced length in bytes.
    public var bytesExpected: UInt64
    /// Bytes that were read: all of a part that was too short, at least one too many of a part that was too long.
    public var bytesRead: UInt64

    /// What was announced and what came, and what to do about it.
    public var errorDescription: String? {
      "\(bytesExpected) bytes were announced, and \(bytesRead < bytesExpected ? "only" : "at least") \(bytesRead) came. "
        + "Pass the stream's exact length, and don't change a file between appending and encoding it."
    }
  }
}

extension AFError.MultipartEncodingFailureReason {
  var sentence: String {
    switch self {
    case .bodyPartURLInvalid(let url):
      "The part \(ReadableText.url(url)) is not a file's URL. Download it first, or append its data."
    case .bodyPartFilenameInvalid(let url):
      "No name and media type can be made of \(ReadableText.url(url)), for it doesn't end with a name and an extension. "
        + "Append it with a fileName and a mimeType."
    case .bodyPartFileNotReachable(let url):
      "The part's file \(url.path) may not be read by this process. Change its permissions or owner."
    case .bodyPartFileNotReachableWithError(let url, let error):
      error.sentence("The part's file \(url.path) was not found", remedy: "Check the path.")
    case .bodyPartFileIsDirectory(let url):
      "The part's file \(url.path) is a directory. Append each of its files, or an archive of them."
    case .bodyPartFileSizeNotAvailable(let url):
      "The part's file \(url.path) is no regular file, so its size is not known. "
        + "Append it as a stream with a length, or as data."
    case .bodyPartFileSizeQueryFailedWithError(let url, let error):
      error.sentence("The size of the part's file \(url.path) could not be found out", remedy: "Check its permissions.")
    case .bodyPartInputStreamCreationFailed(let url):
      "The part's file \(url.path) could not be opened. Keep it in place and readable until the form is encoded."
    case .outputStreamCreationFailed(let url):
      "The file \(url.path) could not be made to write the form to. Check that its directory is there and writable."
    case .outputStreamFileAlreadyExists(let url):
      "The form was not written to \(url.path), where a file is already. Remove it, or choose another place."
    case .outputStreamURLInvalid(let url):
      "The form was not written to \(ReadableText.url(url)), which is not a file's URL. Write it to a file."
    case .outputStreamWriteFailed(let error):
      error.sentence("The form could not be written", remedy: "Check the space that is left on the disk.")
    case .inputStreamReadFailed(let error):
      error.sentence("A part of the form could not be read")
    }
  }

  var underlyingError: (any Error)? {
    switch self {
    case .bodyPartFileNotReachableWithError(_, let error), .bodyPartFileSizeQueryFailedWithError(_, let error),
      .outputStreamWriteFailed(let error), .inputStreamReadFailed(let error):
      error
    case .bodyPartURLInvalid, .bodyPartFilenameInvalid, .bodyPartFileNotReachable, .bodyPartFileIsDirectory,
      .bodyPartFileSizeNotAvailable, .bodyPartInputStreamCreationFailed, .outputStreamCreationFailed,
      .outputStreamFileAlreadyExists, .outputStreamURLInvalid:
      nil
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
