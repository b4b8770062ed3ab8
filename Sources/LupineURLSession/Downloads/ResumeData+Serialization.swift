// ResumeData+Serialization: writes and reads resume data as JSON, because Foundation's
// property list parser isn't safe for untrusted input.

import Foundation
import LupineEngine
import LupineTransferStore

extension ResumeData {
  /// The maximum length, in bytes, of serialized resume data: 256 KiB. That is four times the maximum size of a request's head,
  /// because a field may need more bytes in JSON than in HTTP.
  private static let serializedBytesMax = 256 * 1024
  private static let version = 1

  /// The JSON object for resume data. Its keys must not change, so that resume data from earlier versions can be read.
  private struct Record: Codable {
    let version: Int
    let url: String
    let fields: [[String]]
    let timeout: Double?
    let handlesCookies: Bool
    let mainDocument: String?
    let entityTag: String?
    let lastModified: String?
    let path: String
    let received: UInt64
    let total: UInt64?
    /// Missing if the request has no options, and in resume data of earlier versions.
    let options: TransferOptions?
  }

  /// The resume data as JSON, which the caller can store. Nil if the JSON would exceed the maximum length.
  var serialized: Data? {
    let (tag, date): (String?, String?) =
      switch validator {
      case .entityTag(let text): (text, nil)
      case .lastModified(let text): (nil, text)
      }
    let record = Record(
      version: Self.version, url: url.absoluteString, fields: fields.map { [$0.name, $0.value] },
      timeout: timeoutInterval, handlesCookies: handlesCookies, mainDocument: mainDocumentURL?.absoluteString,
      entityTag: tag, lastModified: date, path: path, received: receivedByteCount, total: totalByteCount,
      options: options == TransferOptions() ? nil : options)
    guard let data = try? JSONEncoder().encode(record), data.count <= Self.serializedBytesMax else { return nil }
    return data
  }

  /// Decodes serialized resume data.
  ///
  /// The data is untrusted, so it is validated: neither its path nor a `file:` URL can refer to files other than those that
  /// downloads create.
  ///
  /// - Throws: `URLError.unsupportedURL` if the data isn't valid, as in Foundation.
  init(_ data: Data) throws(URLError) {
    guard data.count <= Self.serializedBytesMax, let record = try? JSONDecoder().decode(Record.self, from: data),
      let resumeData = ResumeData(record)
    else { throw URLError.unreadableResumeData(data.count) }
    self = resumeData
  }

  private init?(_ record: Record) {
    guard record.version == Self.version, let url = URL(string: record.url), url.scheme != nil,
      !LocalContent.serves(url),
      record.fields.allSatisfy({ $0.count == 2 }), record.path.hasPrefix("/"), !record.path.utf8.contains(0),
      record.path.split(separator: "/").last.map(DownloadFileName.matches) == true,
      (1...UInt64(Int64.max)).contains(record.received),
      record.total.map({ (record.received...UInt64(Int64.max)).contains($0) }) ?? true
    else { return nil }
    let validator: Validator? =
      switch (record.entityTag, record.lastModified) {
      case (let text?, nil): Validator(entityTag: text)
      case (nil, let text?): HTTPDate(text, now: 0).map { _ in .lastModified(text) }
      default: nil
      }
    guard let validator else { return nil }
    var fields = Fields()
    for field in record.fields { fields.set(name: field[0], value: field[1]) }
    self.init(
      url: url, fields: fields, timeoutInterval: record.timeout,
      handlesCookies: record.handlesCookies, mainDocumentURL: record.mainDocument.flatMap { URL(string: $0) },
      validator: validator, path: record.path, receivedByteCount: record.received, totalByteCount: record.total,
      options: record.options ?? TransferOptions())
  }
}

extension URLError {
  fileprivate static func unreadableResumeData(_ byteCount: Int) -> URLError {
    let description = """
      The resume data (\(byteCount) bytes) can't be read: it is damaged, or wasn't created by this library. \
      Download the file from the start.
      """
    return URLError(.unsupportedURL, description)
  }
}
