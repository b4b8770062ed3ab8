// For people who test servers: bytes that no normal client sends, and the reply as it came.

public import LupineWire

/// A request as bytes, which are sent exactly as they are, right or wrong.
public struct RawRequest: Sendable {
  /// Where to connect to. The bytes may say something else.
  public var origin: Origin
  /// What is sent.
  public var bytes: [UInt8]
  /// The method that the reply is read by, since a reply to HEAD has no body; the bytes' first word by default.
  public var method: String
  /// How long each phase may take.
  public var timeouts: Timeouts
  /// The largest body of a reply, in bytes; `Engine.collectedBytesMax` by default.
  public var bodyBytesMax = Engine.collectedBytesMax

  /// Creates a request.
  public init(to origin: Origin, _ bytes: [UInt8], method: String? = nil, timeouts: Timeouts = Timeouts()) {
    self.origin = origin
    self.bytes = bytes
    let firstWord = bytes.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
    self.method = method ?? String(decoding: firstWord, as: UTF8.self)
    self.timeouts = timeouts
  }
}

extension Engine {
  /// Sends bytes on a connection of their own, which is closed behind the reply, and reads that reply as strictly as any.
  ///
  /// `head.rawBytes` has the reply's head as it came; the body is without its chunks and its transfer codings, and not
  /// decoded otherwise. Bytes behind the reply show as `.unsolicitedBytes` in the metrics' `closeReason`. A proxy that
  /// forwards gets the bytes as they are, too. Nothing is sent twice.
  public func send(_ raw: RawRequest) async throws(EngineError) -> CollectedResponse {
    var request = EngineRequest(method: raw.method, uri: URI(raw.origin), timeouts: raw.timeouts)
    request.rawBytes = raw.bytes
    request.decodesContent = false
    request.bodyBytesMax = raw.bodyBytesMax
    return try await collect(request)
  }
}
