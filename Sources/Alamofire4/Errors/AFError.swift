// AFError: the errors that this module detects. Errors of URLSession, adapters and serializers are passed on.

public import Foundation

// Unchecked because, as in Alamofire 4, a URLConvertible needn't be Sendable. It is only described and compared.
/// An error that Alamofire itself detected. Errors of URLSession and of the program's closures are passed on unchanged.
public enum AFError: Error, @unchecked Sendable {
  /// The reason why parameters couldn't be encoded.
  public enum ParameterEncodingFailureReason: Sendable {
    /// The request has no URL to whose query the parameters could be appended.
    case missingURL
    /// The parameters can't be represented as JSON. `error` is the reason.
    case jsonEncodingFailed(error: any Error)
    /// The parameters can't be represented as a property list. `error` is the reason.
    case propertyListEncodingFailed(error: any Error)
  }

  /// The reason why a multipart form couldn't be encoded.
  public enum MultipartEncodingFailureReason: Sendable {
    /// The URL of a part's file isn't a file URL.
    case bodyPartURLInvalid(url: URL)
    /// The name of a part's file has no extension from which the part's media type could be derived.
    case bodyPartFilenameInvalid(in: URL)
    /// The file of a part can't be read.
    case bodyPartFileNotReachable(at: URL)
    /// The file of a part doesn't exist, or its directory can't be searched. `error` is the system's error.
    case bodyPartFileNotReachableWithError(atURL: URL, error: any Error)
    /// The file of a part is a directory.
    case bodyPartFileIsDirectory(at: URL)
    /// The file of a part isn't a regular file, so it has no size.
    case bodyPartFileSizeNotAvailable(at: URL)
    /// The attributes of a part's file can't be read. `error` is the system's error.
    case bodyPartFileSizeQueryFailedWithError(forURL: URL, error: any Error)
    /// The file of a part can't be opened.
    case bodyPartInputStreamCreationFailed(for: URL)
    /// The file for the encoded form can't be created.
    case outputStreamCreationFailed(for: URL)
    /// The file for the encoded form already exists.
    case outputStreamFileAlreadyExists(at: URL)
    /// The URL of the file for the encoded form isn't a file URL.
    case outputStreamURLInvalid(url: URL)
    /// The encoded form can't be written.
    case outputStreamWriteFailed(error: any Error)
    /// A part of the form can't be read, or its length differs from the length that was fixed when the part was appended.
    case inputStreamReadFailed(error: any Error)
  }

  /// The reason why a validation rejected a response.
  public enum ResponseValidationFailureReason: Sendable {
    /// There is no downloaded file to validate.
    case dataFileNil
    /// The downloaded file can't be read for validation.
    case dataFileReadFailed(at: URL)
    /// The response has no Content-Type, and `*/*` isn't acceptable.
    case missingContentType(acceptableContentTypes: [String])
    /// The content type of the response isn't one of the acceptable types.
    case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
    /// The status code of the response isn't one of the acceptable codes.
    case unacceptableStatusCode(code: Int)
  }

  /// The reason why a response couldn't be serialized.
  public enum ResponseSerializationFailureReason: Sendable {
    /// The response has no body, so there is nothing to serialize.
    case inputDataNil
    /// The response has no body, or an empty body.
    case inputDataNilOrZeroLength
    /// There is no downloaded file to serialize.
    case inputFileNil
    /// The downloaded file can't be read for serialization.
    case inputFileReadFailed(at: URL)
    /// The response body isn't valid text in `encoding`.
    case stringSerializationFailed(encoding: String.Encoding)
    /// The response body isn't valid JSON.
    case jsonSerializationFailed(error: any Error)
    /// The response body isn't a property list, or it was rejected because reading it could be dangerous.
    case propertyListSerializationFailed(error: any Error)
  }

  /// The value `url` can't be converted to a URL.
  case invalidURL(url: any URLConvertible)
  /// The parameters of a request couldn't be encoded.
  case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
  /// A multipart form couldn't be encoded.
  case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
  /// A validation rejected the response.
  case responseValidationFailed(reason: ResponseValidationFailureReason)
  /// A serializer couldn't serialize the response.
  case responseSerializationFailed(reason: ResponseSerializationFailureReason)
}

extension AFError {
  /// The domain of this error as an `NSError`: `Alamofire.AFError`, whatever the module's name is.
  public var _domain: String { "Alamofire.AFError" }
}
