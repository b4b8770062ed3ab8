// RecordedRequest: a request that stubs have received.

public import Foundation
import LupineURLSession

/// A request that stubs have received. It is the request that the session would have sent to the network, with its entire body.
public struct RecordedRequest: Sendable, CustomStringConvertible {
  /// The HTTP method of the request, such as "GET".
  public let method: String
  /// The URL of the request.
  public let url: URL?
  /// The values of the request's header fields, keyed by name.
  public let headerFields: [String: String]
  /// The request body, or empty data if the request has no body.
  public let body: Data

  /// Creates a copy of `request` with its entire body. If the body is a stream, reads the stream to its end. If the stream can't
  /// be read, throws the stream's error, or a `CocoaError` with the code `.fileReadUnknown` if the stream has none.
  init(_ request: URLRequest) throws {
    method = request.httpMethod ?? "GET"
    url = request.url
    headerFields = request.allHTTPHeaderFields ?? [:]
    body = try request.httpBody ?? request.httpBodyStream.map { try Self.read($0) } ?? Data()
  }

  /// Returns the value of a header field, or nil if the request doesn't have the field.
  ///
  /// - Parameter field: The name of the field. Its case is ignored.
  public func value(forHTTPHeaderField field: String) -> String? {
    headerFields.first { $0.key.lowercased() == field.lowercased() }?.value
  }

  /// A textual description: the request's method and its URL, without the URL's user information and query values, which may be
  /// credentials.
  public var description: String {
    guard let url, var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return method }
    (components.user, components.password, components.fragment) = (nil, nil, nil)
    components.queryItems = components.queryItems?.map { URLQueryItem(name: $0.name, value: nil) }
    return "\(method) \(components.string ?? url.path)"
  }

  /// Returns `request` with its body as `Data`. Replaces a body stream with the recorded data, because the stream has been read and
  /// can't be read again.
  func withBodyInMemory(_ request: URLRequest) -> URLRequest {
    guard request.httpBodyStream != nil else { return request }
    var request = request
    request.httpBody = body
    return request
  }

  private static func read(_ stream: InputStream) throws -> Data {
    stream.open()
    defer { stream.close() }
    var data = Data()
    while true {
      let bytes = try stream.readBytes(upToCount: pieceBytes)
      if bytes.isEmpty { return data }
      data.append(contentsOf: bytes)
    }
  }

  /// The maximum number of bytes that are read from a body stream at once: 64 KiB.
  private static let pieceBytes = 65_536
}
