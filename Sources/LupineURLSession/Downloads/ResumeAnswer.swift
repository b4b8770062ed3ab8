// What a server's answer means for a download that is gone on with (RFC 9110 §13.1.5, §14).

import Foundation
import LupineEngine

/// What to do with the file, and with the body that comes.
enum ResumeAnswer: Sendable, Equatable {
  /// The body is what is missing: it goes behind the bytes that are there, `total` being the sum.
  case append(at: UInt64, total: UInt64)
  /// The body is the whole representation, as it has changed or the server ignores ranges: drop what is there.
  case startAfresh
  /// There is nothing to come; the file is complete, and the body is none of it.
  case complete
  /// The body is of no use, and neither is the file: ask again without a range.
  case askAgain
  /// The body is an answer of its own, such as that of a 503 or a 401. It goes to another file, and what is there stays
  /// for another attempt.
  case unrelated

  /// Judges the head of the final response to ``ResumeData/makeRequest()``.
  static func judge(_ response: HTTPURLResponse, to resumeData: ResumeData) -> ResumeAnswer {
    switch response.statusCode {
    case 200: .startAfresh
    case 206: partial(response, resumeData)
    case 416: unsatisfied(response, resumeData)
    default: .unrelated
    }
  }

  private static func partial(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> ResumeAnswer {
    // Several parts (multipart/byteranges) come without Content-Range, and weren't asked for.
    guard case .bytes(let first, let last, let completeLength) = response.contentRange,
      first == resumeData.receivedByteCount, !response.isContentDecoded, isSame(response, resumeData),
      repeatsTag(response, resumeData)
    else { return .askAgain }
    // A server may send less than was asked for. Without a total that can't be told from the end.
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

  /// Whether the response repeats the entity tag that was asked for, if one was: a 206 has to have those fields of a 200's
  /// that say which representation it is, ETag among them and Last-Modified not (RFC 9110 §15.3.7). Without it, a server
  /// that knows ranges and not If-Range may send the rest of another representation.
  private static func repeatsTag(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> Bool {
    guard case .entityTag = resumeData.validator else { return true }
    return response.fields.contains("ETag")
  }

  /// Whether the response has no other validator than the one that was asked for.
  private static func isSame(_ response: HTTPURLResponse, _ resumeData: ResumeData) -> Bool {
    switch resumeData.validator {
    case .entityTag(let tag):
      return response.value(forHTTPHeaderField: "ETag").map { $0 == tag } ?? true
    case .lastModified(let text):
      guard let other = response.value(forHTTPHeaderField: "Last-Modified") else { return true }
      // As dates, for there are three ways to write one; which century a year is in doesn't matter here.
      return other == text || HTTPDate(other, now: 0).map { $0 == HTTPDate(text, now: 0) } ?? false
    }
  }
}

extension HTTPURLResponse {
  /// The part of the representation that the body is; nil if none is named, or several are.
  fileprivate var contentRange: ContentRange? {
    value(forHTTPHeaderField: "Content-Range").flatMap(ContentRange.init)
  }
}
