// AFError's properties: its case, and the values of its reason.

public import Foundation

extension AFError {
  /// Whether the error is `invalidURL`.
  public var isInvalidURLError: Bool { if case .invalidURL = self { true } else { false } }

  /// Whether the error is `parameterEncodingFailed`.
  public var isParameterEncodingError: Bool { if case .parameterEncodingFailed = self { true } else { false } }

  /// Whether the error is `multipartEncodingFailed`.
  public var isMultipartEncodingError: Bool { if case .multipartEncodingFailed = self { true } else { false } }

  /// Whether the error is `responseValidationFailed`.
  public var isResponseValidationError: Bool { if case .responseValidationFailed = self { true } else { false } }

  /// Whether the error is `responseSerializationFailed`.
  public var isResponseSerializationError: Bool {
    if case .responseSerializationFailed = self { true } else { false }
  }

  /// The value that isn't a URL, if this error is `invalidURL`. Nil for other errors.
  public var urlConvertible: (any URLConvertible)? { if case .invalidURL(let url) = self { url } else { nil } }

  /// The URL of the file that a multipart form couldn't read or write. Nil for other errors, and for errors without a file.
  public var url: URL? {
    guard case .multipartEncodingFailed(let reason) = self else { return nil }
    return switch reason {
    case .bodyPartURLInvalid(let url), .bodyPartFilenameInvalid(let url), .bodyPartFileNotReachable(let url),
      .bodyPartFileNotReachableWithError(let url, _), .bodyPartFileIsDirectory(let url),
      .bodyPartFileSizeNotAvailable(let url), .bodyPartFileSizeQueryFailedWithError(let url, _),
      .bodyPartInputStreamCreationFailed(let url), .outputStreamCreationFailed(let url),
      .outputStreamFileAlreadyExists(let url), .outputStreamURLInvalid(let url):
      url
    case .outputStreamWriteFailed, .inputStreamReadFailed: nil
    }
  }

  /// The error that caused this error, or nil if Alamofire itself detected the failure.
  public var underlyingError: (any Error)? {
    switch self {
    case .invalidURL, .responseValidationFailed: nil
    case .parameterEncodingFailed(.jsonEncodingFailed(let error)),
      .parameterEncodingFailed(.propertyListEncodingFailed(let error)),
      .multipartEncodingFailed(.bodyPartFileNotReachableWithError(_, let error)),
      .multipartEncodingFailed(.bodyPartFileSizeQueryFailedWithError(_, let error)),
      .multipartEncodingFailed(.outputStreamWriteFailed(let error)),
      .multipartEncodingFailed(.inputStreamReadFailed(let error)),
      .responseSerializationFailed(.jsonSerializationFailed(let error)),
      .responseSerializationFailed(.propertyListSerializationFailed(let error)):
      error
    case .parameterEncodingFailed, .multipartEncodingFailed, .responseSerializationFailed: nil
    }
  }

  /// The media types that the failed validation would have accepted. Nil for other errors.
  public var acceptableContentTypes: [String]? {
    switch self {
    case .responseValidationFailed(.missingContentType(let types)),
      .responseValidationFailed(.unacceptableContentType(let types, _)):
      types
    default: nil
    }
  }

  /// The media type that the failed validation rejected. Nil for other errors.
  public var responseContentType: String? {
    guard case .responseValidationFailed(.unacceptableContentType(_, let type)) = self else { return nil }
    return type
  }

  /// The status code that the failed validation rejected. Nil for other errors.
  public var responseCode: Int? {
    guard case .responseValidationFailed(.unacceptableStatusCode(let code)) = self else { return nil }
    return code
  }

  /// The encoding in which the response body isn't valid text. Nil for other errors.
  public var failedStringEncoding: String.Encoding? {
    guard case .responseSerializationFailed(.stringSerializationFailed(let encoding)) = self else { return nil }
    return encoding
  }
}
