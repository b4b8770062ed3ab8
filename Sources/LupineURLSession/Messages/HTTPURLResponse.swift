// HTTPURLResponse: a status code and the header section as received. Strings are created on access, because most callers
// read only the status code.

public import Foundation
package import LupineEngine

// Unchecked since the class is open: all state is constant.
/// An HTTP response without its body.
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  /// The header section as received; names may be repeated.
  package let fields: Fields
  private let storedStatusCode: Int

  /// A response with known header fields, for tests and stand-ins.
  ///
  /// - Parameters:
  ///   - url: where the response came from.
  ///   - statusCode: 0 to 999, as a status line has three digits for it (RFC 9112 §4); nil is returned for others.
  ///   - httpVersion: ignored, since nothing here depends on it.
  ///   - headerFields: the header fields, each name once.
  public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {
    guard (0...999).contains(statusCode) else { return nil }
    fields = Fields(headerFields ?? [:])
    storedStatusCode = statusCode
    super.init(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
  }

  /// Creates a response with a received header section.
  init(url: URL, statusCode: Int, fields: Fields) {
    self.fields = fields
    storedStatusCode = statusCode
    super.init(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
  }

  /// The status code (RFC 9110 §15).
  open var statusCode: Int {
    storedStatusCode
  }

  /// The header fields by name; the dictionary is created on each access.
  ///
  /// A name stands as it came, and one that came in small letters as programs look for it: `content-type` as
  /// `Content-Type`, but `x-id` as it is. The values of a name that came several times are joined with ", " under its
  /// first spelling.
  open var allHeaderFields: [AnyHashable: Any] {
    Dictionary(joinedFields.map { ($0.name.usualSpelling, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// The value of the field of that name, in any case; several are joined with ", " (RFC 9110 §5.3).
  open func value(forHTTPHeaderField field: String) -> String? {
    fields.list(field)
  }

  /// The members of the field's list (RFC 9110 §5.6.1), in lower case and without blanks around them.
  func members(of field: String) -> [String] {
    (value(forHTTPHeaderField: field) ?? "").split(separator: ",").map { $0.trimmingBlanks.lowercased() }
  }

  /// The header fields in the order in which they came; the values of a repeated name are joined with ", ".
  package var joinedFields: [(name: String, value: String)] {
    // Positions by name, since a peer decides how many fields there are.
    var positions: [String: Int] = [:]
    var joined: [(name: String, value: String)] = []
    for header in fields {
      let position = positions[header.name.lowercased(), default: joined.count]
      if position < joined.count {
        joined[position].value.append(", \(header.value)")
      } else {
        positions[header.name.lowercased()] = position
        joined.append((header.name, header.value))
      }
    }
    return joined
  }

  /// The status code and the URL, and the header fields, each on its own line.
  open override var description: String {
    (["\(type(of: self)): \(statusCode) \(ReadableText.url(url))"] + ReadableText.fields(joinedFields))
      .joined(separator: "\n")
  }

  /// The media type of `Content-Type` (RFC 9110 §8.3.1) in small letters, or nil if there is none.
  open override var mimeType: String? {
    contentType.flatMap { $0.item.isEmpty ? nil : $0.item }
  }

  /// The charset of `Content-Type` (RFC 9110 §8.3.2) in small letters, or nil if there is none.
  open override var textEncodingName: String? {
    contentType?.parameter("charset").flatMap { $0.isEmpty ? nil : $0.lowercased() }
  }

  /// `Content-Length`, or -1 if there is none, or if it is not the length of what is handed over since a coding is
  /// taken off the content first.
  open override var expectedContentLength: Int64 {
    guard !isContentDecoded, isIdentity("Transfer-Encoding"),
      let length = value(forHTTPHeaderField: "Content-Length"),
      // Content-Length = 1*DIGIT (RFC 9110 §8.6): no sign, which Int64 would take.
      length.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return -1 }
    return Int64(length) ?? -1
  }

  /// The name that `Content-Disposition` gives (RFC 6266 §4.3, `filename*` first), else the URL's last path
  /// component, else `unknown`; always a single harmless path component.
  open override var suggestedFilename: String? {
    let disposition = last("Content-Disposition").map(ParameterizedValue.init)
    let named = [disposition?.extendedParameter("filename"), disposition?.parameter("filename")].lazy
      .compactMap { $0.flatMap(FileName.init(suggested:)) }
      .first
    return named?.string ?? super.suggestedFilename
  }

  private var contentType: ParameterizedValue? {
    last("Content-Type").map(ParameterizedValue.init)
  }

  private func isIdentity(_ field: String) -> Bool {
    value(forHTTPHeaderField: field).map { $0.lowercased() == "identity" } ?? true
  }

  /// The last of several fields that may come only once, which is what other clients go by.
  private func last(_ field: String) -> String? {
    fields.all(field).last
  }
}

extension String {
  /// A field's name with capitals, unless it has some, or begins with "x-".
  fileprivate var usualSpelling: String {
    guard self == lowercased(), !hasPrefix("x-") else { return self }
    return split(separator: "-", omittingEmptySubsequences: false).map { $0.prefix(1).uppercased() + $0.dropFirst() }
      .joined(separator: "-")
  }
}
