// ResponseRules: decides whether the status code and the media type of a response are acceptable (RFC 9110 §15 and §8.3.1).

import Foundation

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
    data?.isEmpty == false ? validate(contentType: contentType(), in: acceptable()) : .success(())
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
    return hasBody ? validate(contentType: contentType(), in: acceptable()) : .success(())
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
