// ResumeAnswer: interprets the response to the request that resumes a download (RFC 9110 §13.1.5, §14).

import Foundation
import LupineEngine

/// The effect of a response on the earlier download's file, and the use of the response's body.
enum ResumeAnswer: Sendable, Equatable {
  /// Append the body, which is the rest of the resource, at this offset. `total` is the length of the complete file.
  case append(at: UInt64, total: UInt64)
  /// Empty the file and write the body, which is the entire resource: it has changed, or the server ignores ranges.
  case startAfresh
  /// Discard the body. The file is already complete.
  case complete
  /// Remove the file, discard the body, and send the request again without a range.
  case askAgain
  /// Write the body, such as that of a 503 or a 401, to another file, and keep the earlier file for another attempt.
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
    // A response with several parts (multipart/byteranges), which weren't requested, has no Content-Range.
    guard case .bytes(let first, let last, let completeLength) = response.contentRange,
      first == resumeData.receivedByteCount, !response.isContentDecoded, isSame(response, resumeData),
      repeatsTag(response, resumeData)
    else { return .askAgain }
    // A server may send less than was requested. Without the total length, this can't be detected.
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

  /// Returns whether the response has an ETag field, or none is required because If-Range had no entity tag.
  ///
  /// A 206 must have the ETag that the 200 would have, but not its Last-Modified (RFC 9110 §15.3.7). Without an ETag, a server
  /// that supports ranges but not If-Range might have sent the rest of another representation.
  private static func repeatsTag(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> Bool {
    guard case .entityTag = resumeData.validator else { return true }
    return response.fields.contains("ETag")
  }

  /// Returns whether the response's validator equals the one in the request, or is missing.
  private static func isSame(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> Bool {
    switch resumeData.validator {
    case .entityTag(let tag):
      return response.value(forHTTPHeaderField: "ETag").map { $0 == tag } ?? true
    case .lastModified(let text):
      guard let other = response.value(forHTTPHeaderField: "Last-Modified") else { return true }
      // The values are compared as dates, because HTTP has three formats. Only equality matters, so the clock doesn't (now: 0).
      return other == text || HTTPDate(other, now: 0).map { $0 == HTTPDate(text, now: 0) } ?? false
    }
  }
}

extension HTTPURLResponse {
  /// The range of the representation that the body contains, or nil if the Content-Range field is missing or malformed.
  fileprivate var contentRange: ContentRange? {
    value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init)
  }
}
