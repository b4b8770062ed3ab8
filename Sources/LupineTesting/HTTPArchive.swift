// HTTPArchive: recorded exchanges in the format HAR 1.2, as browsers write it.

public import Foundation

/// Recorded exchanges, in the format HAR 1.2 (HTTP Archive), which browsers and proxies read and write too.
///
/// An archive contains only the data that a replay needs. When an archive is read, fields that other programs have added are
/// ignored.
public struct HTTPArchive: Sendable, Equatable, Codable {
  /// The exchanges in the order in which they began.
  public var entries: [Entry] = []

  /// Creates an archive.
  public init(entries: [Entry] = []) { self.entries = entries }

  /// Reads an archive from a file. Throws an error if the file can't be read, or a `DecodingError`.
  public init(contentsOf url: URL) throws { self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: url)) }

  /// Returns the archive as JSON. The format suits version control: keys are sorted, and each is on a separate line.
  public func jsonData() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// Writes the archive to a file. An existing file is replaced atomically.
  public func write(to url: URL) throws { try jsonData().write(to: url, options: .atomic) }

  /// One exchange.
  public struct Entry: Sendable, Equatable, Codable {
    /// The time when the request was sent, in the format of RFC 3339.
    public var startedDateTime: String
    /// The duration of the exchange in milliseconds.
    public var time: Double
    /// The request.
    public var request: Request
    /// The response. Its status is 0 if the request failed without a response.
    public var response: Response
    /// The durations of the exchange's phases in milliseconds.
    public var timings: Timings
    /// The object in which other programs describe the use of a cache. The format requires it, but it remains empty here.
    public var cache = Cache()

    private enum CodingKeys: String, CodingKey { case startedDateTime, time, request, response, timings, cache }

    init(startedDateTime: String, time: Double, request: Request, response: Response, timings: Timings) {
      (self.startedDateTime, self.time, self.request, self.response) = (startedDateTime, time, request, response)
      self.timings = timings
    }

    /// Decodes an entry. The durations may be missing.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      startedDateTime = try values.decodeIfPresent(String.self, forKey: .startedDateTime) ?? ""
      time = try values.decodeIfPresent(Double.self, forKey: .time) ?? 0
      request = try values.decode(Request.self, forKey: .request)
      response = try values.decode(Response.self, forKey: .response)
      timings = try values.decodeIfPresent(Timings.self, forKey: .timings) ?? Timings(send: 0, wait: 0, receive: 0)
    }
  }

  /// A name with a value: a header field or a query item.
  public struct Pair: Sendable, Equatable, Codable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String

    /// Creates a pair.
    public init(name: String, value: String) { (self.name, self.value) = (name, value) }
  }

  /// A cookie. Only its name is recorded, and its value is replaced.
  public typealias Cookie = Pair

  /// A request.
  public struct Request: Sendable, Equatable, Codable {
    /// The method.
    public var method: String
    /// The URL, without its user information and fragment.
    public var url: String
    /// The HTTP version, such as "HTTP/1.1".
    public var httpVersion: String
    /// The cookies, which are also in `headers`.
    public var cookies: [Cookie]
    /// The header fields in order. A recording sorts them by name.
    public var headers: [Pair]
    /// The items of the URL's query.
    public var queryString: [Pair]
    /// The body, or nil if there is none.
    public var postData: PostData?
    /// The size of the head in bytes, or -1 if it is unknown, as in a recording.
    public var headersSize: Int
    /// The size of the body in bytes.
    public var bodySize: Int
  }

  /// A request's body.
  public struct PostData: Sendable, Equatable, Codable {
    /// The media type of the body: the value of Content-Type.
    public var mimeType: String
    /// The body as text, or in Base64 if it isn't UTF-8.
    public var text: String
    /// "base64" if `text` is in Base64. The format doesn't define this field for requests, but other programs use it too.
    public var encoding: String?
  }

  /// A response.
  public struct Response: Sendable, Equatable, Codable {
    /// The status code.
    public var status: Int
    /// The reason phrase.
    public var statusText: String
    /// The HTTP version, such as "HTTP/1.1".
    public var httpVersion: String
    /// The cookies, which are also in `headers`.
    public var cookies: [Cookie]
    /// The header fields in order. A recording sorts them by name.
    public var headers: [Pair]
    /// The body.
    public var content: Content
    /// The URL to which the response redirects, or an empty string if it doesn't redirect.
    public var redirectURL: String
    /// The size of the head in bytes, or -1 if it is unknown, as in a recording.
    public var headersSize: Int
    /// The size of the body as sent over the network, in bytes, or -1 if it is unknown.
    public var bodySize: Int
  }

  /// The body of a response, after its content codings were removed.
  public struct Content: Sendable, Equatable, Codable {
    /// The size of the decoded body in bytes.
    public var size: Int
    /// The media type of the body: the value of Content-Type.
    public var mimeType: String
    /// The body as text, or in Base64 if it isn't UTF-8. Nil if there is no body.
    public var text: String?
    /// "base64" if `text` is in Base64.
    public var encoding: String?
  }

  /// The durations of an exchange's phases in milliseconds. A recording stores the duration of the entire exchange as `wait`.
  public struct Timings: Sendable, Equatable, Codable {
    /// The duration of sending the request.
    public var send: Double
    /// The time from the end of the request to the start of the response.
    public var wait: Double
    /// The duration of receiving the response.
    public var receive: Double
  }

  /// An empty object in the place where the format describes the use of a cache.
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
