// `HTTPHeader`: one header field (RFC 9110 §5), with constructors for common request fields.

import Foundation
import LupineURLSession

/// A header field: a name and a value. ``HTTPHeaders`` compares names without regard to ASCII case.
public struct HTTPHeader: Hashable, Sendable {
  /// The field's name, which is sent with this spelling.
  public let name: String

  /// The field's value, which is sent unchanged.
  public let value: String

  /// Creates a header field.
  ///
  /// - Parameters:
  ///   - name: A token (RFC 9110 §5.1).
  ///   - value: The field's value, without line breaks (RFC 9110 §5.5).
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

extension HTTPHeader: CustomStringConvertible {
  /// The header field as `name: value`. Characters that could control a terminal are escaped.
  public var description: String { ReadableText.line("\(name): \(value)") }
}

extension HTTPHeader {
  /// An `Accept` field (RFC 9110 §12.5.1).
  public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }

  /// An `Accept-Charset` field (RFC 9110 §12.5.2).
  public static func acceptCharset(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Charset", value: value) }

  /// An `Accept-Encoding` field (RFC 9110 §12.5.3).
  public static func acceptEncoding(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Encoding", value: value) }

  /// An `Accept-Language` field (RFC 9110 §12.5.4).
  public static func acceptLanguage(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept-Language", value: value) }

  /// An `Authorization` field with a complete value, including the scheme (RFC 9110 §11.6.2).
  public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }

  /// An `Authorization` field for the Basic scheme (RFC 7617).
  ///
  /// - Parameters:
  ///   - username: The user name, sent as UTF-8. It must not contain a colon, because a colon separates it from the password.
  ///   - password: The password, sent as UTF-8.
  public static func authorization(username: String, password: String) -> HTTPHeader {
    authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
  }

  /// An `Authorization` field for the Bearer scheme (RFC 6750 §2.1).
  public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }

  /// A `Content-Disposition` field (RFC 6266).
  public static func contentDisposition(_ value: String) -> HTTPHeader {
    HTTPHeader(name: "Content-Disposition", value: value)
  }

  /// A `Content-Encoding` field (RFC 9110 §8.4).
  public static func contentEncoding(_ value: String) -> HTTPHeader {
    HTTPHeader(name: "Content-Encoding", value: value)
  }

  /// A `Content-Type` field (RFC 9110 §8.3).
  public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }

  /// A `User-Agent` field (RFC 9110 §10.1.5).
  public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }

  /// A `Sec-WebSocket-Protocol` field (RFC 6455 §11.3.4).
  public static func websocketProtocol(_ value: String) -> HTTPHeader {
    HTTPHeader(name: "Sec-WebSocket-Protocol", value: value)
  }
}
