// ExitCode+EngineError: converts the engine's errors to exit statuses.

import LupineEngine

extension ExitCode {
  /// Creates the exit status for an error of the engine. `options` are the options of the transfer, which contain details that the
  /// error lacks.
  init(_ error: EngineError, _ options: Options) {
    self =
      switch error.code {
      case .invalidRequest: .usage
      case .hostNotFound, .resolveFailed: error.isProxysLookup ? .proxyNotResolved : .hostNotResolved
      case .addressRefused, .connectionRefused: .notConnected
      case .connectFailed: error.isSourcesFault ? .interfaceFailed : .notConnected
      case .proxyFailed: Self.forProxy(error)
      case .tlsFailed: Self.forTLS(error, options)
      case .timedOut: .timedOut
      case .connectionLost: Self.forLostConnection(error)
      case .malformedResponse: .receiveFailed
      case .decodingFailed: .undecodableBody
      case .tooManyRedirects: .tooManyRedirects
      case .bodyUnreadable: .unreadableInput
      case .bodyNotReplayable: .bodyNotReplayable
      case .cancelled, .redirectRefused, .bodyTooLarge, .outOfResources, .tooManyWaiting, .shutDown: .other
      }
  }

  private static func forProxy(_ error: EngineError) -> ExitCode {
    guard case .proxy(let cause) = error.cause else { return .proxyFailed }
    return switch cause.cause {
    // The proxy comes from an environment variable, because proxies in options have already been validated.
    case .malformedHost, .malformedPort, .unsupportedScheme, .malformedCredentials, .colonInUser, .credentialsLength:
      .proxyNotResolved
    case .notSOCKS4, .refusedBySOCKS4, .noIPv6, .hostNameHasNUL, .hostNameTooLong, .notSOCKS5, .noAcceptableMethod,
      .unexpectedMethod, .unexpectedAuthenticationVersion,
      .credentialsRefused, .refusedBySOCKS, .unexpectedAddressType, .credentialsRequired, .refused, .identityUnproven,
      .wire, .truncated:
      .proxyFailed
    }
  }

  private static func forTLS(_ error: EngineError, _ options: Options) -> ExitCode {
    guard case .tls(let cause) = error.cause else { return .handshakeFailed }
    return switch cause.code {
    case .certificateExpired, .certificateNotYetValid, .hostMismatch, .selfSigned, .unknownAuthority,
      .certificateInvalid, .refusedByVerifier:
      .certificateNotVerified
    case .ocsp: .staplingFailed
    case .configuration: forConfiguration(options)
    case .protocolVersion, .alert, .notTLS, .handshakeFailed, .truncated, .protocolViolation, .closed:
      error.phase == .tls ? .handshakeFailed : .receiveFailed
    }
  }

  /// Returns the exit status for a TLS setting that can't be used. The error doesn't identify the setting, so this method tries
  /// each group of settings separately, without connecting.
  private static func forConfiguration(_ options: Options) -> ExitCode {
    func isUsable(_ configuration: TLSConfiguration) -> Bool { (try? TLSContext(client: configuration)) != nil }
    guard let all = try? TLSConfiguration(options) else { return .unusableIdentity }
    let ciphers = TLSConfiguration(
      verification: .none, cipherList: all.cipherList, cipherSuites: all.cipherSuites, groups: all.groups)
    if !isUsable(ciphers) { return .unusableCiphers }
    if !isUsable(TLSConfiguration(verification: .none, identity: all.identity)) { return .unusableIdentity }
    if !isUsable(TLSConfiguration(verification: .none, keyLogFile: all.keyLogFile)) { return .writeError }
    if !isUsable(TLSConfiguration(trustRoots: all.trustRoots, verification: all.verification)) {
      return .unusableTrustRoots
    }
    if !isUsable(TLSConfiguration(revocationListFile: all.revocationListFile)) { return .unusableRevocationList }
    // The remaining cause is a host name that TLS can't verify.
    return .handshakeFailed
  }

  private static func forLostConnection(_ error: EngineError) -> ExitCode {
    if error.phase == .tls { return .handshakeFailed }
    return switch error.cause {
    case .wire(.truncatedHead(received: 0)): .emptyReply
    case .wire(.truncatedBody): .partialBody
    default: .receiveFailed
    }
  }
}

extension EngineError {
  // Whether the lookup that failed was that of the proxy's name. With a socks5 proxy, the origin's name is looked up first, and
  // the error doesn't say which lookup failed.
  fileprivate var isProxysLookup: Bool {
    guard let proxy else { return false }
    return proxy.scheme != .socks5 || SocketAddress(numeric: origin.host, port: 0) != nil
  }

  // Whether the local address or the interface can't be used, recognized by the names of the system calls.
  fileprivate var isSourcesFault: Bool {
    guard case .system(let error) = cause else { return false }
    return error.call.hasPrefix("bind to ") || error.call.hasPrefix("setsockopt(SO_BINDTODEVICE")
  }
}
