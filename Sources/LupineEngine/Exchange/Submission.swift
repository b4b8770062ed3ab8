// What a caller hands over to a loop.

/// A request on its way to its loop, and whom its response goes to.
///
/// One reference, as a request is a large value and would be copied from hand to hand.
final class Submission: Sendable {
  let id: ExchangeID
  let request: EngineRequest
  let sink: any ResponseSink
  let credit: Int

  init(_ id: ExchangeID, _ request: EngineRequest, to sink: any ResponseSink, credit: Int) {
    self.id = id
    self.request = request
    self.sink = sink
    self.credit = credit
  }
}
