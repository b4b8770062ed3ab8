// AFError+Properties: Alamofire's convenience properties for the case of an error and the values of its reason.

public import Foundation
import LupineURLSession

extension AFError {
  /// Whether this error is ``createURLRequestFailed(error:)``.
  public var isCreateURLRequestError: Bool { if case .createURLRequestFailed = self { true } else { false } }

  /// Whether this error is ``createUploadableFailed(error:)``.
  public var isCreateUploadableError: Bool { if case .createUploadableFailed = self { true } else { false } }

  /// Whether this error is ``downloadedFileMoveFailed(error:source:destination:)``.
  public var isDownloadedFileMoveError: Bool { if case .downloadedFileMoveFailed = self { true } else { false } }

  /// Whether this error is ``explicitlyCancelled``.
  public var isExplicitlyCancelledError: Bool { if case .explicitlyCancelled = self { true } else { false } }

  /// Whether this error is ``invalidURL(url:)``.
  public var isInvalidURLError: Bool { if case .invalidURL = self { true } else { false } }

  /// Whether this error is ``multipartEncodingFailed(reason:)``.
  public var isMultipartEncodingError: Bool { if case .multipartEncodingFailed = self { true } else { false } }

  /// Whether this error is ``parameterEncoderFailed(reason:)``.
  public var isParameterEncoderError: Bool { if case .parameterEncoderFailed = self { true } else { false } }

  /// Whether this error is ``parameterEncodingFailed(reason:)``.
  public var isParameterEncodingError: Bool { if case .parameterEncodingFailed = self { true } else { false } }

  /// Whether this error is ``requestAdaptationFailed(error:)``.
  public var isRequestAdaptationError: Bool { if case .requestAdaptationFailed = self { true } else { false } }

  /// Whether this error is ``requestRetryFailed(retryError:originalError:)``.
  public var isRequestRetryError: Bool { if case .requestRetryFailed = self { true } else { false } }

  /// Whether this error is ``responseSerializationFailed(reason:)``.
  public var isResponseSerializationError: Bool { if case .responseSerializationFailed = self { true } else { false } }

  /// Whether this error is ``responseValidationFailed(reason:)``.
  public var isResponseValidationError: Bool { if case .responseValidationFailed = self { true } else { false } }

  /// Whether this error is ``serverTrustEvaluationFailed(reason:)``.
  public var isServerTrustEvaluationError: Bool { if case .serverTrustEvaluationFailed = self { true } else { false } }

  /// Whether this error is ``sessionDeinitialized``.
  public var isSessionDeinitializedError: Bool { if case .sessionDeinitialized = self { true } else { false } }

  /// Whether this error is ``sessionInvalidated(error:)``.
  public var isSessionInvalidatedError: Bool { if case .sessionInvalidated = self { true } else { false } }

  /// Whether this error is ``sessionTaskFailed(error:)``.
  public var isSessionTaskError: Bool { if case .sessionTaskFailed = self { true } else { false } }

  /// The value that could not be converted to a URL, if this error is ``invalidURL(url:)``. Nil for other errors.
  public var urlConvertible: (any URLConvertible)? { if case .invalidURL(let url) = self { url } else { nil } }

  /// The file of a form's part that could not be read, or the form's output file that could not be created, if this error is
  /// ``multipartEncodingFailed(reason:)``. Nil if the reason names no file, and for other errors.
  public var url: URL? { if case .multipartEncodingFailed(let reason) = self { reason.url } else { nil } }

  /// The temporary file that could not be moved, if this error is ``downloadedFileMoveFailed(error:source:destination:)``. Nil for
  /// other errors.
  public var sourceURL: URL? { if case .downloadedFileMoveFailed(_, let source, _) = self { source } else { nil } }

  /// The destination to which a downloaded file could not be moved, if this error is
  /// ``downloadedFileMoveFailed(error:source:destination:)``. Nil for other errors.
  public var destinationURL: URL? {
    if case .downloadedFileMoveFailed(_, _, let destination) = self { destination } else { nil }
  }

  /// The error that this error wraps, or nil if it wraps none. If this error is ``requestRetryFailed(retryError:originalError:)``,
  /// the retrier's error.
  public var underlyingError: (any Error)? {
    switch self {
    case .createUploadableFailed(let error), .createURLRequestFailed(let error), .requestAdaptationFailed(let error),
      .requestRetryFailed(let error, _), .downloadedFileMoveFailed(let error, _, _), .sessionTaskFailed(let error),
      .multipartEncodingFailed(.bodyPartFileNotReachableWithError(_, let error)),
      .multipartEncodingFailed(.bodyPartFileSizeQueryFailedWithError(_, let error)),
      .multipartEncodingFailed(.outputStreamWriteFailed(let error)),
      .multipartEncodingFailed(.inputStreamReadFailed(let error)),
      .parameterEncoderFailed(.encoderFailed(let error)),
      .parameterEncodingFailed(.jsonEncodingFailed(let error)),
      .parameterEncodingFailed(.customEncodingFailed(let error)),
      .responseSerializationFailed(.jsonSerializationFailed(let error)),
      .responseSerializationFailed(.decodingFailed(let error)),
      .responseSerializationFailed(.customSerializationFailed(let error)),
      .responseValidationFailed(.customValidationFailed(let error)),
      .serverTrustEvaluationFailed(.customEvaluationFailed(let error)):
      error
    case .sessionInvalidated(let error), .serverTrustEvaluationFailed(.trustEvaluationFailed(let error)): error
    case .serverTrustEvaluationFailed(.revocationCheckFailed(let output, _)): output.trust.revocationFailure
    case .explicitlyCancelled, .invalidURL, .multipartEncodingFailed, .parameterEncoderFailed, .parameterEncodingFailed,
      .responseSerializationFailed, .responseValidationFailed, .serverTrustEvaluationFailed, .sessionDeinitialized,
      .urlRequestValidationFailed:
      nil
    }
  }

  /// The data with which a failed download can be resumed, or nil if there is none.
  public var downloadResumeData: Data? {
    (underlyingError as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
  }

  /// The content types that validation would have accepted, or nil if validation didn't check them.
  public var acceptableContentTypes: [String]? {
    guard case .responseValidationFailed(let reason) = self else { return nil }
    switch reason {
    case .missingContentType(let types), .unacceptableContentType(let types, _): return types
    case .dataFileNil, .dataFileReadFailed, .unacceptableStatusCode, .customValidationFailed: return nil
    }
  }

  /// The content type that validation rejected, or nil if it rejected none.
  public var responseContentType: String? {
    guard case .responseValidationFailed(.unacceptableContentType(_, let type)) = self else { return nil }
    return type
  }

  /// The status code that validation rejected, or nil if it rejected none.
  public var responseCode: Int? {
    guard case .responseValidationFailed(.unacceptableStatusCode(let code)) = self else { return nil }
    return code
  }

  /// The encoding in which the response body could not be read as text, or nil for other errors.
  public var failedStringEncoding: String.Encoding? {
    guard case .responseSerializationFailed(.stringSerializationFailed(let encoding)) = self else { return nil }
    return encoding
  }
}
