// Engine+HTTPTypes: the engine's calls with the types of swift-http-types.

#if HTTPTypes
  public import HTTPTypes
  public import LupineEngine

  extension Engine {
    /// Sends a request and returns when the response's head has arrived. The body is received while the caller reads it.
    ///
    /// A response with any status is a success. For settings other than the parameters, create an `EngineRequest`. Cancelling the
    /// task ends the exchange.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - body: The body. Empty by default.
    ///   - timeouts: The time limits.
    ///   - redirects: The rule by which redirects are followed. If nil (the default), none are followed.
    /// - Throws: An `HTTPTypesError` if the request can't be sent, or an `EngineError` if there is no response.
    public func execute(
      _ request: HTTPRequest, body: RequestBody = RequestBody(), timeouts: Timeouts = Timeouts(),
      redirects: RedirectRule? = nil
    ) async throws -> (response: HTTPResponse, body: ResponseBody) {
      var converted = try EngineRequest(request, body: body)
      converted.timeouts = timeouts
      let response = try await execute(converted, redirects: redirects)
      return (try HTTPResponse(response.head), response.body)
    }

    /// Sends a request and collects the response's body in memory.
    ///
    /// The parameters and errors are those of `execute`. `bodyBytesMax` is the maximum length of the body in bytes, 64 MiB by
    /// default, beyond which the call fails with `EngineError.Code.bodyTooLarge`.
    public func collect(
      _ request: HTTPRequest, body: RequestBody = RequestBody(), timeouts: Timeouts = Timeouts(),
      bodyBytesMax: Int = Engine.collectedBytesMax, redirects: RedirectRule? = nil
    ) async throws -> (response: HTTPResponse, body: [UInt8]) {
      var converted = try EngineRequest(request, body: body)
      converted.timeouts = timeouts
      converted.bodyBytesMax = bodyBytesMax
      let response = try await collect(converted, redirects: redirects)
      return (try HTTPResponse(response.head), response.body)
    }
  }
#endif
