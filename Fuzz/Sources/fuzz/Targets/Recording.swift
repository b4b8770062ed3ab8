// Recorded exchanges: HTTP archives written by other programs, and the removal of credentials from recordings.

import Foundation
@testable import LupineTesting
@testable import LupineURLSession

extension FuzzTarget {
  /// Fuzzes the parser of HTTP archives. The input is an archive in JSON.
  static let archive = FuzzTarget(
    name: "archive",
    summary: "any bytes are refused as a recording, or read as one that is written the same way, and replayed"
  ) { bytes in
    let decoder = JSONDecoder()
    guard let archive = try? decoder.decode(HTTPArchive.self, from: Data(bytes)) else { return }
    _ = Stubs(replaying: archive)
    guard let data = try? archive.jsonData() else { return }
    let again = try? decoder.decode(HTTPArchive.self, from: data)
    hold(again == archive, "\(archive) reads as \(String(describing: again))")
  }

  /// Fuzzes the removal of credentials from recordings. The first line of the input is a media type, and the rest a body. The
  /// entire input is also used as a form and as a URL.
  static let redaction = FuzzTarget(
    name: "redaction",
    summary: "a recorded form, JSON text or URL keeps no value of a secret item, and no user information"
  ) { bytes in
    let redaction = Redaction()
    let text = String(decoding: bytes, as: UTF8.self)
    checkItems(of: redaction.form(text), text, redaction)
    if let url = URLComponents(string: redaction.url(text)) {
      hold(url.user == nil && url.password == nil && url.fragment == nil, "\(url)")
    }
    let lines = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    guard lines.count == 2 else { return }
    let (type, content) = (String(decoding: lines[0], as: UTF8.self).lowercased(), Data(lines[1]))
    let body = redaction.body(content, mediaType: type)
    // Forms have been checked above.
    guard !type.hasPrefix("application/x-www-form-urlencoded") else { return }
    if type.hasPrefix("multipart/"), !content.isEmpty {
      return hold(body == Data(Redaction.replacement.utf8), "\(type) keeps the body")
    }
    // Text and bodies without a media type may be JSON. Otherwise, a body without a media type counts as a form.
    let mayBeJSON = type.contains("json") || type.isEmpty || type.hasPrefix("text/")
    if mayBeJSON, let value = try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed) {
      checkValues(of: value, redaction)
    } else if type.isEmpty, let form = String(data: content, encoding: .utf8) {
      checkItems(of: String(decoding: body, as: UTF8.self), form, redaction)
    } else if !type.contains("json") {
      hold(body == content, "\(type) changes the body")
    }
  }

  private static func checkItems(of form: String, _ original: String, _ redaction: Redaction) {
    let items = (form.split(separator: "&"), original.split(separator: "&"))
    hold(items.0.count == items.1.count, "\(original.debugDescription) becomes \(form.debugDescription)")
    for (item, before) in zip(items.0, items.1) {
      guard let end = item.firstIndex(of: "=") else { continue }
      let name = String(item[..<end])
      if redaction.isSecret(item: name.removingPercentEncoding ?? name) {
        hold(item[end...] == "=\(Redaction.replacement)", "\(item)")
      } else {
        hold(item == before, "\(before) becomes \(item)")
      }
    }
  }

  private static func checkValues(of value: Any, _ redaction: Redaction) {
    if let object = value as? [String: Any] {
      for (name, item) in object {
        if redaction.isSecret(item: name) {
          hold(item as? String == Redaction.replacement, "\(name) has the value \(item)")
        } else {
          checkValues(of: item, redaction)
        }
      }
    } else if let array = value as? [Any] {
      for item in array { checkValues(of: item, redaction) }
    }
  }
}
