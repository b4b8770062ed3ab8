// ResumeData: the state of a stopped download: its request, a validator of the content, and its file.

import Foundation
import LupineEngine

/// A stopped download, as its caller stores it: in memory, or on disk across restarts of the program.
///
/// It contains the request's fields, including `Authorization` and `Cookie`, because the download can't be resumed without them;
/// keep the stored data secret. Fields added by the session, such as stored cookies, aren't included.
struct ResumeData: Sendable, Equatable {
  /// The URL of the first request. Redirects are followed again, because their targets may have changed or expired, and because
  /// the request's credentials are for this origin only.
  let url: URL
  /// The request's fields, without those for a range.
  let fields: Fields
  /// The request's timeout in seconds; nil if it has none.
  let timeoutInterval: TimeInterval?
  let handlesCookies: Bool
  let mainDocumentURL: URL?

  /// The validator that the server must confirm, so that old and new bytes belong to the same content.
  let validator: Validator
  /// The path of the file with the received bytes.
  let path: String
  /// The number of received bytes; at least 1.
  let receivedByteCount: UInt64
  /// The total number of bytes; nil if it is unknown.
  let totalByteCount: UInt64?

  /// A value that changes with every change of the content (RFC 9110 §8.8.1).
  enum Validator: Sendable, Equatable {
    /// A strong entity tag, with its quotation marks.
    case entityTag(String)
    /// The value of a Last-Modified field, as received.
    case lastModified(String)

    /// The value of the If-Range field (RFC 9110 §13.1.5).
    var text: String {
      switch self {
      case .entityTag(let text), .lastModified(let text): text
      }
    }
  }

  /// Creates the request for the rest. It must be sent without further changes.
  ///
  /// ``ResumeAnswer`` interprets the response.
  func makeRequest() -> URLRequest {
    var request = makeFreshRequest()
    request.fields.set(name: "Range", value: "bytes=\(receivedByteCount)-")
    request.fields.set(name: "If-Range", value: validator.text)
    // Offsets in a coded body count coded bytes, but the file has decoded ones.
    request.fields.set(name: "Accept-Encoding", value: "identity")
    return request
  }

  /// Creates the request for the whole content, as it was sent first.
  func makeFreshRequest() -> URLRequest {
    var request = URLRequest(url: url)
    if let timeoutInterval { request.timeoutInterval = timeoutInterval }
    request.httpShouldHandleCookies = handlesCookies
    request.mainDocumentURL = mainDocumentURL
    request.fields = fields
    return request
  }
}

extension ResumeData {
  /// Returns the data for resuming a stopped download; nil if it can't be resumed.
  ///
  /// A download can be resumed if all of these are true: the request was a GET without a body and without a range; the response
  /// is a 200 of a server that supports ranges, or a 206 that continues `earlier`; there is a strong validator; bytes were
  /// received; and no content coding was decoded, because offsets count coded bytes, but the file has decoded ones.
  ///
  /// - Parameters:
  ///   - request: The task's original request.
  ///   - response: The final response; nil if none arrived.
  ///   - file: The file with the body.
  ///   - receivedByteCount: The size of the file in bytes.
  ///   - earlier: The resume data with which the task was created; nil if there was none, or if its file was removed. It stays
  ///     valid until a response changes the file.
  ///   - now: The time of the response in seconds since 1970, for a response without a Date.
  static func make(
    request: URLRequest, response: HTTPURLResponse?, file: URL, receivedByteCount: UInt64,
    earlier: ResumeData? = nil, now: Int64 = Int64(Date().timeIntervalSince1970)
  ) -> ResumeData? {
    guard let response else { return earlier }
    let answer = earlier.map { ResumeAnswer.judge(response, to: $0) }
    if answer == .unrelated || answer == .complete { return earlier }
    let original = earlier?.makeFreshRequest() ?? request
    guard let url = original.url, original.httpMethod == "GET", original.httpBody == nil,
      !original.fields.contains("Range"), receivedByteCount > 0, !response.isContentDecoded
    else { return nil }
    let validator: Validator?
    let total: UInt64?
    switch answer {
    case .append(_, let sum):
      // A 206 may omit Last-Modified; its validator is the one in If-Range (RFC 9110 §15.3.7).
      (validator, total) = (earlier?.validator, sum)
    default:
      guard response.statusCode == 200, response.servesRanges else { return nil }
      (validator, total) = (Validator(response, now: now), UInt64(exactly: response.expectedContentLength))
    }
    // If all bytes may have been received, requests the last byte again, because a server rejects an empty range (416).
    let mayBeComplete = total.map { $0 <= receivedByteCount } ?? true
    let keptByteCount = mayBeComplete ? receivedByteCount - 1 : receivedByteCount
    guard let validator, keptByteCount > 0 else { return nil }
    var fields = original.fields
    fields.remove("If-Range")
    let resumeData = ResumeData(
      url: url, fields: fields,
      // A timeout that isn't finite means no limit, like 0, and can't be represented in JSON.
      timeoutInterval: original.explicitTimeoutInterval.map { $0.isFinite ? $0 : 0 },
      handlesCookies: original.httpShouldHandleCookies,
      mainDocumentURL: original.mainDocumentURL, validator: validator, path: file.path,
      receivedByteCount: keptByteCount, totalByteCount: total)
    // Omitted if it couldn't be read again, for example because the fields take a megabyte.
    guard let data = resumeData.serialized, (try? ResumeData(data)) == resumeData else { return nil }
    return resumeData
  }
}

extension ResumeData.Validator {
  /// Creates the response's strong validator (RFC 9110 §8.8); nil if it has none.
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
  /// Nil for a weak tag, and for a value that isn't exactly one tag.
  init?(entityTag text: String) {
    let bytes = text.utf8
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return nil }
    // Rejects obs-text, because a string can't hold it unchanged.
    guard bytes.dropFirst().dropLast().allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) }) else { return nil }
    self = .entityTag(text)
  }

  /// The minimum interval from Last-Modified to Date in seconds. RFC 9110 §8.8.2.2 requires one second, within which the content
  /// could change again without another date.
  private static let ageSecondsMin: Int64 = 1
  /// The minimum interval from Last-Modified to the local time in seconds, for a response without a Date. RFC 7232 §2.2.2
  /// requires 60, to allow for clocks that differ.
  private static let ageSecondsMinWithoutDate: Int64 = 60

  /// Nil if the content could have changed twice within that interval, or if `text` isn't a date.
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

extension HTTPURLResponse {
  /// Whether the engine decodes the body's content codings (RFC 9110 §8.4); it does unless one is unknown.
  var isContentDecoded: Bool {
    guard let codings = value(forHTTPHeaderField: "Content-Encoding") else { return false }
    // A response with too many codings fails, so none of its body is kept.
    return (try? ContentCoding.decodable(codings, limits: CodingLimits()).isEmpty) != true
  }

  /// Whether the server supports byte ranges (RFC 9110 §14.3).
  fileprivate var servesRanges: Bool { members(of: "Accept-Ranges").contains("bytes") }
}
