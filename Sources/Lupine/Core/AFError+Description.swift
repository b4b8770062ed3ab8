// The sentences of an AFError: what happened, where, and what to do about it.

public import Foundation

/// An error whose description ends with a remedy; an error that wraps it adds none.
protocol RemedyStating: Error {}

extension AFError: RemedyStating {}
extension AFError.UnexpectedInputStreamLength: RemedyStating {}
extension AuthenticationError: RemedyStating {}
extension DeflateRequestCompressor.DuplicateHeaderError: RemedyStating {}
extension JSONEncoding.Error: RemedyStating {}
extension PropertyListError: RemedyStating {}
extension URLEncodedFormEncoder.Error: RemedyStating {}

extension Error {
  /// Returns `event`, this error as its cause, and `remedy` unless the cause states one.
  func sentence(_ event: String, remedy: String? = nil) -> String {
    let cause = localizedDescription
    // An error that wraps one of the same kind adds nothing.
    if cause.hasPrefix("\(event): ") { return cause }
    let remedy = self is any RemedyStating ? nil : remedy
    return "\(event): \(cause)\(remedy.map { " \($0)" } ?? "")"
  }
}

extension AFError: LocalizedError {
  /// What happened, where, and what to do about it.
  public var errorDescription: String? {
    switch self {
    case .createURLRequestFailed(let error):
      error.sentence("The request could not be made", remedy: "Correct what asURLRequest() builds it from.")
    case .createUploadableFailed(let error):
      error.sentence("What the upload should send could not be made", remedy: "Correct its source.")
    case .downloadedFileMoveFailed(let error, let source, let destination):
      moveDescription(error, source, destination)
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
      error.sentence("The request could not be adapted before it was sent", remedy: "Correct its adapters.")
    case .requestRetryFailed:
      retryDescription
    case .responseSerializationFailed(let reason):
      reason.sentence
    case .responseValidationFailed(let reason):
      reason.sentence
    case .serverTrustEvaluationFailed(let reason):
      reason.sentence
    case .sessionDeinitialized:
      "The session went away while the request was under way. Keep a reference to it until its requests have ended."
    case .sessionInvalidated(let error):
      error?.sentence("The session was invalidated", remedy: "Make a new one.")
        ?? "The session was invalidated. Make a new one."
    case .sessionTaskFailed(let error):
      error.sentence("The transfer failed")
    case .urlRequestValidationFailed(let reason):
      reason.sentence
    }
  }

  private func moveDescription(_ error: any Error, _ source: URL, _ destination: URL) -> String {
    let cause = error.localizedDescription
    // The errors of our own moves name both places.
    if cause.hasPrefix(source.path) { return "The downloaded file \(cause)" }
    return error.sentence(
      "The downloaded file could not be moved from \(source.path) to \(destination.path)",
      remedy: "Check that its directory is there and writable, and that no file is in the way.")
  }

  /// Each failure once: retriers are asked again about what another one has answered, and may answer with what they were
  /// asked about.
  private var retryDescription: String {
    let failures = retryFailures
    let others = failures.dropFirst().reduce(into: [String]()) { others, failure in
      if !failures[0].contains(failure), !others.contains(failure) { others.append(failure) }
    }
    let first = "The request failed: \(failures[0])"
    return others.isEmpty ? first : "\(first) Its retrier failed too: \(others.joined(separator: " "))"
  }

  /// The original failure, then the retriers'.
  private var retryFailures: [String] {
    guard case .requestRetryFailed(let retryError, let originalError) = self else { return [localizedDescription] }
    return [originalError, retryError].flatMap { error in
      error.asAFError?.retryFailures ?? [error.localizedDescription]
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
      error.sentence("The parameters could not be encoded")
    }
  }
}

extension AFError.ParameterEncodingFailureReason {
  fileprivate var sentence: String {
    switch self {
    case .missingURL:
      "The parameters could not be put into the query, for the request has no URL. Set its url first."
    case .jsonEncodingFailed(let error):
      error.sentence("The parameters could not be encoded as JSON")
    case .customEncodingFailed(let error):
      error.sentence("The parameters could not be encoded in the chosen format")
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
      error.sentence("The response's body is not JSON", remedy: "Read it as text to see what the server sent.")
    case .decodingFailed(let error):
      error.sentence("The response's body does not decode", remedy: "Compare it with the type it should become.")
    case .customSerializationFailed(let error):
      error.sentence("The response's serializer failed")
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
      error.sentence("The response's validator failed")
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
