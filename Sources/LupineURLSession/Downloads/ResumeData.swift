// What it takes to go on with a download: the request, how to tell that the resource is still the same, and the file.

import Foundation
import LupineEngine

/// A download that was stopped, as its caller keeps it: in memory or on disk, over restarts of the program.
///
/// It holds the fields that the request was made with, `Authorization` and `Cookie` included, as the download can't be
/// gone on with otherwise; whoever stores it stores them. What the session adds, cookies among it, isn't in it.
struct ResumeData: Sendable, Equatable {
  /// The URL that was asked for first. Redirects are followed anew: what they lead to may have changed or expired, and
  /// the request's credentials belong to this origin alone.
  let url: URL
  /// The request's own fields, without those that ask for a range.
  let fields: Fields
  /// Seconds to wait for the peer, if the request said so.
  let timeoutInterval: TimeInterval?
  let handlesCookies: Bool
  let mainDocumentURL: URL?

  /// What the server has to confirm, so that old and new bytes are of one representation.
  let validator: Validator
  /// The file with what was received.
  let path: String
  /// How many bytes of it are received, at least 1.
  let receivedByteCount: UInt64
  /// How many bytes there are in all; nil if that isn't known.
  let totalByteCount: UInt64?

  /// Something that differs whenever a byte does (RFC 9110 §8.8.1).
  enum Validator: Sendable, Equatable {
    /// A strong entity tag, with its quotation marks.
    case entityTag(String)
    /// A date of Last-Modified, as it came.
    case lastModified(String)

    /// What If-Range says (RFC 9110 §13.1.5).
    var text: String {
      switch self {
      case .entityTag(let text), .lastModified(let text): text
      }
    }
  }

  /// The request for the rest, to be sent without further changes.
  ///
  /// Its answer goes to ``ResumeAnswer``.
  func makeRequest() -> URLRequest {
    var request = makeFreshRequest()
    request.fields.set(name: "Range", value: "bytes=\(receivedByteCount)-")
    request.fields.set(name: "If-Range", value: validator.text)
    // Offsets in a coded body count coded bytes, and the file holds decoded ones.
    request.fields.set(name: "Accept-Encoding", value: "identity")
    return request
  }

  /// The request for everything, as it was sent first.
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
  /// What to go on with after a download was stopped; nil if it can't be gone on with.
  ///
  /// It can if the request was a GET without a body and without a range of its own, the response is a 200 of a server
  /// that serves ranges, or a 206 that goes on with `earlier`, there is a strong validator, something was received, and
  /// no content coding of the body was undone: the file would hold decoded bytes, to which no offset leads.
  ///
  /// - Parameters:
  ///   - request: the task's original request.
  ///   - response: the final response; nil if none came.
  ///   - file: where the body was written to.
  ///   - receivedByteCount: how many bytes the file holds.
  ///   - earlier: the resume data that the task was made with; nil if there was none, or if its file was given up. It
  ///     stays valid as long as no answer touched the file.
  ///   - now: seconds since 1970 when the response came, for one without a Date.
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
      // A 206 needn't repeat Last-Modified; its validator is the one that If-Range named (RFC 9110 §15.3.7).
      (validator, total) = (earlier?.validator, sum)
    default:
      guard response.statusCode == 200, response.servesRanges else { return nil }
      (validator, total) = (Validator(response, now: now), UInt64(exactly: response.expectedContentLength))
    }
    // If all may have come, the last byte is asked for again: nothing at all would be an error to the server (416).
    let mayBeComplete = total.map { $0 <= receivedByteCount } ?? true
    let keptByteCount = mayBeComplete ? receivedByteCount - 1 : receivedByteCount
    guard let validator, keptByteCount > 0 else { return nil }
    var fields = original.fields
    fields.remove("If-Range")
    let resumeData = ResumeData(
      url: url, fields: fields,
      // What isn't finite is no limit, as 0 is, and has no form in JSON.
      timeoutInterval: original.explicitTimeoutInterval.map { $0.isFinite ? $0 : 0 },
      handlesCookies: original.httpShouldHandleCookies,
      mainDocumentURL: original.mainDocumentURL, validator: validator, path: file.path,
      receivedByteCount: keptByteCount, totalByteCount: total)
    // What couldn't be read again, such as fields of a megabyte, isn't offered.
    guard let data = resumeData.serialized, (try? ResumeData(data)) == resumeData else { return nil }
    return resumeData
  }
}

extension ResumeData.Validator {
  /// The response's strong validator (RFC 9110 §8.8); nil if it has none.
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
  /// Nil for a weak tag, and for what isn't one tag.
  init?(entityTag text: String) {
    let bytes = text.utf8
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return nil }
    // Without obs-text, which a string can't hold as it came.
    guard bytes.dropFirst().dropLast().allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) }) else { return nil }
    self = .entityTag(text)
  }

  /// Seconds from Last-Modified to Date, at least. The RFC asks for one (§8.8.2.2): within it the resource may change
  /// again without another date.
  private static let ageSecondsMin: Int64 = 1
  /// The same by our clock, for a response without a Date. Own choice, after RFC 7232 §2.2.2, which asked for so many
  /// so that clocks that differ a little don't matter.
  private static let ageSecondsMinWithoutDate: Int64 = 60

  /// Nil if the resource could have changed twice within that second, or if it isn't a date.
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
  /// Whether the server says that it serves parts in bytes (RFC 9110 §14.3).
  fileprivate var servesRanges: Bool { members(of: "Accept-Ranges").contains("bytes") }
}
