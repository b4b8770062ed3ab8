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

/// The rules for validating status codes and media types, shared by all types of requests.
package enum ResponseRules {
  /// The status codes of successful responses, the class 2xx (RFC 9110 §15.3).
  package static let successfulStatusCodes = 200..<300

  static func validate(
    statusCode: Int, in acceptable: some Sequence<Int>
  ) -> Result<Void, any Error> {
    if acceptable.contains(statusCode) { return .success(()) }
    return .failure(AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: statusCode)))
  }

  /// Validates the media type of the response body `data`. A malformed media type counts as missing.
  ///
  /// If `data` is nil or empty, succeeds without evaluating the other arguments, which would parse the response's header fields.
  static func validate(
    contentType: @autoclosure () -> String?, of data: Data?, in acceptable: @autoclosure () -> [String]
  ) -> Result<Void, any Error> {
    validate(contentType: contentType(), ofBody: data?.isEmpty == false, in: acceptable())
  }

  /// Validates the media type of a response body. If `hasBody` is false, succeeds without evaluating the other arguments.
  static func validate(
    contentType: @autoclosure () -> String?, ofBody hasBody: Bool, in acceptable: @autoclosure () -> [String]
  ) -> Result<Void, any Error> {
    hasBody ? validate(contentType: contentType(), in: acceptable()) : .success(())
  }

  /// Validates a media type. A malformed media type counts as missing. If all types are acceptable, `contentType` isn't evaluated.
  static func validate(
    contentType: @autoclosure () -> String?, in acceptable: [String]
  ) -> Result<Void, any Error> {
    // The usual form of a range of all types, which needn't be parsed.
    if acceptable.contains("*/*") { return .success(()) }
    let ranges = acceptable.compactMap(MediaRange.init)
    if ranges.contains(where: \.isAny) { return .success(()) }
    guard let contentType = contentType(), let type = MediaRange(contentType) else {
      return .failure(
        AFError.responseValidationFailed(
          reason: .missingContentType(acceptableContentTypes: acceptable.sorted())))
    }
    if ranges.contains(where: { $0.matches(type) }) { return .success(()) }
    return .failure(
      AFError.responseValidationFailed(
        reason: .unacceptableContentType(
          acceptableContentTypes: acceptable.sorted(), responseContentType: contentType)))
  }

  /// Validates the media type of a response body that was downloaded to a file. Reads one byte of the file to find out whether it
  /// is empty.
  static func validate(
    contentType: @autoclosure () -> String?, of fileURL: URL?, in acceptable: @autoclosure () -> [String]
  ) -> Result<Void, any Error> {
    guard let fileURL else { return .failure(AFError.responseValidationFailed(reason: .dataFileNil)) }
    let hasBody: Bool
    do {
      hasBody = try FileHandle(forReadingFrom: fileURL).read(upToCount: 1)?.isEmpty == false
    } catch {
      return .failure(AFError.responseValidationFailed(reason: .dataFileReadFailed(at: fileURL)))
    }
    return validate(contentType: contentType(), ofBody: hasBody, in: acceptable())
  }

  /// Returns the media types that an Accept field names, or `*/*` if `accept` is nil.
  package static func acceptableContentTypes(accept: String?) -> [String] {
    accept.map { $0.split(separator: ",").map(\.trimmingBlanks) } ?? ["*/*"]
  }
}

/// A media type, or a range of media types with wildcards.
///
/// media-range = ( "*/*" / ( type "/" "*" ) / ( type "/" subtype ) ) parameters (RFC 9110 §12.5.1)
///
/// Parameters aren't stored. Type and subtype are in lowercase, because they are case-insensitive.
package struct MediaRange: Equatable {
  package let type: String
  package let subtype: String

  /// Parses a media type or a range of media types. Returns nil if `text` has no type or no subtype.
  package init?(_ text: String) {
    let essence = text.utf8.prefix { $0 != UInt8(ascii: ";") }
    guard let slash = essence.firstIndex(of: UInt8(ascii: "/")) else { return nil }
    let rest = essence[slash...].dropFirst()
    guard !rest.contains(UInt8(ascii: "/")) else { return nil }
    type = Substring(essence[..<slash]).trimmingBlanks.lowercased()
    subtype = Substring(rest).trimmingBlanks.lowercased()
    if type.isEmpty || subtype.isEmpty { return nil }
  }

  /// Whether this is the range `*/*`, which every media type matches.
  package var isAny: Bool { type == "*" && subtype == "*" }

  /// Returns whether this range and `other` have the same type and subtype. `*` on either side equals everything.
  package func matches(_ other: MediaRange) -> Bool {
    (type == other.type || type == "*" || other.type == "*")
      && (subtype == other.subtype || subtype == "*" || other.subtype == "*")
  }
}
