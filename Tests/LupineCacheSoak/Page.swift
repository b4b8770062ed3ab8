// Page: the resources of the soak's origin. A body repeats the URL, the variant and the version that it is for.

import Foundation
import LupineEngine
import LupineOrigin

/// A page of the soak's origin server in one language and one version. The server's current version changes every two seconds.
struct Page: Equatable {
  static let count = 60
  static let languages = ["en", "da", "fi"]

  let number: Int
  let language: String
  let version: Int

  static var currentVersion: Int { Int(Date().timeIntervalSince1970 / 2) }

  var entityTag: String { "\"\(language)-\(version)\"" }

  /// The page's body, which repeats the page's number, language and version. Its length is 20 bytes to 180 KB.
  var body: [UInt8] {
    let line = Array("\(number) \(language) \(version)\n".utf8)
    return Array(repeatElement(line, count: 1 + number * number * 3).joined())
  }

  /// Returns the origin server's reply: the current version of the page, or 304 if the request has the current entity tag.
  static func reply(to request: ReceivedRequest) -> Reply {
    guard let number = Int(request.path.dropFirst()), request.method == "GET" else { return Reply(status: 204) }
    let page = Page(
      number: number, language: request.fields.first("Accept-Language") ?? "en", version: currentVersion)
    let fields: Fields = [
      "Cache-Control": number.isMultiple(of: 7) ? "no-cache" : "max-age=1", "Vary": "Accept-Language",
      "ETag": page.entityTag,
    ]
    let isCurrent = (request.fields.first("If-None-Match") ?? "").contains(page.entityTag)
    return isCurrent ? Reply(status: 304, fields: fields) : Reply(fields: fields, .bytes(page.body))
  }
}
