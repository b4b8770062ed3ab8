// URLError+Engine: the table that maps the engine's errors to Foundation's codes.

import Foundation
import LupineEngine

extension URLError {
  /// Converts an error of the engine to a URLError. The underlying error is the engine's error, whose text becomes the description.
  ///
  /// - Parameters:
  ///   - error: The engine's error.
  ///   - url: The URL of the request.
  ///   - isOffline: A closure that returns whether the machine certainly has no default route. It is called if no name server has
  ///     responded.
  init(_ error: EngineError, url: URL?, isOffline: () -> Bool = { NetworkSource.system.isOffline() }) {
    var code = Self.code(error)
    if case (.resolveFailed, .resolve(let cause)) = (error.code, error.cause), cause.kind == .temporary, isOffline() {
      code = .notConnectedToInternet
    }
    self.init(code, error.description, url: url, underlying: error)
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
    self.init(code, "\(ReadableText.url(url)): \(error)", url: url, underlying: error)
  }

  /// Creates the error for a session whose engine can't be started.
  init(_ error: SystemError) {
    let remedy = "Raise the descriptor and thread limits (ulimit -n, ulimit -u)."
    self.init(.cannotLoadFromNetwork, "The engine can't start: \(error). \(remedy)", underlying: error)
  }

  private static func code(_ error: EngineError) -> Code {
    switch error.code {
    case .invalidRequest: .badURL
    case .hostNotFound: .cannotFindHost
    case .addressRefused: refusalCode(error.cause)
    case .resolveFailed: .dnsLookupFailed
    case .connectFailed: connectCode(error.cause)
    case .connectionRefused, .proxyFailed: .cannotConnectToHost
    case .tlsFailed: tlsCode(error)
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

  private static func refusalCode(_ cause: EngineError.Cause?) -> Code {
    // The code isn't .cannotConnectToHost, because a RetryPolicy would then retry the request.
    if case .refusal(.cellular) = cause { .notConnectedToInternet } else { .resourceUnavailable }
  }

  private static func connectCode(_ cause: EngineError.Cause?) -> Code {
    if case .system(let error) = cause, error.isNoNetwork { .notConnectedToInternet } else { .cannotConnectToHost }
  }

  private static func bodyCode(_ cause: EngineError.Cause?) -> Code {
    // The code of the error that the body's producer has thrown, for example because the stream was already read or because the
    // delegate provided no stream.
    if case .producer(let error as URLError) = cause { error.code } else { .cannotOpenFile }
  }

  private static func tlsCode(_ error: EngineError) -> Code {
    guard case .tls(let cause) = error.cause else { return .secureConnectionFailed }
    // A proxy doesn't receive the client certificate, so a TLS alert from a proxy doesn't mean that this certificate is missing or
    // refused.
    let isProxy = error.phase == .proxy
    return switch cause.code {
    case .certificateExpired: .serverCertificateHasBadDate
    case .certificateNotYetValid: .serverCertificateNotYetValid
    case .refusedByVerifier where cause.verifierError is CanceledTrustChallenge: .cancelled
    case .hostMismatch, .certificateInvalid, .refusedByVerifier, .ocsp: .serverCertificateUntrusted
    case .selfSigned, .unknownAuthority: .serverCertificateHasUnknownRoot
    case .alert(116) where !isProxy: .clientCertificateRequired  // certificate_required
    case .alert where !isProxy && cause.refusesIdentity: .clientCertificateRejected
    default: .secureConnectionFailed
    }
  }
}
