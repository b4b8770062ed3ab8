// ResumeData: the data for resuming a download: its request, a validator of the resource, and the path of the partial file.

import Foundation
import LupineEngine
import LupineTransferStore

/// The information needed to resume a stopped download. The caller can store it, even on disk across restarts of the program.
///
/// Resume data contains the request fields that the caller has set, including `Authorization` and `Cookie`, because the download
/// can't be resumed without these fields. Fields that the session adds, such as stored cookies, aren't included.
struct ResumeData: Sendable, Equatable {
  /// The URL of the original request. The resumed download follows redirects again, because the targets of the redirects may have
  /// changed or expired, and because the request's credentials are meant only for this URL's origin.
  let url: URL
  /// The request fields that the caller has set, without Range and If-Range.
  var fields: Fields
  /// The request's timeout in seconds, or nil if the caller has set none.
  let timeoutInterval: TimeInterval?
  let handlesCookies: Bool
  let mainDocumentURL: URL?

  /// The resource's validator, such as its ETag. The server must confirm that the validator is unchanged, so that the bytes in
  /// the partial file and the new bytes belong to the same representation.
  let validator: Validator
  /// The path of the file that contains the part of the body received so far.
  var path: String
  /// The number of bytes of the partial file after which the download continues, at least 1. Further bytes in the file are ignored.
  let receivedByteCount: UInt64
  /// The length of the complete file in bytes, or nil if it is unknown.
  let totalByteCount: UInt64?
  /// The request's options, such as the networks that it may use and its time limits.
  var options = TransferOptions()

  /// A strong validator of a resource, which changes whenever the content changes (RFC 9110 §8.8.1).
  enum Validator: Sendable, Equatable {
    /// A strong entity tag with its quotation marks, such as `"33a64df5"`.
    case entityTag(String)
    /// The value of the Last-Modified field, exactly as received.
    case lastModified(String)

    /// The validator in the form in which it is sent in the If-Range field (RFC 9110 §13.1.5).
    var text: String {
      switch self {
      case .entityTag(let text), .lastModified(let text): text
      }
    }
  }

  /// Returns the request for the rest of the resource. The caller must send it unchanged, and pass the response to
  /// ``ResumeAnswer``.
  func makeRequest() -> URLRequest {
    var request = makeFreshRequest()
    request.fields.set(name: "Range", value: "bytes=\(receivedByteCount)-")
    request.fields.set(name: "If-Range", value: validator.text)
    // With a content coding, the offsets of a range would count encoded bytes, but the file contains decoded bytes.
    request.fields.set(name: "Accept-Encoding", value: "identity")
    return request
  }

  /// Returns the request for the entire resource, which is the original request.
  func makeFreshRequest() -> URLRequest {
    var request = URLRequest(url: url)
    if let timeoutInterval { request.timeoutInterval = timeoutInterval }
    request.httpShouldHandleCookies = handlesCookies
    request.mainDocumentURL = mainDocumentURL
    request.fields = fields
    options.apply(to: &request)
    return request
  }
}

extension ResumeData {
  /// Creates the resume data of a stopped download. Returns nil if the download can't be resumed.
  ///
  /// A download can be resumed if all of the following is true. The request was a GET without a body and without a Range field. The
  /// response is a 200 from a server that supports ranges, or a 206 that continues `earlier`. The response has a strong validator.
  /// At least one byte was received. The body had no content coding that was decoded, because offsets in an encoded body don't
  /// match offsets in the file.
  ///
  /// - Parameters:
  ///   - request: The task's original request.
  ///   - response: The final response, or nil if none was received.
  ///   - file: The URL of the file to which the body was written.
  ///   - receivedByteCount: The number of bytes in the file.
  ///   - earlier: The resume data with which the task was created. Nil if the task was created without resume data, or if the
  ///     partial file was removed. This resume data remains valid until a response changes the file.
  ///   - now: The current time in seconds since 1970, which is used if the response has no Date field.
  static func make(
    request: URLRequest, response: HTTPURLResponse?, file: URL, receivedByteCount: UInt64,
    earlier: ResumeData? = nil, now: Int64 = Int64(Date().timeIntervalSince1970)
  ) -> ResumeData? {
    guard let response else { return earlier }
    let answer = earlier.map { ResumeAnswer.interpret(response, to: $0) }
    if answer == .unrelated || answer == .complete { return earlier }
    let original = earlier?.makeFreshRequest() ?? request
    guard let url = original.url, original.httpMethod == "GET", original.httpBody == nil,
      !original.fields.contains("Range"), receivedByteCount > 0, !response.isContentDecoded,
      // Without its proxy, TLS settings and addresses, the request would be sent to another server or in another way.
      original.lupine.isRecordable
    else { return nil }
    let validator: Validator?
    let total: UInt64?
    switch answer {
    case .append(_, let sum):
      // A 206 may omit Last-Modified. In this case, its validator is the one in the request's If-Range (RFC 9110 §15.3.7).
      (validator, total) = (earlier?.validator, sum)
    default:
      guard response.statusCode == 200, response.members(of: "Accept-Ranges").contains("bytes") else { return nil }
      (validator, total) = (Validator(response, now: now), UInt64(exactly: response.expectedContentLength))
    }
    // If the file may already be complete, its last byte is requested again. Otherwise the range would be empty, and the server
    // would respond with a 416.
    let mayBeComplete = total.map { $0 <= receivedByteCount } ?? true
    let keptByteCount = mayBeComplete ? receivedByteCount - 1 : receivedByteCount
    guard let validator, keptByteCount > 0 else { return nil }
    var fields = original.fields
    fields.remove("If-Range")
    let resumeData = ResumeData(
      url: url, fields: fields,
      // JSON can't represent a timeout that isn't finite. It is written as 0, which also means no limit.
      timeoutInterval: original.explicitTimeoutInterval.map { $0.isFinite ? $0 : 0 },
      handlesCookies: original.httpShouldHandleCookies,
      mainDocumentURL: original.mainDocumentURL, validator: validator, path: file.path,
      receivedByteCount: keptByteCount, totalByteCount: total,
      options: original.options.map { TransferOptions($0) } ?? TransferOptions())
    // Returns nil if the serialized resume data couldn't be decoded again, for example because it has a megabyte of fields.
    guard let data = resumeData.serialized, (try? ResumeData(data)) == resumeData else { return nil }
    return resumeData
  }
}

extension ResumeData.Validator {
  /// Creates a strong validator from a response's ETag field or, if it has none, from its Last-Modified field (RFC 9110 §8.8).
  /// Returns nil if the field isn't a strong validator.
  init?(_ response: HTTPURLResponse, now: Int64) {
    if let text = response.value(forHTTPHeaderField: "ETag") {
      // A client that has an entity tag must not send a date instead, even if the tag is weak (RFC 9110 §13.1.5).
      self.init(entityTag: text)
    } else if let text = response.value(forHTTPHeaderField: "Last-Modified") {
      self.init(lastModified: text, date: response.value(forHTTPHeaderField: "Date"), now: now)
    } else {
      return nil
    }
  }

  // entity-tag = [ weak ] opaque-tag; opaque-tag = DQUOTE *etagc DQUOTE; etagc = %x21 / %x23-7E / obs-text (§8.8.3)
  /// Creates a validator from the value of an ETag field. Returns nil if the entity tag is weak or malformed.
  init?(entityTag text: String) {
    let bytes = text.utf8
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return nil }
    // obs-text isn't accepted, because a string can't represent it unchanged.
    guard bytes.dropFirst().dropLast().allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) }) else { return nil }
    self = .entityTag(text)
  }

  /// The minimum time, in seconds, between Last-Modified and Date for Last-Modified to be a strong validator: 1 (RFC 9110
  /// §8.8.2.2). Within the same second, the resource may change again without getting a new date.
  private static let ageSecondsMin: Int64 = 1
  /// The minimum time, in seconds, between Last-Modified and the local time, which takes the place of a missing Date: 60, the value
  /// of RFC 7232 §2.2.2, which allows for slightly different clocks.
  private static let ageSecondsMinWithoutDate: Int64 = 60

  /// Creates a validator from the value of a Last-Modified field. Returns nil if the value isn't a date, or if that date is so
  /// recent that the resource could change again without getting another date. `date` is the value of the response's Date field.
  init?(lastModified text: String, date: String?, now: Int64) {
    guard let modified = HTTPDate(text, now: now)?.secondsSince1970 else { return nil }
    if let date = date.flatMap({ HTTPDate($0, now: now) })?.secondsSince1970 {
      guard date - modified >= Self.ageSecondsMin else { return nil }
    } else {
      guard now - modified >= Self.ageSecondsMinWithoutDate else { return nil }
    }
    self = .lastModified(text)
  }
}
