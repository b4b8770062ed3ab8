// URLResponse: the properties of a response in any protocol: its URL, and the type and length of its content.

public import Foundation
import LupineEngine

// Unchecked because the class is open. All state is constant.
/// The head of a response, without the body: its URL, and the type and length of its content.
open class URLResponse: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  private let storedURL: URL?
  private let storedMIMEType: String?
  private let storedContentLength: Int64
  private let storedTextEncodingName: String?

  /// Creates a response head, for example for a test.
  ///
  /// - Parameters:
  ///   - url: The URL from which the response comes.
  ///   - mimeType: The media type without parameters, or nil if it is unknown.
  ///   - length: The length of the content in bytes, or -1 if it is unknown.
  ///   - name: The name of the content's character encoding, or nil if it is unknown.
  public init(url: URL, mimeType: String?, expectedContentLength length: Int, textEncodingName name: String?) {
    storedURL = url
    storedMIMEType = mimeType
    storedContentLength = Int64(length)
    storedTextEncodingName = name
    super.init()
  }

  /// Decodes an archived response.
  public required init?(coder: NSCoder) {
    guard let url = coder.decodeObject(of: NSString.self, forKey: Self.urlKey).flatMap({ URL(string: "\($0)") }) else {
      return nil
    }
    storedURL = url
    storedMIMEType = coder.decodeObject(of: NSString.self, forKey: Self.mimeTypeKey).map { "\($0)" }
    storedContentLength = coder.decodeInt64(forKey: Self.lengthKey)
    storedTextEncodingName = coder.decodeObject(of: NSString.self, forKey: Self.encodingKey).map { "\($0)" }
    super.init()
  }

  /// Encodes the properties of the response.
  open func encode(with coder: NSCoder) {
    coder.encode(storedURL.map { NSString(string: $0.absoluteString) }, forKey: Self.urlKey)
    coder.encode(storedMIMEType.map { NSString(string: $0) }, forKey: Self.mimeTypeKey)
    coder.encode(storedContentLength, forKey: Self.lengthKey)
    coder.encode(storedTextEncodingName.map { NSString(string: $0) }, forKey: Self.encodingKey)
  }

  /// Always true, because `URLResponse` supports secure coding.
  public class var supportsSecureCoding: Bool { true }

  private static let urlKey = "url"
  private static let mimeTypeKey = "mimeType"
  private static let lengthKey = "expectedContentLength"
  private static let encodingKey = "textEncodingName"

  /// Returns this response itself, because responses are immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Returns whether `object` is a response that equals this one in all properties.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? URLResponse, (other is HTTPURLResponse) == (self is HTTPURLResponse) else {
      return false
    }
    return url == other.url && mimeType == other.mimeType && expectedContentLength == other.expectedContentLength
      && textEncodingName == other.textEncodingName
  }

  /// A hash of the response's properties.
  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(url)
    hasher.combine(mimeType)
    hasher.combine(expectedContentLength)
    return hasher.finalize()
  }

  /// The URL from which the response comes. After redirects, this is the last URL.
  open var url: URL? {
    storedURL
  }

  /// The content's media type without parameters, such as `text/html`, or nil if it is unknown. For HTTP responses, it is in
  /// lowercase.
  open var mimeType: String? {
    storedMIMEType
  }

  /// The length of the content in bytes, or -1 if it is unknown.
  open var expectedContentLength: Int64 {
    storedContentLength
  }

  /// The name of the content's character encoding, such as `utf-8`, or nil if it is unknown. For HTTP responses and `data:` URLs,
  /// the name is in lowercase.
  open var textEncodingName: String? {
    storedTextEncodingName
  }

  /// A textual description of the response: the URL, the media type and the length, if known.
  open override var description: String {
    "\(type(of: self)): \(ReadableText.url(url)), \((mimeType ?? "no media type").printable), "
      + ReadableText.bytes(expectedContentLength)
  }

  /// A file name for the content: the name that the server suggests, or else the URL's last path component, or else `Unknown`.
  ///
  /// The file name is always a single path component of at most 255 bytes. It has no invisible characters, such as those that change
  /// the direction of text, and begins neither with a dot or a tilde nor with a drive letter such as `C:`.
  open var suggestedFilename: String? {
    url.flatMap { FileName(suggested: $0.lastPathComponent)?.string } ?? "Unknown"
  }
}
