// ResumeAnswer: interprets the response to the request that resumes a download (RFC 9110 §13.1.5, §14).

import Foundation
import LupineEngine

/// What to do with the partial file and with the response's body, after a server has responded to the request that resumes a
/// download.
enum ResumeAnswer: Sendable, Equatable {
  /// Append the body, which is the rest of the resource, to the partial file, whose length is `at` bytes. `total` is the length of
  /// the complete file in bytes.
  case append(at: UInt64, total: UInt64)
  /// Empty the partial file, and write the body to it. The body is the entire resource, because the resource has changed or the
  /// server doesn't support ranges.
  case startAfresh
  /// Discard the body, because the partial file is already complete.
  case complete
  /// Remove the partial file, discard the body, and request the entire resource, because the 206 or 416 response doesn't match the
  /// partial file.
  case askAgain
  /// Write the body to another file, and keep the partial file for another attempt. The body isn't part of the resource, for
  /// example because the status code is 503 or 401.
  case unrelated

  /// Returns what to do after the final response to the request from ``ResumeData/makeRequest()``.
  static func interpret(_ response: HTTPURLResponse, to resumeData: ResumeData) -> ResumeAnswer {
    switch response.statusCode {
    case 200: .startAfresh
    case 206: partial(response, resumeData)
    case 416: unsatisfied(response, resumeData)
    default: .unrelated
    }
  }

  private static func partial(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> ResumeAnswer {
    // A response with several parts (multipart/byteranges) has no Content-Range. Several parts weren't requested.
    guard case .bytes(let first, let last, let completeLength) = response.contentRange,
      first == resumeData.receivedByteCount, !response.isContentDecoded, isSame(response, resumeData),
      repeatsTag(response, resumeData)
    else { return .askAgain }
    // A server may send a shorter range than was requested. This can be detected only if the total length is known.
    guard let total = completeLength ?? resumeData.totalByteCount,
      total == resumeData.totalByteCount ?? total, last + 1 == total
    else { return .askAgain }
    let length = response.expectedContentLength
    guard length < 0 || UInt64(length) == last - first + 1 else { return .askAgain }
    return .append(at: first, total: total)
  }

  private static func unsatisfied(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> ResumeAnswer {
    guard case .unsatisfied(resumeData.receivedByteCount) = response.contentRange, isSame(response, resumeData),
      resumeData.totalByteCount.map({ $0 == resumeData.receivedByteCount }) ?? true
    else { return .askAgain }
    return .complete
  }

  /// Returns whether a 206 response has the ETag field that is required. The field isn't required if the request's If-Range
  /// contained a date.
  ///
  /// A 206 must have the ETag that a 200 would have, but not the Last-Modified (RFC 9110 §15.3.7). Without the ETag, the response
  /// might come from a server that supports ranges but not If-Range, and contain the rest of another representation.
  private static func repeatsTag(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> Bool {
    guard case .entityTag = resumeData.validator else { return true }
    return response.fields.contains("ETag")
  }

  /// Returns false if the response's validator (ETag or Last-Modified) differs from the one in the request's If-Range. Returns true
  /// if it is equal or missing.
  private static func isSame(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> Bool {
    switch resumeData.validator {
    case .entityTag(let tag):
      return response.value(forHTTPHeaderField: "ETag").map { $0 == tag } ?? true
    case .lastModified(let text):
      guard let other = response.value(forHTTPHeaderField: "Last-Modified") else { return true }
      // The values are compared as dates, because HTTP has three date formats. Any time will do as `now`, because only equality
      // matters.
      return other == text || HTTPDate(other, now: 0).map { $0 == HTTPDate(text, now: 0) } ?? false
    }
  }
}

extension HTTPURLResponse {
  /// The range of the representation that the body contains, from the Content-Range field. Nil if the field is missing or
  /// malformed.
  fileprivate var contentRange: ContentRange? {
    value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init)
  }
}
