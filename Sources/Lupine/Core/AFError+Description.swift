// The sentences of an AFError: what happened, where, and what to do about it.

public import Foundation

extension AFError: LocalizedError {
  /// What happened, where, and what to do about it.
  public var errorDescription: String? {
    switch self {
    case .createURLRequestFailed(let error):
      "The request could not be made: \(error.localizedDescription) Correct what asURLRequest() builds it from."
    case .createUploadableFailed(let error):
      "What the upload should send could not be made: \(error.localizedDescription) Correct its source."
    case .downloadedFileMoveFailed(let error, let source, let destination):
      "The downloaded file could not be moved from \(source.path) to \(destination.path): "
        + "\(error.localizedDescription) Check that its directory is there and writable, and that no file is in the way."
    case .explicitlyCancelled:
      "The request was cancelled by a call of cancel(). Make a new request to try again."
    case .invalidURL(let url):
      "\"\(url)\" is not a URL. Spell it with a scheme and a host, such as https://example.org/path."
    case .multipartEncodingFailed(let reason):
      reason.sentence
    case .parameterEncoderFailed(let reason):
      reason.sentence
    case .parameterEncodingFailed(let reason):
      reason.sentence
    case .requestAdaptationFailed(let error):
      "The request could not be adapted before it was sent: \(error.localizedDescription) Correct its adapters."
    case .requestRetryFailed(let retryError, let originalError):
      "The request failed: \(originalError.localizedDescription) "
        + "Its retrier, asked about that, failed too: \(retryError.localizedDescription)"
    case .responseSerializationFailed(let reason):
      reason.sentence
    case .responseValidationFailed(let reason):
      reason.sentence
    case .serverTrustEvaluationFailed(let reason):
      reason.sentence
    case .sessionDeinitialized:
      "The session went away while the request was under way. Keep a reference to it until its requests have ended."
    case .sessionInvalidated(let error):
      "The session was invalidated\(error.map { ": \($0.localizedDescription)" } ?? ".") Make a new one."
    case .sessionTaskFailed(let error):
      "The transfer failed: \(error.localizedDescription)"
    case .urlRequestValidationFailed(let reason):
      reason.sentence
    }
  }
}

extension AFError.ParameterEncoderFailureReason {
  fileprivate var sentence: String {
    switch self {
    case .missingRequiredComponent(.url):
      "The parameters could not be encoded, for the request has no URL. Set its url first."
    case .missingRequiredComponent(.httpMethod(let name)):
      "The parameters could not be encoded, for \"\(name)\" is no method to choose their place by. Set a valid httpMethod."
    case .encoderFailed(let error):
      "The parameters could not be encoded: \(error.localizedDescription)"
    }
  }
}

extension AFError.ParameterEncodingFailureReason {
  fileprivate var sentence: String {
    switch self {
    case .missingURL:
      "The parameters could not be put into the query, for the request has no URL. Set its url first."
    case .jsonEncodingFailed(let error):
      "The parameters could not be encoded as JSON: \(error.localizedDescription)"
    case .customEncodingFailed(let error):
      "The parameters could not be encoded in the chosen format: \(error.localizedDescription)"
    }
  }
}

extension AFError.ResponseSerializationFailureReason {
  fileprivate var sentence: String {
    switch self {
    case .inputDataNilOrZeroLength:
      "The response has no body. Allow its status code or method among the serializer's empty ones if it may be so."
    case .inputFileNil:
      "There is no file with the response's body. Serialize only what was downloaded to the end."
    case .inputFileReadFailed(let url):
      "The response's body was written to \(url.path), which can't be read. Leave it in place until it is serialized."
    case .stringSerializationFailed(let encoding):
      "The response's body is not text in \(encoding). Name its encoding, or read it as data."
    case .jsonSerializationFailed(let error):
      "The response's body is not JSON: \(error.localizedDescription) Read it as text to see what the server sent."
    case .decodingFailed(let error):
      "The response's body does not decode: \(error.localizedDescription) Compare it with the type it should become."
    case .customSerializationFailed(let error):
      "The response's serializer failed: \(error.localizedDescription)"
    case .invalidEmptyResponse(let type):
      "The response has no body, and \(type) has no empty value. Conform it to EmptyResponse, or ask for Empty."
    }
  }
}

extension AFError.ResponseValidationFailureReason {
  fileprivate var sentence: String {
    switch self {
    case .dataFileNil:
      "The download has no file to validate. Validate only what was downloaded to the end."
    case .dataFileReadFailed(let url):
      "The download was written to \(url.path), which can't be read. Leave it in place until it is validated."
    case .missingContentType(let types):
      "The response names no content type, where one of \(types.joined(separator: ", ")) was wanted. "
        + "Accept */* if any will do."
    case .unacceptableContentType(let types, let type):
      "The response's content type is \(type), where one of \(types.joined(separator: ", ")) was wanted. "
        + "Accept it if it is right."
    case .unacceptableStatusCode(401):
      "The response's status code is 401: the server asks for a credential, or refused the one that it received. "
        + "authenticate(username:password:) answers only Basic; debugPrint(response) shows what the server offers."
    case .unacceptableStatusCode(407):
      "The response's status code is 407: the proxy asks for a credential, or refused the one in its URL. "
        + "Only Basic is supported; debugPrint(response) shows what the proxy offers."
    case .unacceptableStatusCode(let code):
      "The response's status code is \(code), which was not wanted. Read the body for the server's reason."
    case .customValidationFailed(let error):
      "The response's validator failed: \(error.localizedDescription)"
    }
  }
}

extension AFError.URLRequestValidationFailureReason {
  fileprivate var sentence: String {
    switch self {
    case .bodyDataInGETRequest(let data):
      "A GET request has a body of \(data.count) bytes, which servers ignore or refuse (RFC 9110 §9.3.1). "
        + "Use another method, or put the data in the query."
    }
  }
}
