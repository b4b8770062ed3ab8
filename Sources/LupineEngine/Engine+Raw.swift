// Engine+Raw: sends arbitrary bytes and returns the response, for tests of servers.

public import LupineWire

/// A request as raw bytes, which the engine sends unchanged and without checks.
public struct RawRequest: Sendable {
  /// The origin to which the engine connects. The Host field in the bytes may name a different origin.
  public var origin: Origin
  /// The bytes to send, including the request's head and body.
  public var bytes: [UInt8]
  /// The request method, which the engine needs to parse the response: a response to HEAD has no body. By default, the first word
  /// of `bytes`.
  public var method: String
  /// The time limits of the exchange. By default, those of `Timeouts()`.
  public var timeouts: Timeouts
  /// The maximum length of the response body in bytes. `Engine.collectedBytesMax` by default.
  public var bodyBytesMax = Engine.collectedBytesMax

  /// Creates a request whose bytes the engine sends unchanged.
  public init(to origin: Origin, _ bytes: [UInt8], method: String? = nil, timeouts: Timeouts = Timeouts()) {
    self.origin = origin
    self.bytes = bytes
    let firstWord = bytes.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
    self.method = method ?? String(decoding: firstWord, as: UTF8.self)
    self.timeouts = timeouts
  }
}

extension Engine {
  /// Sends the bytes on a dedicated connection, parses the response as strictly as any other response, and closes the connection.
  ///
  /// `head.rawBytes` is the response head as received. Chunked framing and transfer codings are removed from the body, but content
  /// codings aren't decoded. If more bytes follow the response, the metrics' `closeReason` is `.unsolicitedBytes`. A forwarding
  /// proxy also receives the bytes unchanged. The bytes are never sent twice.
  public func send(_ raw: RawRequest) async throws(EngineError) -> CollectedResponse {
    var request = EngineRequest(method: raw.method, uri: URI(raw.origin), timeouts: raw.timeouts)
    request.rawBytes = raw.bytes
    request.decodesContent = false
    request.bodyBytesMax = raw.bodyBytesMax
    return try await collect(request)
  }
}
