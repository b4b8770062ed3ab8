// StreamingBodyReader: reads the body of a response within the call that has sent the request.

public import LupineWire

/// Reads the body of a response in `Engine.execute(_:body:redirects:handler:)`. If the reader is released before it has read the whole
/// body, the exchange ends.
///
/// If the caller reads slowly, at most `EngineConfiguration.windowBytes` are buffered, and backpressure stops the server.
public struct StreamingBodyReader: ~Copyable, Sendable {
  // Ends the exchange when it is released.
  private let body: ResponseBody
  /// The URI of the request that received the response. After redirects, it is the target of the last redirect.
  public let uri: URI

  init(_ response: EngineResponse) {
    body = response.body
    uri = response.uri
  }

  /// The fields of the trailer section, which is usually empty. Nil until the complete body has been read.
  public var trailers: Fields? { body.trailers }

  /// Returns the next piece of the body, which isn't empty, or nil at the end of the body.
  ///
  /// Throws the error that made the body incomplete, or `.cancelled` if the task is cancelled.
  public nonisolated(nonsending) mutating func read() async throws(EngineError) -> [UInt8]? {
    try await body.channel.next()
  }

  /// Reads the rest of the body, and passes each piece to `receive`. Returns the fields of the trailer section.
  ///
  /// Throws the error that made the body incomplete, `.cancelled` if the task is cancelled, or the error of `receive`.
  @discardableResult
  public nonisolated(nonsending) consuming func forEach(
    _ receive: nonisolated(nonsending) (_ piece: [UInt8]) async throws -> Void
  ) async throws -> Fields {
    while let piece = try await read() { try await receive(piece) }
    return trailers ?? Fields()
  }

  /// Reads the rest of the body. Returns it with the fields of the trailer section. Throws `.bodyTooLarge` and ends the exchange if the
  /// rest exceeds `bytesMax` bytes.
  public nonisolated(nonsending) consuming func collect(
    upTo bytesMax: Int = Engine.collectedBytesMax
  ) async throws(EngineError) -> (body: [UInt8], trailers: Fields) {
    (try await body.collect(upTo: bytesMax), trailers ?? Fields())
  }
}
