// The error that every response carries, and the reasons beneath its cases.

public import Foundation

/// What went wrong with a request, from making it to serializing its response.
public enum AFError: Error, Sendable {
  /// Why a parameter encoder failed.
  public enum ParameterEncoderFailureReason: Sendable {
    /// A part of the request that the encoder cannot do without.
    public enum RequiredComponent: Sendable {
      /// The request's URL, in whose query the parameters would go.
      case url
      /// A known HTTP method; the request's own one is attached.
      case httpMethod(rawValue: String)
    }

    /// The request lacks what the encoder needs.
    case missingRequiredComponent(RequiredComponent)
    /// The encoder beneath threw.
    case encoderFailed(error: any Error)
  }

  /// Why parameters could not be encoded.
  public enum ParameterEncodingFailureReason: Sendable {
    /// The request has no URL, in whose query the parameters would go.
    case missingURL
    /// The parameters can't be written as JSON.
    case jsonEncodingFailed(error: any Error)
    /// The parameters can't be written in another format than JSON, such as a property list.
    case customEncodingFailed(error: any Error)
  }

  /// Why a validator refused a response.
  public enum ResponseValidationFailureReason: Sendable {
    /// A download has no file whose contents could be validated.
    case dataFileNil
    /// The file that a download was written to can't be read.
    case dataFileReadFailed(at: URL)
    /// The response names no content type, and the acceptable ones hold no `*/*`.
    case missingContentType(acceptableContentTypes: [String])
    /// The response's content type is not among the acceptable ones.
    case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
    /// The status code is not among the acceptable ones.
    case unacceptableStatusCode(code: Int)
    /// A validator of the caller's failed with its own error.
    case customValidationFailed(error: any Error)
  }

  /// Why a response could not be serialized.
  public enum ResponseSerializationFailureReason: Sendable {
    /// There was no data, where an empty body is not allowed.
    case inputDataNilOrZeroLength
    /// There was no file to read the body from.
    case inputFileNil
    /// The file that the body was written to can't be read.
    case inputFileReadFailed(at: URL)
    /// The data is not text in that encoding.
    case stringSerializationFailed(encoding: String.Encoding)
    /// The data is not JSON.
    case jsonSerializationFailed(error: any Error)
    /// The data does not decode into the wanted type.
    case decodingFailed(error: any Error)
    /// A serializer of the caller's failed with its own error.
    case customSerializationFailed(error: any Error)
    /// An empty body was allowed, but the wanted type, which is named, has no empty value.
    case invalidEmptyResponse(type: String)
  }

  /// Why a request was refused before it was sent.
  public enum URLRequestValidationFailureReason: Sendable {
    /// A GET request had a body, which is attached.
    case bodyDataInGETRequest(Data)
  }

  /// A ``URLRequestConvertible`` threw.
  case createURLRequestFailed(error: any Error)
  /// What an upload was to send could not be made, such as the encoded form of a ``MultipartFormData``.
  case createUploadableFailed(error: any Error)
  /// A downloaded file could not be moved from where it was received to where the caller wanted it.
  case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
  /// `cancel()` was called.
  case explicitlyCancelled
  /// A ``URLConvertible`` does not make a URL.
  case invalidURL(url: any URLConvertible)
  /// A ``MultipartFormData`` could not be encoded.
  case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
  /// A ``ParameterEncoder`` could not encode the parameters into the request.
  case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
  /// A ``ParameterEncoding`` or a JSON encoder could not encode the parameters into the request.
  case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
  /// An adapter failed to change the request before it was sent.
  case requestAdaptationFailed(error: any Error)
  /// A retrier was asked about a failure, which is attached last, and failed itself.
  case requestRetryFailed(retryError: any Error, originalError: any Error)
  /// The response could not be serialized.
  case responseSerializationFailed(reason: ResponseSerializationFailureReason)
  /// A validator refused the response.
  case responseValidationFailed(reason: ResponseValidationFailureReason)
  /// The server was refused by a ``ServerTrustManager`` or one of its evaluators.
  case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
  /// The session was let go of while the request was under way.
  case sessionDeinitialized
  /// The session was invalidated, with the error that made it so if there was one.
  case sessionInvalidated(error: (any Error)?)
  /// The transfer failed, usually with a `URLError`.
  case sessionTaskFailed(error: any Error)
  /// The request was refused before it was sent.
  case urlRequestValidationFailed(reason: URLRequestValidationFailureReason)
}

extension Error {
  /// This error as an ``AFError``, or nil if it is of another type.
  public var asAFError: AFError? {
    self as? AFError
  }

  /// This error as an ``AFError``; the program stops with the message if it is of another type.
  public func asAFError(
    orFailWith message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
  ) -> AFError {
    guard let error = self as? AFError else {
      fatalError(message(), file: file, line: line)
    }
    return error
  }

  /// This error as an ``AFError``, or the given one if it is of another type.
  func asAFError(or other: @autoclosure () -> AFError) -> AFError {
    self as? AFError ?? other()
  }
}
