// What goes wrong below the engine, in one type; an `EngineError` adds where and when.

internal import LupineCoding
internal import LupineReactor
internal import LupineTLS
internal import LupineWire

/// A failure of one of the layers below, on its way to the exchange that it ends.
enum Failure: Error {
  case system(SystemError)
  case tls(TLSError)
  case wire(WireError)
  case coding(CodingError)
  case bodyTooLarge(Int)
  case bodyUnreadable(SystemError)

  var code: EngineError.Code {
    switch self {
    case .system: .connectionLost
    case .tls(let error): error.code == .truncated ? .connectionLost : .tlsFailed
    case .wire(let error): error.isTruncation ? .connectionLost : .malformedResponse
    case .coding: .decodingFailed
    case .bodyTooLarge: .bodyTooLarge
    case .bodyUnreadable: .bodyUnreadable
    }
  }

  var cause: EngineError.Cause {
    switch self {
    case .system(let error), .bodyUnreadable(let error): .system(error)
    case .tls(let error): .tls(error)
    case .wire(let error): .wire(error)
    case .coding(let error): .coding(error)
    case .bodyTooLarge(let count): .maximum(count)
    }
  }
}
