// Engine+Streaming: a call that sends a body and reads the response at the same time, and that ends both when it returns.

public import LupineWire

extension Engine {
  /// Sends a request, and passes the response's head and a reader of its body to `handler`. Returns the result of `handler`.
  ///
  /// The body is written while the handler runs, so both sides can wait for each other. When the handler returns or throws, the
  /// exchange ends: what hasn't been sent by then isn't sent, and what hasn't been read is discarded. The connection is kept if the
  /// request was sent and only little of the response remains. The call returns when the body's closure has ended too, and therefore
  /// nothing of it runs later.
  ///
  /// A response with any status is a success. Redirects are followed by the rule `redirects`, or not at all if it is nil; the handler
  /// gets the last response. Cancelling the task ends the exchange in any phase: while the head is awaited or the body is read, the call
  /// throws an `EngineError` with the code `.cancelled`, and the body's closure is cancelled.
  ///
  /// - Parameters:
  ///   - request: The request, whose own `body` is sent if the parameter `body` is nil.
  ///   - body: The body of the request. If nil (the default), the request's own.
  ///   - redirects: The rule by which redirects are followed. If nil (the default), none are followed.
  ///   - handler: Called once, with the caller's isolation, when the head of the response has arrived.
  /// - Throws: An `EngineError` if there is no response, or the error of `handler`.
  public nonisolated(nonsending) func execute<Return: ~Copyable>(
    _ request: EngineRequest, body: StreamingBody? = nil, redirects: RedirectRule? = nil,
    handler:
      nonisolated(nonsending) (_ head: ResponseHead, _ reader: consuming StreamingBodyReader) async throws -> Return
  ) async throws -> Return {
    let runs = BodyRuns()
    var request = request
    if let body { request.body = body.requestBody(runs) }
    let response: EngineResponse
    do {
      response = try await execute(request, redirects: redirects)
    } catch {
      await runs.end()
      throw error
    }
    do {
      let result = try await handler(response.head, StreamingBodyReader(response))
      await end(response.body.channel, body == nil ? nil : runs)
      return result
    } catch {
      await end(response.body.channel, body == nil ? nil : runs)
      throw error
    }
  }

  private nonisolated(nonsending) func end(_ channel: ResponseChannel, _ runs: BodyRuns?) async {
    channel.abandon()
    guard let runs else { return }
    // Until the exchange has ended, the loop may call the body's closure again.
    _ = await channel.finalMetrics()
    await runs.end()
  }
}
