// Validation: rejects responses by status code, by media type, or with a closure.

public import Foundation
import Lupine
public import LupineURLSession

extension DataRequest {
  /// A closure that accepts or rejects the response of a data request. It receives the `URLRequest`, the response head and the
  /// body.
  public typealias Validation = (URLRequest?, HTTPURLResponse, Data?) -> ValidationResult

  /// Adds a closure that accepts or rejects the response. It is called after the end of the body, unless an earlier validation has
  /// rejected the response.
  @discardableResult
  public func validate(_ validation: @escaping Validation) -> Self {
    addValidation { [weak self] in
      guard let self, let response else { return .success }
      return validation(request, response, taskDelegate.data)
    }
    return self
  }

  /// Accepts only responses with one of the given status codes.
  @discardableResult
  public func validate<S: Sequence>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
    validate { _, response, _ in Rules.validate(statusCode: response.statusCode, in: acceptableStatusCodes) }
  }

  /// Accepts only responses with one of the given media types, written as `type/subtype` with `*` as a wildcard, and responses
  /// without a body.
  @discardableResult
  public func validate<S: Sequence>(contentType acceptableContentTypes: S) -> Self where S.Element == String {
    validate { _, response, data in
      guard data?.isEmpty == false else { return .success }
      return Rules.validate(contentType: response.mimeType, in: Array(acceptableContentTypes))
    }
  }

  /// Accepts only responses with a status code from 200 to 299. If the request has an Accept field, a response with a body must
  /// also have a media type that the field names.
  @discardableResult
  public func validate() -> Self {
    validate(statusCode: ResponseRules.successfulStatusCodes).validate { request, response, data in
      guard data?.isEmpty == false else { return .success }
      return Rules.validate(contentType: response.mimeType, in: Rules.acceptableTypes(request))
    }
  }
}

extension DownloadRequest {
  /// A closure that accepts or rejects the response of a download. It receives the `URLRequest`, the response head, and the URLs of
  /// the temporary file and of the destination.
  public typealias Validation = (
    _ request: URLRequest?, _ response: HTTPURLResponse, _ temporaryURL: URL?, _ destinationURL: URL?
  ) -> ValidationResult

  /// Adds a closure that accepts or rejects the response. It is called after the downloaded file has been moved, unless an earlier
  /// validation has rejected the response.
  @discardableResult
  public func validate(_ validation: @escaping Validation) -> Self {
    addValidation { [weak self] in
      guard let self, let response else { return .success }
      let files = downloadDelegate.files
      return validation(request, response, files.temporaryURL, files.destinationURL)
    }
    return self
  }

  /// Accepts only responses with one of the given status codes.
  @discardableResult
  public func validate<S: Sequence>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
    validate { _, response, _, _ in Rules.validate(statusCode: response.statusCode, in: acceptableStatusCodes) }
  }

  /// Accepts only responses with one of the given media types, written as `type/subtype` with `*` as a wildcard, and empty files.
  @discardableResult
  public func validate<S: Sequence>(contentType acceptableContentTypes: S) -> Self where S.Element == String {
    validateFile { _, response in
      Rules.validate(contentType: response.mimeType, in: Array(acceptableContentTypes))
    }
  }

  /// Accepts only responses with a status code from 200 to 299. If the request has an Accept field, a response with a body must
  /// also have a media type that the field names.
  @discardableResult
  public func validate() -> Self {
    validate(statusCode: ResponseRules.successfulStatusCodes).validateFile { request, response in
      Rules.validate(contentType: response.mimeType, in: Rules.acceptableTypes(request))
    }
  }

  /// Adds a validation of the downloaded file. Calls `validation` unless the file is empty. An empty file is always accepted.
  private func validateFile(_ validation: @escaping (URLRequest?, HTTPURLResponse) -> ValidationResult) -> Self {
    validate { [weak self] request, response, _, _ in
      guard let file = self?.downloadDelegate.fileURL else {
        return .failure(AFError.responseValidationFailed(reason: .dataFileNil))
      }
      do {
        let isEmpty = try FileHandle(forReadingFrom: file).read(upToCount: 1)?.isEmpty ?? true
        return isEmpty ? .success : validation(request, response)
      } catch {
        return .failure(AFError.responseValidationFailed(reason: .dataFileReadFailed(at: file)))
      }
    }
  }
}

private enum Rules {
  static func validate(statusCode: Int, in acceptable: some Sequence<Int>) -> Request.ValidationResult {
    if acceptable.contains(statusCode) { return .success }
    return .failure(AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: statusCode)))
  }

  /// Validates the media type `contentType`. A malformed media type is treated as missing.
  static func validate(contentType: String?, in acceptable: [String]) -> Request.ValidationResult {
    let ranges = acceptable.compactMap(MediaRange.init)
    guard let contentType, let type = MediaRange(contentType) else {
      if ranges.contains(where: \.isAny) { return .success }
      return .failure(
        AFError.responseValidationFailed(reason: .missingContentType(acceptableContentTypes: acceptable)))
    }
    if ranges.contains(where: { $0.matches(type) }) { return .success }
    return .failure(
      AFError.responseValidationFailed(
        reason: .unacceptableContentType(acceptableContentTypes: acceptable, responseContentType: contentType)))
  }

  static func acceptableTypes(_ request: URLRequest?) -> [String] {
    ResponseRules.acceptableContentTypes(accept: request?.value(forHTTPHeaderField: "Accept"))
  }
}
