// AFError+Description: the descriptions of `AFError`, which state what happened, where, and how to correct it.

public import Foundation
import LupineURLSession

/// An error whose description ends with a remedy. An error that wraps it doesn't add another remedy to its own description.
protocol RemedyStating: Error {}

extension AFError: RemedyStating {}
extension AFError.ForbiddenPartHeader: RemedyStating {}
extension AFError.UnexpectedInputStreamLength: RemedyStating {}
extension AuthenticationError: RemedyStating {}
extension DeflateRequestCompressor.DuplicateHeaderError: RemedyStating {}
extension JSONEncoding.Error: RemedyStating {}
extension PropertyListError: RemedyStating {}
extension URLEncodedFormEncoder.Error: RemedyStating {}

extension Error {
  /// Returns the sentence "`event`: cause", followed by `remedy`. The cause is this error's description. Omits `remedy` if the
  /// cause already ends with a remedy.
  func sentence(_ event: String, remedy: String? = nil) -> String {
    let cause = ReadableText.error(self)
    // If the cause begins with the same event, the event isn't repeated.
    if cause.hasPrefix("\(event): ") { return cause }
    let remedy = self is any RemedyStating ? nil : remedy
    return "\(event): \(cause)\(remedy.map { " \($0)" } ?? "")"
  }
}

extension AFError: LocalizedError {
  /// Describes what failed, where, and how to correct it, in English.
  public var errorDescription: String? {
    switch self {
    case .createURLRequestFailed(let error):
      error.sentence(
        "The URL request could not be created",
        remedy: "Check the values from which asURLRequest() creates the request.")
    case .createUploadableFailed(let error):
      error.sentence(
        "The upload's body could not be created", remedy: "Check the data, file or stream from which it is created.")
    case .downloadedFileMoveFailed(let error, let source, let destination):
      moveDescription(error, source, destination)
    case .explicitlyCancelled:
      "The request was cancelled by cancel(). Create a new request to try again; a download continues from its resumeData, if it "
        + "has any."
    case .invalidURL(let url):
      "\"\(url)\" is not a valid URL. Pass a URL with a scheme and a host, such as https://example.org/path."
    case .multipartEncodingFailed(let reason):
      reason.sentence
    case .parameterEncoderFailed(let reason):
      reason.sentence
    case .parameterEncodingFailed(let reason):
      reason.sentence
    case .requestAdaptationFailed(let error):
      error.sentence("The request could not be adapted", remedy: "Check the adapters of the request and the session.")
    case .requestRetryFailed:
      retryDescription
    case .responseSerializationFailed(let reason):
      reason.sentence
    case .responseValidationFailed(let reason):
      reason.sentence
    case .serverTrustEvaluationFailed(let reason):
      reason.sentence
    case .sessionDeinitialized:
      "The session was released while the request was in flight. Keep a reference to the session until its requests have ended."
    case .sessionInvalidated(let error):
      error?.sentence("The session was invalidated", remedy: "Create a new session.")
        ?? "The session was invalidated. Create a new session."
    case .sessionTaskFailed(let error):
      error.sentence("The transfer failed")
    case .urlRequestValidationFailed(let reason):
      reason.sentence
    }
  }

  private func moveDescription(_ error: any Error, _ source: URL, _ destination: URL) -> String {
    let cause = ReadableText.error(error)
    // `DownloadDestination`'s errors name both paths.
    if cause.hasPrefix(source.path) { return "The downloaded file \(cause)" }
    return error.sentence(
      "The downloaded file could not be moved from \(source.path) to \(destination.path)",
      remedy: "Check that the directory exists and is writable, and that no file is in the way.")
  }

  /// The description of an error of the case `requestRetryFailed`. It describes the original error and the retriers' errors, each
  /// of them only once, even if a retrier returned the original error or the error of an earlier retrier.
  private var retryDescription: String {
    let failures = retryFailures
    let others = failures.dropFirst().reduce(into: [String]()) { others, failure in
      if !failures[0].contains(failure), !others.contains(failure) { others.append(failure) }
    }
    let first = "The request failed: \(failures[0])"
    return others.isEmpty ? first : "\(first) The request's retrier failed too: \(others.joined(separator: " "))"
  }

  /// The descriptions of the original error and of the retriers' errors, in this order.
  private var retryFailures: [String] {
    guard case .requestRetryFailed(let retryError, let originalError) = self else { return [localizedDescription] }
    return [originalError, retryError].flatMap { error in
      error.asAFError?.retryFailures ?? [ReadableText.error(error)]
    }
  }
}

extension AFError: CustomStringConvertible {
  /// The name of the case, and its description as one line, such as `sessionTaskFailed: The transfer failed: …`.
  public var description: String { "\(caseName): \(ReadableText.line(localizedDescription))" }

  private var caseName: String {
    switch self {
    case .explicitlyCancelled: "explicitlyCancelled"
    case .sessionDeinitialized: "sessionDeinitialized"
    // The other cases have associated values, of which the case is the label.
    default: Mirror(reflecting: self).children.first?.label ?? "AFError"
    }
  }
}

extension AFError.ParameterEncoderFailureReason {
  fileprivate var sentence: String {
    switch self {
    case .missingRequiredComponent(.url):
      "The parameters could not be encoded because the request has no URL. Set its url first."
    case .missingRequiredComponent(.httpMethod(let name)):
      "The parameters could not be encoded because \"\(name)\" is not a valid method. Set a valid httpMethod."
    case .encoderFailed(let error):
      error.sentence(
        "The parameters could not be encoded", remedy: "Check the parameters' values and their encode(to:) method.")
    }
  }
}

extension AFError.ParameterEncodingFailureReason {
  fileprivate var sentence: String {
    switch self {
    case .missingURL:
      "The parameters could not be added to the query because the request has no URL. Set its url first."
    case .jsonEncodingFailed(let error):
      error.sentence(
        "The parameters could not be encoded as JSON", remedy: "Check that JSON can represent all values.")
    case .customEncodingFailed(let error):
      error.sentence(
        "The parameters could not be encoded in the chosen format",
        remedy: "Check that the format can represent all values.")
    }
  }
}

extension AFError.ResponseSerializationFailureReason {
  fileprivate var sentence: String {
    switch self {
    case .inputDataNilOrZeroLength:
      "The response has no body. If that is allowed, add the status code to emptyResponseCodes, or the request's method to "
        + "emptyRequestMethods."
    case .inputFileNil:
      "The download has no file to serialize. Serialize only completed downloads."
    case .inputFileReadFailed(let url):
      "The downloaded file \(url.path) can't be read. Keep it in place and readable until it has been serialized."
    case .stringSerializationFailed(let encoding):
      "The response's body is not valid text in \(encoding). Pass the body's actual encoding, or read the body as data."
    case .jsonSerializationFailed(let error):
      error.sentence(
        "The response's body is not valid JSON", remedy: "Read the body as text to see what the server sent.")
    case .decodingFailed(let error):
      error.sentence("The response's body could not be decoded", remedy: "Compare the body with the type to decode.")
    case .customSerializationFailed(let error):
      error.sentence(
        "The response serializer failed",
        remedy: "Check that the response is in the format that the serializer expects.")
    case .invalidEmptyResponse(let type):
      "The response has no body, and \(type) has no empty value. Conform the type to EmptyResponse, or decode Empty."
    }
  }
}

extension AFError.ResponseValidationFailureReason {
  fileprivate var sentence: String {
    switch self {
    case .dataFileNil:
      "The download has no file to validate. Validate only completed downloads."
    case .dataFileReadFailed(let url):
      "The downloaded file \(url.path) can't be read. Keep it in place and readable until it has been validated."
    case .missingContentType(let types):
      "The response has no Content-Type; acceptable types are \(types.joined(separator: ", ")). "
        + "Add */* to the acceptable types to allow responses without a Content-Type."
    case .unacceptableContentType(let types, let type):
      "Unacceptable content type \(ReadableText.line(type)); acceptable types are \(types.joined(separator: ", ")). "
        + "If the response is correct, add its type to the acceptable types."
    case .unacceptableStatusCode(401):
      "Unacceptable status code 401: the server requires a credential, or rejected the one that it received. "
        + "If the request has its own Authorization field, check the token; otherwise, call authenticate(username:password:), "
        + "which supports Basic, Digest, NTLM and Negotiate; debugPrint(response) shows which of them the server offers."
    case .unacceptableStatusCode(407):
      "Unacceptable status code 407: the proxy requires a credential, or rejected the one in its URL. "
        + "Put a valid user name and password into the proxy's URL; Basic, Digest, NTLM and Negotiate are supported, and "
        + "debugPrint(response) shows which of them the proxy offers."
    case .unacceptableStatusCode(let code):
      "Unacceptable status code \(code). The response body may explain it."
    case .customValidationFailed(let error):
      error.sentence(
        "The response's validator failed", remedy: "Compare the response with the conditions of the validator.")
    }
  }
}

extension AFError.URLRequestValidationFailureReason {
  fileprivate var sentence: String {
    switch self {
    case .bodyDataInGETRequest(let data):
      "A GET request has a body of \(data.count) bytes, which servers may ignore or reject (RFC 9110 §9.3.1). "
        + "Use another method, or put the data in the query."
    }
  }
}
