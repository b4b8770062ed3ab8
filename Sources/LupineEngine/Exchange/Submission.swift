// Submission: the message that passes a request to a loop.

/// A request with the sink that receives its response, passed from the caller's thread to an event loop.
///
/// This is a class, because a request is a large value, which would otherwise be copied at each step.
final class Submission: Sendable {
  let id: ExchangeID
  let request: EngineRequest
  let sink: any ResponseSink
  let windowBytes: Int

  init(_ id: ExchangeID, _ request: EngineRequest, to sink: any ResponseSink, windowBytes: Int) {
    self.id = id
    self.request = request
    self.sink = sink
    self.windowBytes = windowBytes
  }
}
