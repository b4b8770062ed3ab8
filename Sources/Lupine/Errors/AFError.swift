// `AFError`: the error of every response, and the reasons of its cases.

public import Foundation

// Indirect, because requests and responses contain optional errors, which are nearly always nil. An indirect error takes one word.
/// The error with which a request fails, at any step from creating the request to serializing its response.
public indirect enum AFError: Error, Sendable {
  /// The reason why a parameter encoder failed.
  public enum ParameterEncoderFailureReason: Sendable {
    /// A part of a request that a parameter encoder requires.
    public enum RequiredComponent: Sendable {
      /// The URL of the request, whose query receives the parameters.
      case url
      /// An HTTP method that the encoder knows. `rawValue` is the request's method.
      case httpMethod(rawValue: String)
    }

    /// The request lacks a component that the parameter encoder requires.
    case missingRequiredComponent(RequiredComponent)
    /// The encoder that a ``ParameterEncoder`` uses, such as a `URLEncodedFormEncoder`, threw `error`.
    case encoderFailed(error: any Error)
  }

  /// The reason why parameters could not be encoded.
  public enum ParameterEncodingFailureReason: Sendable {
    /// The request has no URL to whose query the parameters can be added.
    case missingURL
    /// The parameters can't be represented as JSON.
    case jsonEncodingFailed(error: any Error)
    /// The parameters can't be represented in a format other than JSON, such as a property list.
    case customEncodingFailed(error: any Error)
  }

  /// The reason why a validation rejected a response.
  public enum ResponseValidationFailureReason: Sendable {
    /// A download has no file whose content type could be validated.
    case dataFileNil
    /// The file of a download can't be read for validation.
    case dataFileReadFailed(at: URL)
    /// The response has no Content-Type, and the acceptable types don't include `*/*`.
    case missingContentType(acceptableContentTypes: [String])
    /// The content type of the response isn't one of the acceptable types.
    case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
    /// The status code of the response isn't one of the acceptable codes.
    case unacceptableStatusCode(code: Int)
    /// A custom validation rejected the response with `error`.
    case customValidationFailed(error: any Error)
  }

  /// The reason why a response could not be serialized.
  public enum ResponseSerializationFailureReason: Sendable {
    /// The response has no body, although the serializer requires one.
    case inputDataNilOrZeroLength
    /// A download has no file to serialize.
    case inputFileNil
    /// The file of a download can't be read for serialization.
    case inputFileReadFailed(at: URL)
    /// The response body isn't valid text in `encoding`.
    case stringSerializationFailed(encoding: String.Encoding)
    /// The response body isn't valid JSON.
    case jsonSerializationFailed(error: any Error)
    /// The response body can't be decoded as the requested type.
    case decodingFailed(error: any Error)
    /// A custom serializer, or another closure that processes the response body, threw `error`.
    case customSerializationFailed(error: any Error)
    /// The response body is empty, which is allowed, but the requested type has no empty value. `type` is the type's name.
    case invalidEmptyResponse(type: String)
  }

  /// The reason why a request was rejected before it was sent.
  public enum URLRequestValidationFailureReason: Sendable {
    /// A GET request has a body, which is the associated value.
    case bodyDataInGETRequest(Data)
  }

  // The order of the cases determines the codes that programs compare: `(error as NSError).code`. They are those of Alamofire.

  /// The body of an upload could not be created, such as the encoded form of a ``MultipartFormData``.
  case createUploadableFailed(error: any Error)
  /// A ``URLRequestConvertible`` failed to create a `URLRequest`.
  case createURLRequestFailed(error: any Error)
  /// A downloaded file could not be moved from its temporary path to its destination.
  case downloadedFileMoveFailed(error: any Error, source: URL, destination: URL)
  /// The request was cancelled by a call of `cancel()`.
  case explicitlyCancelled
  /// A ``URLConvertible`` can't be converted to a URL.
  case invalidURL(url: any URLConvertible)
  /// A ``MultipartFormData`` could not be encoded.
  case multipartEncodingFailed(reason: MultipartEncodingFailureReason)
  /// A ``ParameterEncoding`` failed, or a ``ParameterEncoder`` that writes JSON or a property list.
  case parameterEncodingFailed(reason: ParameterEncodingFailureReason)
  /// A ``ParameterEncoder`` failed.
  case parameterEncoderFailed(reason: ParameterEncoderFailureReason)
  /// A ``RequestAdapter`` failed.
  case requestAdaptationFailed(error: any Error)
  /// A ``RequestRetrier`` failed when it decided about a retry after `originalError`.
  case requestRetryFailed(retryError: any Error, originalError: any Error)
  /// A validation rejected the response.
  case responseValidationFailed(reason: ResponseValidationFailureReason)
  /// The response could not be serialized.
  case responseSerializationFailed(reason: ResponseSerializationFailureReason)
  /// A ``ServerTrustManager`` or one of its evaluators rejected the server.
  case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
  /// The session was released while the request was in flight.
  case sessionDeinitialized
  /// The session was invalidated. `error` is the reason, or nil if there is none.
  case sessionInvalidated(error: (any Error)?)
  /// The request's task failed with `error`, usually a `URLError`.
  case sessionTaskFailed(error: any Error)
  /// The request was rejected before it was sent, such as a GET request with a body.
  case urlRequestValidationFailed(reason: URLRequestValidationFailureReason)
}

extension AFError {
  /// The domain of this error as an `NSError`: `Alamofire.AFError`, whatever the module's name is.
  public var _domain: String { "Alamofire.AFError" }
}

extension Error {
  /// This error as an ``AFError``, or nil if it is of another type.
  public var asAFError: AFError? {
    self as? AFError
  }

  /// Returns this error as an ``AFError``. Stops the program with the message if the error is of another type.
  public func asAFError(
    orFailWith message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
  ) -> AFError {
    guard let error = self as? AFError else {
      fatalError(message(), file: file, line: line)
    }
    return error
  }

  func asAFError(or other: @autoclosure () -> AFError) -> AFError {
    self as? AFError ?? other()
  }

  /// The failure of a response serializer that threw this error.
  var asSerializationFailure: AFError {
    asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: self)))
  }
}
