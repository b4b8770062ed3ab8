// DataStreamRequest+Elements: the handlers for events, lines of text, and lines of JSON.

public import Foundation
public import LupineEngine

extension DataStreamRequest {
  /// Calls `stream` on `queue` with each event of the response body, which is an event stream, and at the end with the completion.
  ///
  /// Add handlers to a request of `Session.eventStreamRequest`, which also checks the response and reconnects. Those of `streamRequest`
  /// only parse the body.
  @preconcurrency
  @discardableResult
  public func responseStreamEvents(
    on queue: DispatchQueue = .main, stream: @escaping Handler<ServerSentEvent, AFError>
  ) -> Self {
    handleElements(.events(of: events, endMarker: nil) { .success($0) }, on: queue) { event, _ in try stream(event) }
  }

  /// Calls `stream` on `queue` with the value that `decoder` decodes from the data of each event, and at the end with the completion. An
  /// event whose data can't be decoded is passed as a failure.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - endMarker: The data of the event that ends the stream, such as `[DONE]`. It isn't decoded, and nothing is read after it. None by
  ///     default.
  ///   - queue: The queue on which `stream` is called.
  ///   - decoder: Decodes the data of an event. Called on the request's serialization queue.
  ///   - stream: Called with each value, and with the completion.
  @preconcurrency
  @discardableResult
  public func responseStreamEvents<T: Decodable & Sendable>(
    of type: T.Type, endingAt endMarker: String? = nil, on queue: DispatchQueue = .main,
    using decoder: any DataDecoder = JSONDecoder(), stream: @escaping Handler<T, AFError>
  ) -> Self {
    handleElements(.events(of: events, endMarker: endMarker) { $0.decoded(by: decoder) }, on: queue) { event, _ in
      try stream(event)
    }
  }

  /// Calls `stream` on `queue` with each line of the response body as UTF-8 text, without its line ending, and at the end with the
  /// completion.
  ///
  /// Lines end as in `URLSession.AsyncBytes.lines`, and empty lines are skipped. If a line is longer than `bytesMax` bytes, 16 MiB by
  /// default, the request fails.
  @preconcurrency
  @discardableResult
  public func responseStreamLines(
    upTo bytesMax: Int = EventStreamLimits().lineBytesMax, on queue: DispatchQueue = .main,
    stream: @escaping Handler<String, AFError>
  ) -> Self {
    handleElements(.textLines(bytesMax) { .success($0) }, on: queue) { event, _ in try stream(event) }
  }

  /// Calls `stream` on `queue` with the value that `decoder` decodes from each line of the response body, and at the end with the
  /// completion. A line that can't be decoded is passed as a failure.
  ///
  /// A line ends with a line feed, with an optional carriage return before it, because JSON strings may contain all other line
  /// separators. Empty lines are skipped. If a line is longer than `bytesMax` bytes, 16 MiB by default, the request fails.
  @preconcurrency
  @discardableResult
  public func responseStreamJSONLines<T: Decodable & Sendable>(
    of type: T.Type = T.self, upTo bytesMax: Int = EventStreamLimits().lineBytesMax, on queue: DispatchQueue = .main,
    using decoder: any DataDecoder = JSONDecoder(), stream: @escaping Handler<T, AFError>
  ) -> Self {
    handleElements(.lines(.lineFeed, bytesMax: bytesMax) { decoder.decoded(from: $0) }, on: queue) { event, _ in
      try stream(event)
    }
  }
}

extension StreamReader {
  /// Creates a reader of lines of text. `map` converts a line to an element.
  static func textLines(
    _ bytesMax: Int, _ map: @escaping @Sendable (String) -> Result<Element, AFError>
  ) -> StreamReader {
    .lines(.text, bytesMax: bytesMax) { map(String(decoding: $0, as: UTF8.self)) }
  }
}

extension ServerSentEvent {
  func decoded<T: Decodable & Sendable>(by decoder: any DataDecoder) -> Result<T, AFError> {
    decoder.decoded(from: Data(data.utf8))
  }

  /// Decodes a value from the event's data, which is JSON by default.
  ///
  /// - Throws: The decoder's error.
  public func decode<T: Decodable>(_ type: T.Type = T.self, using decoder: any DataDecoder = JSONDecoder()) throws -> T
  {
    try decoder.decodeBody(T.self, from: Data(data.utf8))
  }
}
