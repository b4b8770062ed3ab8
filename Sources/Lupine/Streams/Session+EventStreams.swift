// Session+EventStreams: requests for event streams (WHATWG HTML, "Server-sent events").

extension Session {
  /// Creates a request for an event stream, with `Encodable` parameters. See
  /// ``eventStreamRequest(_:options:automaticallyCancelOnStreamError:interceptor:shouldAutomaticallyResume:)``.
  public func eventStreamRequest<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default, headers: HTTPHeaders? = nil,
    options: EventStreamOptions = EventStreamOptions(), automaticallyCancelOnStreamError: Bool = false,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    requestModifier: RequestModifier? = nil
  ) -> DataStreamRequest {
    eventStreamRequest(
      BuiltRequest(convertible, method, headers, requestModifier, parameters, encoder), options: options,
      automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
      shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Creates a request for an event stream. See
  /// ``eventStreamRequest(_:options:automaticallyCancelOnStreamError:interceptor:shouldAutomaticallyResume:)``.
  ///
  /// ```swift
  /// let events = AF.eventStreamRequest("https://example.org/events").streamTask().streamingEvents()
  /// for try await event in events { print(event.type, event.data) }
  /// ```
  public func eventStreamRequest(
    _ convertible: any URLConvertible, method: HTTPMethod = .get, headers: HTTPHeaders? = nil,
    options: EventStreamOptions = EventStreamOptions(), automaticallyCancelOnStreamError: Bool = false,
    interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil,
    requestModifier: RequestModifier? = nil
  ) -> DataStreamRequest {
    eventStreamRequest(
      BuiltRequest(convertible, method, headers, requestModifier), options: options,
      automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
      shouldAutomaticallyResume: shouldAutomaticallyResume)
  }

  /// Creates a request for an event stream, from a `URLRequest` or a type that provides one. This method is Lupine's addition to
  /// Alamofire's API.
  ///
  /// The response must have the status code 200 and the media type `text/event-stream`; otherwise, the request fails. The status code
  /// 204 ends the stream. If the response to a GET ends or fails, the request is sent again with `Last-Event-ID`: as the retriers
  /// decide or, if none of them retries, after the time that the server has sent. A request with another method isn't
  /// sent again after its response has begun: the end of the response ends the stream, and an interruption fails the request with
  /// ``EventStreamInterruption``.
  ///
  /// - Parameters:
  ///   - convertible: The request. Its fields Accept and Cache-Control and its `lupine.timeouts` are set unless it has them.
  ///   - options: The options for reconnecting, the limit for silence, and the limits for memory.
  ///   - automaticallyCancelOnStreamError: Whether the request is cancelled if an event can't be decoded.
  ///   - interceptor: Adapts and retries this request, after the session's interceptor.
  ///   - shouldAutomaticallyResume: Whether the first handler resumes the request, or nil to use the session's setting.
  /// - Returns: The request. It is sent when it is resumed.
  public func eventStreamRequest(
    _ convertible: any URLRequestConvertible, options: EventStreamOptions = EventStreamOptions(),
    automaticallyCancelOnStreamError: Bool = false, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
  ) -> DataStreamRequest {
    let stream = EventStream(options)
    return made(
      DataStreamRequest(
        EventStreamConvertible(base: convertible, stream: stream),
        automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, session: self,
        shouldAutomaticallyResume: shouldAutomaticallyResume, eventStream: stream),
      interceptor)
  }
}
