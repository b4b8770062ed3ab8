// URLResponse: the properties of any response, whatever its protocol: its URL, and the type and length of its content.

public import Foundation

// Unchecked because the class is open. All state is constant.
/// A response without its body.
open class URLResponse: NSObject, @unchecked Sendable {
  private let storedURL: URL?
  private let storedMIMEType: String?
  private let storedContentLength: Int64
  private let storedTextEncodingName: String?

  /// Creates a response.
  ///
  /// - Parameters:
  ///   - url: The URL that the response came from.
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

  /// The URL that the response came from, after redirects.
  open var url: URL? {
    storedURL
  }

  /// The media type without parameters, in lowercase over HTTP; nil if it is unknown.
  open var mimeType: String? {
    storedMIMEType
  }

  /// The length of the content in bytes, or -1 if it is unknown.
  open var expectedContentLength: Int64 {
    storedContentLength
  }

  /// The name of the content's character encoding, in lowercase over HTTP and in `data:` URLs; nil if it is unknown.
  open var textEncodingName: String? {
    storedTextEncodingName
  }

  /// The URL, the media type and the length, as far as they are known.
  open override var description: String {
    "\(type(of: self)): \(ReadableText.url(url)), \(mimeType ?? "no media type"), "
      + ReadableText.bytes(expectedContentLength)
  }

  /// A file name for the content: the name that the server suggests; otherwise, the URL's last path component; otherwise,
  /// `unknown`.
  ///
  /// It is a single path component of at most 255 bytes, and never `.` or `..`.
  open var suggestedFilename: String? {
    url.flatMap { FileName(suggested: $0.lastPathComponent)?.string } ?? "unknown"
  }
}
