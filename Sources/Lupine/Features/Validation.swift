// The rules by which a response is accepted: its status code and its media type (RFC 9110 §15 and §8.3.1).

import Foundation

extension DataRequest {
  /// Accepts only the given status codes; any other one fails the request with `.unacceptableStatusCode`.
  @discardableResult
  public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
    validate { _, response, _ in
      ResponseRules.validate(statusCode: response.statusCode, in: acceptableStatusCodes)
    }
  }

  /// Accepts only the given media types, `type/subtype` with `*` for any; another one fails the request with
  /// `.unacceptableContentType`, and none with `.missingContentType` unless `*/*` is acceptable.
  ///
  /// The types are asked for when the response has come. A response without a body is accepted.
  @preconcurrency
  @discardableResult
  public func validate<S: Sequence & Sendable>(
    contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
  ) -> Self where S.Element == String {
    validate { _, response, data in
      ResponseRules.validate(contentType: response.mimeType, of: data, in: Array(acceptableContentTypes()))
    }
  }

  /// Accepts a status code from 200 to 299 with a media type that the request's Accept header asked for.
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
  /// Accepts only the given status codes; any other one fails the request with `.unacceptableStatusCode`.
  @discardableResult
  public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
    validate { _, response, _ in
      ResponseRules.validate(statusCode: response.statusCode, in: acceptableStatusCodes)
    }
  }

  /// Accepts only the given media types, `type/subtype` with `*` for any; another one fails the request with
  /// `.unacceptableContentType`, and none with `.missingContentType` unless `*/*` is acceptable.
  ///
  /// The types are asked for when the response has come. An empty file is accepted; without a file the request fails with
  /// `.dataFileNil`, and with `.dataFileReadFailed` if the file can't be opened.
  @preconcurrency
  @discardableResult
  public func validate<S: Sequence & Sendable>(
    contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
  ) -> Self where S.Element == String {
    validate { _, response, fileURL in
      ResponseRules.validate(contentType: response.mimeType, of: fileURL, in: Array(acceptableContentTypes()))
    }
  }

  /// Accepts a status code from 200 to 299 with a media type that the request's Accept header asked for.
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
  /// Accepts only the given status codes; any other one fails the request with `.unacceptableStatusCode`.
  @discardableResult
  public func validate<S: Sequence & Sendable>(statusCode acceptableStatusCodes: S) -> Self where S.Element == Int {
    validate { _, response in
      ResponseRules.validate(statusCode: response.statusCode, in: acceptableStatusCodes)
    }
  }

  /// Accepts only the given media types, `type/subtype` with `*` for any; another one fails the request with
  /// `.unacceptableContentType`, and none with `.missingContentType` unless `*/*` is acceptable.
  ///
  /// The types are asked for when the body has ended. Whether there was one isn't known by then, so it doesn't matter.
  @preconcurrency
  @discardableResult
  public func validate<S: Sequence & Sendable>(
    contentType acceptableContentTypes: @escaping @Sendable @autoclosure () -> S
  ) -> Self where S.Element == String {
    validate { _, response in
      ResponseRules.validate(contentType: response.mimeType, in: Array(acceptableContentTypes()))
    }
  }

  /// Accepts a status code from 200 to 299 with a media type that the request's Accept header asked for.
  @discardableResult
  public func validate() -> Self {
    validate(statusCode: ResponseRules.successfulStatusCodes).validate { request, response in
      ResponseRules.validate(
        contentType: response.mimeType,
        in: ResponseRules.acceptableContentTypes(accept: request?.value(forHTTPHeaderField: "Accept")))
    }
  }
}

/// The rules themselves, apart from any request.
enum ResponseRules {
  /// The 2xx class (RFC 9110 §15.3).
  static let successfulStatusCodes = 200..<300

  static func validate(
    statusCode: Int, in acceptable: some Sequence<Int>
  ) -> Result<Void, any Error> {
    if acceptable.contains(statusCode) { return .success(()) }
    return .failure(AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: statusCode)))
  }

  /// Compares the media type of `data` with the acceptable ones. One that can't be read counts as missing.
  ///
  /// Without data neither is asked for: a response's fields are only parsed when somebody wants them.
  static func validate(
    contentType: @autoclosure () -> String?, of data: Data?, in acceptable: @autoclosure () -> [String]
  ) -> Result<Void, any Error> {
    validate(contentType: contentType(), ofBody: data?.isEmpty == false, in: acceptable())
  }

  /// The same for a body that isn't in memory.
  static func validate(
    contentType: @autoclosure () -> String?, ofBody hasBody: Bool, in acceptable: @autoclosure () -> [String]
  ) -> Result<Void, any Error> {
    hasBody ? validate(contentType: contentType(), in: acceptable()) : .success(())
  }

  /// Compares a media type with the acceptable ones. One that can't be read counts as missing.
  static func validate(contentType: String?, in acceptable: [String]) -> Result<Void, any Error> {
    let ranges = acceptable.compactMap(MediaRange.init)
    guard let contentType, let type = MediaRange(contentType) else {
      if ranges.contains(where: \.isAny) { return .success(()) }
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

  /// The same for a body in a file, of which one byte is read.
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

  /// The media types of an Accept field, `*/*` without one.
  static func acceptableContentTypes(accept: String?) -> [String] {
    accept.map { $0.split(separator: ",").map(\.trimmingBlanks) } ?? ["*/*"]
  }
}

/// media-range = ( "*/*" / ( type "/" "*" ) / ( type "/" subtype ) ) parameters (RFC 9110 §12.5.1)
///
/// The parameters are dropped, and type and subtype are in small letters, since their case doesn't matter.
struct MediaRange: Equatable {
  let type: String
  let subtype: String

  /// Reads `text`, or returns `nil` if it has no type and subtype.
  init?(_ text: String) {
    let essence = text.prefix { $0 != ";" }
    let parts = essence.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    type = parts[0].trimmingBlanks.lowercased()
    subtype = parts[1].trimmingBlanks.lowercased()
    if type.isEmpty || subtype.isEmpty { return nil }
  }

  /// Whether this is `*/*`.
  var isAny: Bool { type == "*" && subtype == "*" }

  /// Whether both parts are equal, or a `*` on either side.
  func matches(_ other: MediaRange) -> Bool {
    (type == other.type || type == "*" || other.type == "*")
      && (subtype == other.subtype || subtype == "*" || other.subtype == "*")
  }
}
