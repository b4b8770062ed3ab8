// Validation: validates responses by status code and media type (RFC 9110 §15 and §8.3.1).

import Foundation

extension DataRequest {
  /// Accepts only responses with one of the given status codes. Any other status code fails the request with
  /// `.unacceptableStatusCode`.
  @discardableResult
  public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
    validate { _, response, _ in
      ResponseRules.validate(statusCode: response.statusCode, in: acceptableStatusCodes)
    }
  }

  /// Accepts only responses with one of the given media types, written as `type/subtype` with `*` as a wildcard. Any other type
  /// fails the request with `.unacceptableContentType`. A missing type fails the request with `.missingContentType`, unless `*/*`
  /// is acceptable.
  ///
  /// `acceptableContentTypes` is evaluated after the response has arrived. A response without a body is accepted.
  @preconcurrency
  @discardableResult
  public func validate<S: Sequence & Sendable>(
    contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
  ) -> Self where S.Element == String {
    validate { _, response, data in
      ResponseRules.validate(contentType: response.mimeType, of: data, in: Array(acceptableContentTypes()))
    }
  }

  /// Accepts only responses with a status code from 200 to 299. If the request has an Accept field, a response with a body must
  /// also have a media type that the field names. Any other response fails the request with `AFError.responseValidationFailed`.
  ///
  /// Without a validation, a request succeeds with any status code.
  ///
  /// ```swift
  /// AF.request("https://example.org/").validate().responseString { print($0.result) }
  /// ```
  ///
  /// - Returns: The request, for further calls.
  @discardableResult
  public func validate() -> Self {
    validate(statusCode: ResponseRules.successfulStatusCodes).validate { request, response, data in
      ResponseRules.validate(
        contentType: response.mimeType, of: data,
        in: ResponseRules.acceptableContentTypes(accept: request?.value(forHTTPHeaderField: "Accept")))
    }
  }
}

extension DownloadRequest {
  /// Accepts only responses with one of the given status codes. Any other status code fails the request with
  /// `.unacceptableStatusCode`.
  @discardableResult
  public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
    validate { _, response, _ in
      ResponseRules.validate(statusCode: response.statusCode, in: acceptableStatusCodes)
    }
  }

  /// Accepts only responses with one of the given media types, written as `type/subtype` with `*` as a wildcard. Any other type
  /// fails the request with `.unacceptableContentType`. A missing type fails the request with `.missingContentType`, unless `*/*`
  /// is acceptable.
  ///
  /// `acceptableContentTypes` is evaluated after the response has arrived. An empty file is accepted. The request fails with
  /// `.dataFileNil` if there is no file, and with `.dataFileReadFailed` if the file can't be opened.
  @preconcurrency
  @discardableResult
  public func validate<S: Sequence & Sendable>(
    contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
  ) -> Self where S.Element == String {
    validate { _, response, fileURL in
      ResponseRules.validate(contentType: response.mimeType, of: fileURL, in: Array(acceptableContentTypes()))
    }
  }

  /// Accepts only responses with a status code from 200 to 299. If the request has an Accept field, a response with a body must
  /// also have a media type that the field names.
  @discardableResult
  public func validate() -> Self {
    validate(statusCode: ResponseRules.successfulStatusCodes).validate { request, response, fileURL in
      ResponseRules.validate(
        contentType: response.mimeType, of: fileURL,
        in: ResponseRules.acceptableContentTypes(accept: request?.value(forHTTPHeaderField: "Accept")))
    }
  }
}

extension DataStreamRequest {
  /// Accepts only responses with one of the given status codes. Any other status code fails the request with
  /// `.unacceptableStatusCode`.
  @discardableResult
  public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
    validate { _, response in
      ResponseRules.validate(statusCode: response.statusCode, in: acceptableStatusCodes)
    }
  }

  /// Accepts only responses with one of the given media types, written as `type/subtype` with `*` as a wildcard. Any other type
  /// fails the request with `.unacceptableContentType`. A missing type fails the request with `.missingContentType`, unless `*/*`
  /// is acceptable.
  ///
  /// `acceptableContentTypes` is evaluated after the end of the body. The body isn't
  /// stored, so the rule also applies to empty bodies.
  @preconcurrency
  @discardableResult
  public func validate<S: Sequence & Sendable>(
    contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
  ) -> Self where S.Element == String {
    validate { _, response in
      ResponseRules.validate(contentType: response.mimeType, in: Array(acceptableContentTypes()))
    }
  }

  /// Accepts only responses with a status code from 200 to 299 and, if the request has an Accept field, a media type that the field
  /// names.
  @discardableResult
  public func validate() -> Self {
    validate(statusCode: ResponseRules.successfulStatusCodes).validate { request, response in
      ResponseRules.validate(
        contentType: response.mimeType,
        in: ResponseRules.acceptableContentTypes(accept: request?.value(forHTTPHeaderField: "Accept")))
    }
  }
}
