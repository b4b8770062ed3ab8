// URLError+Engine: the table that maps the engine's errors to Foundation's codes.

import Foundation
import LupineEngine

extension URLError {
  /// Creates the equivalent of an engine's error. The engine's error is the underlying error, and its text is the description.
  init(_ error: EngineError, url: URL?) {
    self.init(Self.code(error), description: error.description, underlying: error, url: url)
  }

  /// Creates the error for a URL to which no request can be sent.
  init(_ error: URIError, url: URL) {
    let code: Code =
      switch error {
      case .unsupportedScheme, .missingScheme: .unsupportedURL
      case .malformedHost, .malformedPort, .forbiddenByte, .emptySocketPath, .malformedSocketPath, .nulInSocketPath,
        .socketPathTooLong, .foreignSocket:
        .badURL
      }
    self.init(code, description: "\(ReadableText.url(url)): \(error)", underlying: error, url: url)
  }

  /// Creates the error for an engine that can't be started.
  init(_ error: SystemError) {
    let remedy = "Raise the descriptor and thread limits (ulimit -n, ulimit -u)."
    self.init(
      .cannotLoadFromNetwork, description: "The engine can't start: \(error). \(remedy)", underlying: error,
      url: nil)
  }

  private init(_ code: Code, description: String, underlying: any Error, url: URL?) {
    var info: [String: Any] = [NSLocalizedDescriptionKey: description, NSUnderlyingErrorKey: underlying]
    if let url { info[NSURLErrorFailingURLErrorKey] = url }
    self.init(code, userInfo: info)
  }

  private static func code(_ error: EngineError) -> Code {
    switch error.code {
    case .invalidRequest: .badURL
    case .hostNotFound: .cannotFindHost
    // The code isn't .cannotConnectToHost, because a RetryPolicy would retry it.
    case .addressRefused: .resourceUnavailable
    case .resolveFailed: .dnsLookupFailed
    case .connectionRefused, .connectFailed, .proxyFailed: .cannotConnectToHost
    case .tlsFailed: tlsCode(error.cause)
    case .timedOut: .timedOut
    case .cancelled, .shutDown: .cancelled
    case .connectionLost: .networkConnectionLost
    case .malformedResponse: .badServerResponse
    case .decodingFailed: .cannotDecodeContentData
    case .tooManyRedirects: .httpTooManyRedirects
    case .redirectRefused: .redirectToNonExistentLocation
    case .bodyTooLarge: .dataLengthExceedsMaximum
    case .bodyUnreadable: bodyCode(error.cause)
    case .bodyNotReplayable: .requestBodyStreamExhausted
    case .outOfResources, .tooManyWaiting: .cannotLoadFromNetwork
    }
  }

  private static func bodyCode(_ cause: EngineError.Cause?) -> Code {
    // The error of a stream that has already been read, or that the delegate hasn't provided.
    if case .producer(let error as URLError) = cause { error.code } else { .cannotOpenFile }
  }

  private static func tlsCode(_ cause: EngineError.Cause?) -> Code {
    guard case .tls(let error) = cause else { return .secureConnectionFailed }
    return switch error.code {
    case .certificateExpired: .serverCertificateHasBadDate
    case .certificateNotYetValid: .serverCertificateNotYetValid
    case .hostMismatch, .certificateInvalid, .refusedByVerifier, .ocsp: .serverCertificateUntrusted
    case .selfSigned, .unknownAuthority: .serverCertificateHasUnknownRoot
    default: .secureConnectionFailed
    }
  }
}
