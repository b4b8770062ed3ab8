// AttemptFailure: which outcomes are errors, and the values of error.type.

#if Observability
  internal import LupineEngine

  /// The reason why an attempt counts as an error.
  struct AttemptFailure {
    /// The value of the attribute `error.type`: the status code, or the name of an engine's error.
    let type: String
    /// Whether the error is the status code of a complete response.
    let isStatus: Bool

    /// Returns nil if the attempt succeeded or its caller cancelled it. `redirect` is the error of a redirect that can't be followed.
    init?(_ outcome: AttemptOutcome, redirect: EngineError?) {
      if let error = outcome.error ?? redirect, error.code != .cancelled {
        (type, isStatus) = (error.code.errorType, false)
      } else if let status = outcome.status, status >= 400 {
        (type, isStatus) = ("\(status)", true)
      } else {
        return nil
      }
    }
  }

  extension EngineError.Code {
    /// The value of `error.type`. The article Observability lists the values.
    var errorType: String {
      switch self {
      case .invalidRequest: "invalid_request"
      case .hostNotFound: "host_not_found"
      case .resolveFailed: "resolve_failed"
      case .addressRefused: "address_refused"
      case .connectionRefused: "connection_refused"
      case .connectFailed: "connect_failed"
      case .proxyFailed: "proxy_failed"
      case .tlsFailed: "tls_failed"
      case .timedOut: "timeout"
      case .cancelled: "cancelled"
      case .connectionLost: "connection_lost"
      case .malformedResponse: "malformed_response"
      case .decodingFailed: "decoding_failed"
      case .tooManyRedirects: "too_many_redirects"
      case .redirectRefused: "redirect_refused"
      case .bodyTooLarge: "body_too_large"
      case .bodyUnreadable: "body_unreadable"
      case .bodyNotReplayable: "body_not_replayable"
      case .outOfResources: "out_of_resources"
      case .tooManyWaiting: "too_many_waiting"
      case .shutDown: "shut_down"
      }
    }
  }
#endif
