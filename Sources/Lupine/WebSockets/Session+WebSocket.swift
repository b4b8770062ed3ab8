// Session+WebSocket: creates WebSocket requests.

extension Session {
  /// Creates a request that opens a WebSocket connection.
  ///
  /// ```swift
  /// AF.webSocketRequest(to: "wss://example.org/chat").streamMessages { message in
  ///   if case .string(let text) = message { print(text) }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - url: A ws or wss URL. With another scheme, the request fails with `URLError.unsupportedURL`.
  ///   - configuration: The subprotocol, the maximum length of messages, and the interval of pings.
  ///   - headers: The fields of the opening handshake's request.
  ///   - interceptor: Adapts and retries the opening handshake's request.
  ///   - shouldAutomaticallyResume: Whether the first handler resumes the request. If nil, the session's setting applies.
  ///   - requestModifier: Changes the opening handshake's `URLRequest` after its creation.
  @preconcurrency
  public func webSocketRequest(
    to url: any URLConvertible, configuration: WebSocketRequest.Configuration = .default, headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    requestModifier: RequestModifier? = nil
  ) -> WebSocketRequest {
    webSocketRequest(
      performing: BuiltRequest(url, .get, headers, requestModifier), configuration: configuration,
      interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Creates a request that opens a WebSocket connection, with `Encodable` parameters in the URL.
  ///
  /// - Parameters:
  ///   - url: A ws or wss URL.
  ///   - configuration: The subprotocol, the maximum length of messages, and the interval of pings.
  ///   - parameters: The parameters to encode, or nil for none.
  ///   - encoder: Encodes the parameters.
  ///   - headers: The fields of the opening handshake's request.
  ///   - interceptor: Adapts and retries the opening handshake's request.
  ///   - shouldAutomaticallyResume: Whether the first handler resumes the request. If nil, the session's setting applies.
  ///   - requestModifier: Changes the opening handshake's `URLRequest` after its creation.
  @preconcurrency
  public func webSocketRequest<Parameters: Encodable & Sendable>(
    to url: any URLConvertible, configuration: WebSocketRequest.Configuration = .default,
    parameters: Parameters? = nil, encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
    headers: HTTPHeaders? = nil, interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    requestModifier: RequestModifier? = nil
  ) -> WebSocketRequest {
    webSocketRequest(
      performing: BuiltRequest(url, .get, headers, requestModifier, parameters, encoder), configuration: configuration,
      interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Creates a request that opens a WebSocket connection, from a `URLRequest` or a type that provides one.
  ///
  /// - Parameters:
  ///   - urlRequest: The opening handshake's request: a GET request with a ws or wss URL.
  ///   - configuration: The subprotocol, the maximum length of messages, and the interval of pings.
  ///   - interceptor: Adapts and retries the opening handshake's request.
  ///   - shouldAutomaticallyResume: Whether the first handler resumes the request. If nil, the session's setting applies.
  public func webSocketRequest(
    performing urlRequest: any URLRequestConvertible, configuration: WebSocketRequest.Configuration = .default,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
  ) -> WebSocketRequest {
    made(
      WebSocketRequest(
        urlRequest, configuration, session: self, shouldAutomaticallyResume: shouldAutomaticallyResume),
      interceptor)
  }
}
