// HTTPArchive: recorded exchanges in the format HAR 1.2, as browsers write it.

public import Foundation

/// Recorded exchanges, in the format HAR 1.2 (HTTP Archive), which browsers and proxies read and write too.
///
/// An archive contains only the data that a replay needs. When an archive is read, fields that other programs have added are
/// ignored.
public struct HTTPArchive: Sendable, Equatable, Codable {
  /// The recorded exchanges in the order in which they began.
  public var entries: [Entry] = []

  /// Creates an archive with the given exchanges, by default with none.
  public init(entries: [Entry] = []) { self.entries = entries }

  /// Reads an archive from a file. Throws Foundation's `CocoaError`, such as `.fileReadNoSuchFile`, if the file can't be read, and
  /// a `DecodingError` if it isn't an archive.
  public init(contentsOf url: URL) throws { self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: url)) }

  /// Returns the archive as JSON. The keys are sorted, and each key is on a separate line, so that version control shows small
  /// differences. Throws `EncodingError.invalidValue` if a time isn't a finite number.
  public func jsonData() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// Writes the archive to a file. If the file exists, it is replaced atomically. Throws Foundation's `CocoaError`, such as
  /// `.fileWriteNoPermission`, if the file can't be written, and the error of `jsonData()`.
  public func write(to url: URL) throws { try jsonData().write(to: url, options: .atomic) }

  /// An entry of the archive, which is one exchange: a request and its response.
  public struct Entry: Sendable, Equatable, Codable {
    /// The time when the request was sent, in the format of RFC 3339.
    public var startedDateTime: String
    /// The duration of the entire exchange in milliseconds.
    public var time: Double
    /// The request of the exchange.
    public var request: Request
    /// The response to the request. Its status is 0 if the request failed without a response.
    public var response: Response
    /// The durations of the exchange's phases, in milliseconds.
    public var timings: Timings
    /// An empty object, which the format requires. Other programs describe in it how a cache was used.
    public var cache = Cache()

    private enum CodingKeys: String, CodingKey { case startedDateTime, time, request, response, timings, cache }

    init(startedDateTime: String, time: Double, request: Request, response: Response, timings: Timings) {
      (self.startedDateTime, self.time, self.request, self.response) = (startedDateTime, time, request, response)
      self.timings = timings
    }

    /// Decodes an entry. An entry without durations is accepted.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      startedDateTime = try values.decodeIfPresent(String.self, forKey: .startedDateTime) ?? ""
      time = try values.decodeIfPresent(Double.self, forKey: .time) ?? 0
      request = try values.decode(Request.self, forKey: .request)
      response = try values.decode(Response.self, forKey: .response)
      timings = try values.decodeIfPresent(Timings.self, forKey: .timings) ?? Timings(send: 0, wait: 0, receive: 0)
    }
  }

  /// A name and a value: those of a header field or of a query item.
  public struct Pair: Sendable, Equatable, Codable {
    /// The name of the header field or query item.
    public var name: String
    /// The value of the header field or query item.
    public var value: String

    /// Creates a pair from a name and a value.
    public init(name: String, value: String) { (self.name, self.value) = (name, value) }
  }

  /// A cookie's name, and a placeholder for the cookie's value, which is a credential.
  public typealias Cookie = Pair

  /// The request of a recorded exchange.
  public struct Request: Sendable, Equatable, Codable {
    /// The HTTP method of the request, such as "GET".
    public var method: String
    /// The URL of the request, without its user information and fragment.
    public var url: String
    /// The HTTP version of the request, such as "HTTP/1.1".
    public var httpVersion: String
    /// The cookies that the request sends, which are also in `headers`.
    public var cookies: [Cookie]
    /// The header fields in the order in which they were sent. In an archive made by a recording, they are sorted by name instead.
    public var headers: [Pair]
    /// The items of the query in the request's URL.
    public var queryString: [Pair]
    /// The body of the request, or nil if there is none.
    public var postData: PostData?
    /// The size of the request head in bytes, or -1 if it is unknown, as in a recording.
    public var headersSize: Int
    /// The size of the request body in bytes.
    public var bodySize: Int
  }

  /// The body of a recorded request.
  public struct PostData: Sendable, Equatable, Codable {
    /// The media type of the request body, which is the value of Content-Type.
    public var mimeType: String
    /// The request body as text. If the body isn't UTF-8, the text is the body's Base64 encoding.
    public var text: String
    /// The string "base64" if `text` is the Base64 encoding of the request body, otherwise nil. The format doesn't define this
    /// property for requests, but other programs use it too.
    public var encoding: String?
  }

  /// The response of a recorded exchange.
  public struct Response: Sendable, Equatable, Codable {
    /// The status code of the response, or 0 if the request failed without a response.
    public var status: Int
    /// The reason phrase of the response, such as "OK".
    public var statusText: String
    /// The HTTP version of the response, such as "HTTP/1.1".
    public var httpVersion: String
    /// The cookies that the response sets, which are also in `headers`.
    public var cookies: [Cookie]
    /// The header fields in the order in which they were received. In an archive made by a recording, they are sorted by name
    /// instead.
    public var headers: [Pair]
    /// The body of the response.
    public var content: Content
    /// The URL to which the response redirects, or an empty string if it doesn't redirect.
    public var redirectURL: String
    /// The size of the response head in bytes, or -1 if it is unknown, as in a recording.
    public var headersSize: Int
    /// The size in bytes of the encoded response body, as the server sent it, or -1 if it is unknown.
    public var bodySize: Int
  }

  /// The body of a recorded response, after its content codings have been decoded.
  public struct Content: Sendable, Equatable, Codable {
    /// The size of the decoded response body in bytes.
    public var size: Int
    /// The media type of the response body, which is the value of Content-Type.
    public var mimeType: String
    /// The response body as text, or nil if there is no body. If the body isn't UTF-8, the text is the body's Base64 encoding.
    public var text: String?
    /// The string "base64" if `text` is the Base64 encoding of the response body, otherwise nil.
    public var encoding: String?
  }

  /// The durations of an exchange's phases in milliseconds. A recording stores the duration of the entire exchange as `wait`.
  public struct Timings: Sendable, Equatable, Codable {
    /// The duration of sending the request, in milliseconds.
    public var send: Double
    /// The time from the end of the request to the start of the response, in milliseconds.
    public var wait: Double
    /// The duration of receiving the response, in milliseconds.
    public var receive: Double
  }

  /// An empty object, which the format requires. Other programs describe in it how a cache was used.
  public struct Cache: Sendable, Equatable, Codable {}

  // MARK: The format's outer objects

  private struct Log: Codable {
    var version = "1.2"
    var creator = Creator()
    var entries: [Entry]
  }

  private struct Creator: Codable {
    var name = "Lupine"
    var version = "1"
  }

  private enum CodingKeys: String, CodingKey { case log }
  private enum LogKeys: String, CodingKey { case entries }

  /// Decodes the archive from HAR 1.2.
  public init(from decoder: any Decoder) throws {
    let log = try decoder.container(keyedBy: CodingKeys.self).nestedContainer(keyedBy: LogKeys.self, forKey: .log)
    entries = try log.decode([Entry].self, forKey: .entries)
  }

  /// Encodes the archive as HAR 1.2.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Log(entries: entries), forKey: .log)
  }
}
