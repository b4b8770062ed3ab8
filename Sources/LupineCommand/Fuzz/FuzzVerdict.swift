// FuzzVerdict: judges the server's reaction to a mutated request.

import LupineEngine

/// The server's reaction to a mutated request.
enum FuzzVerdict: Equatable {
  /// The server sent a response that conforms to HTTP, with any status.
  case answered(status: Int)
  /// The server closed the connection without a response, as it may for bytes that it can't parse (RFC 9112 §2.2).
  case closed
  /// The server sent no response in time. This isn't a fault, because the request may be unfinished, so the server may wait for the
  /// rest.
  case waits
  /// The server behaved as no server should. The associated text describes the behavior.
  case fault(Fault, String)
  /// The client can't connect to the server. The associated text is the reason.
  case unreachable(String)

  enum Fault: String, CaseIterable {
    /// The server's response violates HTTP or is truncated.
    case brokenReply = "invalid response"
    /// The server sent no response, or only a part of a response, within the timeout.
    case hang
    /// The server reset the TCP connection (RST).
    case reset
    /// The server no longer responds, even to a request without mutations.
    case gone = "no longer responds"
    /// The server took bytes of one request for another request, or confused two responses.
    case desync
    /// Two servers divided the same bytes into different requests.
    case framing = "different framing"
  }

  /// Judges the error of a request that got no complete response.
  static func judge(_ error: EngineError, _ request: MutatedRequest) -> FuzzVerdict {
    switch (error.code, error.cause) {
    case (.bodyTooLarge, _): return .answered(status: 0)
    case (_, .wire(.truncatedHead(received: 0))): return .closed
    case (.malformedResponse, .wire(.notHTTP)) where request.looksLike09: return .answered(status: 0)
    case (.connectionLost, .wire(let cause)), (.malformedResponse, .wire(let cause)):
      return .fault(.brokenReply, cause.description)
    case (.connectionLost, _): return .fault(.reset, error.description)
    case (.timedOut, _) where [.firstByte, .receive, .send].contains(error.phase):
      return request.mayBeUnfinished && error.progress != .responseBegan
        ? .waits : .fault(.hang, error.description)
    default: return .unreachable(error.description)
    }
  }
}
