// ResumeAnswer: the meaning of a server's response to a resumed download (RFC 9110 §13.1.5, §14).

import Foundation
import LupineEngine

/// What to do with the file and the body of the response.
enum ResumeAnswer: Sendable, Equatable {
  /// The body is the missing part. Append it to the file; the result has `total` bytes.
  case append(at: UInt64, total: UInt64)
  /// The body is the whole content, because it has changed or the server ignores ranges. Empty the file first.
  case startAfresh
  /// The file is complete already. Ignore the body.
  case complete
  /// The body and the file are unusable. Send the request again without a range.
  case askAgain
  /// The body is another response, such as that of a 503 or a 401. Write it to another file, and keep the earlier one for another
  /// attempt.
  case unrelated

  /// Interprets the head of the final response to ``ResumeData/makeRequest()``.
  static func judge(_ response: HTTPURLResponse, to resumeData: ResumeData) -> ResumeAnswer {
    switch response.statusCode {
    case 200: .startAfresh
    case 206: partial(response, resumeData)
    case 416: unsatisfied(response, resumeData)
    default: .unrelated
    }
  }

  private static func partial(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> ResumeAnswer {
    // A response with several parts (multipart/byteranges) has no Content-Range; the request was for one range.
    guard case .bytes(let first, let last, let completeLength) = response.contentRange,
      first == resumeData.receivedByteCount, !response.isContentDecoded, isSame(response, resumeData),
      repeatsTag(response, resumeData)
    else { return .askAgain }
    // A server may send less than the requested range. This can be detected only if the total is known.
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

  /// Returns whether the response repeats the requested entity tag, if there was one. A 206 response must have the ETag of the
  /// corresponding 200 response, but not its Last-Modified (RFC 9110 §15.3.7). Without this check, a server that supports ranges
  /// but not If-Range could send the rest of other content.
  private static func repeatsTag(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> Bool {
    guard case .entityTag = resumeData.validator else { return true }
    return response.fields.contains("ETag")
  }

  /// Returns whether the response's validator, if it has one, equals the requested one.
  private static func isSame(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> Bool {
    switch resumeData.validator {
    case .entityTag(let tag):
      return response.value(forHTTPHeaderField: "ETag").map { $0 == tag } ?? true
    case .lastModified(let text):
      guard let other = response.value(forHTTPHeaderField: "Last-Modified") else { return true }
      // Compared as dates, because HTTP has three date formats. The century of a two-digit year doesn't matter here.
      return other == text || HTTPDate(other, now: 0).map { $0 == HTTPDate(text, now: 0) } ?? false
    }
  }
}

extension HTTPURLResponse {
  /// The range of the content in the body; nil if there is none, or if there are several.
  fileprivate var contentRange: ContentRange? {
    value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init)
  }
}
