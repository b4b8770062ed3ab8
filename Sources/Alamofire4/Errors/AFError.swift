// AFError: the errors that this module detects. Errors of URLSession, adapters and serializers are passed on.

public import Foundation

// Unchecked because, as in Alamofire 4, a URLConvertible needn't be Sendable. It is only described and compared.
/// An error that this module itself has detected. Errors of URLSession and of the program's closures are passed on unchanged.
public enum AFError: Error, @unchecked Sendable {
  /// The reason why parameters couldn't be encoded.
  public enum ParameterEncodingFailureReason: Sendable {
    /// The request has no URL to which a query could be appended.
    case missingURL
    /// The parameters can't be represented as JSON.
    case jsonEncodingFailed(error: any Error)
    /// The parameters can't be represented as a property list.
    case propertyListEncodingFailed(error: any Error)
  }

  /// The reason why a multipart form couldn't be encoded.
  public enum MultipartEncodingFailureReason: Sendable {
    /// The URL of the part isn't a file URL.
    case bodyPartURLInvalid(url: URL)
    /// The file's name has no extension from which its media type could be derived.
    case bodyPartFilenameInvalid(in: URL)
    /// The file can't be read.
    case bodyPartFileNotReachable(at: URL)
    /// The file doesn't exist, or its directory can't be searched.
    case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
    /// The file is a directory.
    case bodyPartFileIsDirectory(at: URL)
    /// The file isn't a regular file, so it has no size.
    case bodyPartFileSizeNotAvailable(at: URL)
    /// The file's attributes can't be read.
    case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
    /// The file can't be opened.
    case bodyPartInputStreamCreationFailed(for: URL)
    /// The output file can't be created.
    case outputStreamCreationFailed(for: URL)
    /// The output file exists.
    case outputStreamFileAlreadyExists(at: URL)
    /// The output URL isn't a file URL.
    case outputStreamURLInvalid(url: URL)
    /// The output file can't be written.
    case outputStreamWriteFailed(error: any Error)
    /// A part can't be read, or is shorter or longer than announced.
    case inputStreamReadFailed(error: any Error)
  }

  /// The reason why a validation rejected a response.
  public enum ResponseValidationFailureReason: Sendable {
    /// There is no downloaded file.
    case dataFileNil
    /// The downloaded file can't be read.
    case dataFileReadFailed(at: URL)
    /// The response has no media type, and `*/*` isn't acceptable.
    case missingContentType(acceptableContentTypes: [String])
    /// The response's media type isn't acceptable.
    case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
    /// The response's status code isn't acceptable.
    case unacceptableStatusCode(code: Int)
  }

  /// The reason why a response couldn't be serialized.
  public enum ResponseSerializationFailureReason: Sendable {
    /// There is no body.
    case inputDataNil
    /// There is no body, or the body is empty.
    case inputDataNilOrZeroLength
    /// There is no downloaded file.
    case inputFileNil
    /// The downloaded file can't be read.
    case inputFileReadFailed(at: URL)
    /// The body isn't text in the encoding.
    case stringSerializationFailed(encoding: String.Encoding)
    /// The body isn't JSON.
    case jsonSerializationFailed(error: any Error)
    /// The body isn't a property list, or is refused because reading it could be dangerous.
    case propertyListSerializationFailed(error: any Error)
  }

  /// The value can't be converted to a URL.
  case invalidURL(url: any URLConvertible)
  /// The parameters couldn't be encoded.
  case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
  /// The multipart form couldn't be encoded.
  case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
  /// A validation rejected the response.
  case responseValidationFailed(reason: ResponseValidationFailureReason)
  /// The response couldn't be serialized.
  case responseSerializationFailed(reason: ResponseSerializationFailureReason)
}
