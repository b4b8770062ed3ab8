// What a server's behaviour towards one mutated request says about the server. Pure: an outcome in, a verdict out.

import LupineEngine

/// How a server took a request.
enum FuzzVerdict: Equatable {
  /// With a reply that keeps to HTTP, whatever its status.
  case answered(status: Int)
  /// It closed the connection and said nothing, as it may if it can't make sense of the bytes (RFC 9112 §2.2).
  case closed
  /// It waits for the rest of what may be unfinished.
  case waits
  /// It did what no server should.
  case fault(Fault, String)
  /// It can't be reached.
  case unreachable(String)

  enum Fault: String, CaseIterable {
    /// The reply breaks HTTP, or breaks off.
    case brokenReply = "broken reply"
    /// Nothing more came within the time limit.
    case hang
    /// The connection was cut (RST).
    case reset
    /// A request without any mutation isn't answered any more.
    case gone = "no longer answers"
  }

  init(_ result: Result<CollectedResponse, EngineError>, to request: MutatedRequest) {
    switch result {
    case .success(let response): self = .answered(status: response.head.status)
    case .failure(let error): self = Self.judge(error, request)
    }
  }

  private static func judge(_ error: EngineError, _ request: MutatedRequest) -> FuzzVerdict {
    switch (error.code, error.cause) {
    case (.bodyTooLarge, _): return .answered(status: 0)
    case (_, .wire(.truncatedHead(received: 0))): return .closed
    case (.malformedResponse, .wire(.notHTTP)) where request.looksLike09: return .answered(status: 0)
    case (.connectionLost, .wire(let cause)), (.malformedResponse, .wire(let cause)):
      return .fault(.brokenReply, cause.description)
    case (.connectionLost, _): return .fault(.reset, error.description)
    case (.timedOut, _) where [.firstByte, .receive, .send].contains(error.phase):
      return request.mayBeUnfinished && error.delivery != .responseBegan
        ? .waits : .fault(.hang, error.description)
    default: return .unreachable(error.description)
    }
  }
}
