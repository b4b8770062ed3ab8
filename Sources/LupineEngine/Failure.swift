// Failure: the error of any layer below the engine. `EngineError` adds the phase and the origin.

internal import LupineCoding
internal import LupineReactor
internal import LupineTLS
internal import LupineWire

/// An error of a lower layer that ends an exchange.
enum Failure: Error {
  case system(SystemError)
  case tls(TLSError)
  case proxy(ProxyError)
  case wire(WireError)
  case coding(CodingError)
  case bodyTooLarge(Int)
  case bodyUnreadable(SystemError)
  case bodyFailed(any Error)
  case bodyLengthWrong(declared: UInt64, produced: UInt64)

  var code: EngineError.Code {
    switch self {
    case .system: .connectionLost
    case .proxy: .proxyFailed
    case .tls(let error): error.code == .truncated ? .connectionLost : .tlsFailed
    case .wire(let error):
      error.isCallersFault ? .invalidRequest : error.isTruncation ? .connectionLost : .malformedResponse
    case .coding(let error): error.bytesMax == nil ? .decodingFailed : .bodyTooLarge
    case .bodyTooLarge: .bodyTooLarge
    case .bodyUnreadable, .bodyFailed, .bodyLengthWrong: .bodyUnreadable
    }
  }

  var cause: EngineError.Cause {
    switch self {
    case .system(let error), .bodyUnreadable(let error): .system(error)
    case .tls(let error): .tls(error)
    case .proxy(let error): .proxy(error)
    case .wire(let error): .wire(error)
    case .coding(let error): error.bytesMax.map { .maximum($0) } ?? .coding(error)
    case .bodyTooLarge(let count): .maximum(count)
    case .bodyFailed(let error): .producer(error)
    case .bodyLengthWrong(let declared, let produced): .bodyLength(declared: declared, produced: produced)
    }
  }
}

extension CodingError {
  /// The limit of decoded bytes that was exceeded, or nil for any other error.
  fileprivate var bytesMax: Int? {
    if case .decodedBytesMax(let bytesMax) = cause { Int(clamping: bytesMax) } else { nil }
  }
}

extension EngineError {
  /// The error of a response from a cache that ends before its body is complete.
  package static func interruption(at origin: Origin) -> EngineError {
    EngineError(.connectionLost, .receive, origin, progress: .responseBegan)
  }

  /// The DER-encoded names of the certificate authorities from which the server accepts client certificates. Nil unless the
  /// exchange ended before its request was sent, because the server requested a client certificate and the client presented none.
  package var requestedAuthorities: [[UInt8]]? {
    if case .tls(let error) = cause { error.requestedAuthorities } else { nil }
  }
}
