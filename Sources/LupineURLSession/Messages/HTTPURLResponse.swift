// HTTPURLResponse: a status code and the header section as received. Strings are created on access, because most callers
// read only the status code.

public import Foundation
package import LupineEngine

// Unchecked because the class is open. All state is constant.
/// The head of an HTTP response: its URL, status code and fields. The object is immutable.
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
  /// The header section as received. A name may occur several times.
  package let fields: Fields
  /// Whether the session decodes the body's content codings, such as gzip, before it delivers the body.
  let isContentDecoded: Bool
  private let storedStatusCode: Int

  /// Creates a response with a status code and fields, for example for a test.
  ///
  /// - Parameters:
  ///   - url: The URL from which the response comes.
  ///   - statusCode: The status code in 0...999, because a status line has three digits (RFC 9112 §4).
  ///   - httpVersion: Ignored.
  ///   - headerFields: The header fields, keyed by name, or nil for none.
  /// - Returns: The response, or nil if the status code isn't in 0...999.
  public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) {
    guard (0...999).contains(statusCode) else { return nil }
    fields = Fields(headerFields ?? [:])
    isContentDecoded = false
    storedStatusCode = statusCode
    super.init(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
  }

  /// Creates a response with a header section that the client has received.
  init(url: URL, statusCode: Int, fields: Fields, isContentDecoded: Bool = false) {
    self.fields = fields
    self.isContentDecoded = isContentDecoded
    storedStatusCode = statusCode
    super.init(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
  }

  /// Decodes an archived response. Returns nil if the archive doesn't contain a valid response.
  public required init?(coder: NSCoder) {
    guard let decoded = Fields(coder, forKey: Self.fieldsKey) else { return nil }
    fields = decoded
    isContentDecoded = coder.decodeBool(forKey: Self.isContentDecodedKey)
    storedStatusCode = coder.decodeInteger(forKey: Self.statusKey)
    guard (0...999).contains(storedStatusCode) else { return nil }
    super.init(coder: coder)
  }

  /// Encodes the URL, the status code and the header fields of the response.
  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(storedStatusCode, forKey: Self.statusKey)
    coder.encode(isContentDecoded, forKey: Self.isContentDecodedKey)
    fields.encode(with: coder, forKey: Self.fieldsKey)
  }

  /// Always true, because `HTTPURLResponse` supports secure coding.
  public override class var supportsSecureCoding: Bool { true }

  private static let statusKey = "statusCode"
  private static let isContentDecodedKey = "isContentDecoded"
  private static let fieldsKey = "fields"

  /// Returns whether `object` is a response that equals this one in all properties.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? HTTPURLResponse, super.isEqual(object) else { return false }
    return statusCode == other.statusCode && fields == other.fields
  }

  /// The status code, such as 200 (RFC 9110 §15).
  open var statusCode: Int {
    storedStatusCode
  }

  /// The header fields as a dictionary from names to values. The dictionary is created on each access; prefer
  /// ``value(forHTTPHeaderField:)``.
  ///
  /// A registered name has its registered spelling, such as `ETag` or `Content-Type`. Any other name that was received in lowercase
  /// is capitalized, unless it begins with `x-`. All other names keep the received spelling. If a name occurs several times, its
  /// values are joined with ", ", under its first spelling.
  open var allHeaderFields: [AnyHashable: Any] {
    Dictionary(joinedFields.map { ($0.name.usualSpelling, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the value of a header field, or nil if the response has no such field.
  ///
  /// - Parameter field: The name of the field. Its case is ignored.
  /// - Returns: The value. If the field occurs several times, the values are joined with ", " (RFC 9110 §5.3).
  open func value(forHTTPHeaderField field: String) -> String? {
    fields.list(field)
  }

  /// Returns the elements of a field whose value is a comma-separated list (RFC 9110 §5.6.1). The elements are in lowercase and
  /// without surrounding whitespace.
  func members(of field: String) -> [String] {
    (value(forHTTPHeaderField: field) ?? "").split(separator: ",").map { $0.trimmingBlanks.lowercased() }
  }

  /// The header fields in the order in which they were received. If a name occurs several times, its values are joined with ", ".
  package var joinedFields: [(name: String, value: String)] {
    // The dictionary finds an earlier field of the same name in constant time. Joining then takes linear time, even if a peer sends
    // many fields.
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

  /// A textual description of the response: the status code and the URL, then each header field on a separate line.
  open override var description: String {
    (["\(type(of: self)): \(statusCode) \(ReadableText.url(url))"] + ReadableText.fields(joinedFields))
      .joined(separator: "\n")
  }

  /// The media type in `Content-Type` (RFC 9110 §8.3.1), in lowercase and without parameters. Nil if the response has none.
  open override var mimeType: String? {
    contentType.flatMap { $0.item.isEmpty ? nil : $0.item }
  }

  /// The charset parameter of `Content-Type` (RFC 9110 §8.3.2), in lowercase. Nil if the response has none.
  open override var textEncodingName: String? {
    contentType?.parameter("charset").flatMap { $0.isEmpty ? nil : $0.lowercased() }
  }

  /// The length in bytes of the body as it is delivered, according to `Content-Length`, or -1 if the length is unknown.
  ///
  /// If the session decodes the body's content coding, the length is unknown, because `Content-Length` counts the bytes before
  /// decoding.
  open override var expectedContentLength: Int64 {
    guard !isContentDecoded, (value(forHTTPHeaderField: "Transfer-Encoding") ?? "identity").lowercased() == "identity",
      let length = value(forHTTPHeaderField: "Content-Length"),
      // Int64 would also accept a sign, but Content-Length = 1*DIGIT (RFC 9110 §8.6).
      length.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return -1 }
    return Int64(length) ?? -1
  }

  /// A file name for the content: the name in `Content-Disposition`, or else the URL's last path component, or else `Unknown`.
  ///
  /// The parameter `filename*` takes precedence over `filename` (RFC 6266 §4.3). The name is always a single path component of at
  /// most 255 bytes. It has no invisible characters, such as those that change the direction of text, and begins neither with a dot
  /// or a tilde nor with a drive letter such as `C:`.
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

  /// Returns the value of the last field line with this name, or nil if there is none. Used for a field that may occur only once,
  /// because other clients also use the last line if such a field occurs several times.
  private func last(_ field: String) -> String? {
    fields.all(field).last
  }
}
