// ExchangeObservation: notifies the observer of a call about the attempts of one exchange.

internal import LupineReactor
internal import LupineWire

/// The observation of an exchange that belongs to an observed call. Used only on its loop's thread.
final class ExchangeObservation {
  private let call: any CallObserver
  /// The time when the current attempt started.
  @exclusivity(unchecked) private var start: Instant
  /// The observer of the current attempt, or nil before its request is sent.
  @exclusivity(unchecked) private var attempt: (any AttemptObserver)?
  @exclusivity(unchecked) private var status: Int?
  @exclusivity(unchecked) private var minorVersion: UInt8?
  /// Whether the last attempt has ended.
  @exclusivity(unchecked) private var hasEnded = false

  init(_ call: any CallObserver, start: Instant) {
    self.call = call
    self.start = start
  }

  /// Begins an attempt. Returns the head of `exchange` with the observer's fields.
  func begin(_ exchange: Exchange) -> [UInt8] {
    let attempt = call.attemptBegan(exchange.request, at: start)
    self.attempt = attempt
    var bytes = exchange.headBytes
    let fields = attempt.fields
    guard !fields.isEmpty, exchange.request.rawBytes == nil else { return bytes }
    // The head ends with an empty line.
    bytes.removeLast(2)
    for position in fields.indices where fields.role(at: position) == nil {
      let end = bytes.count
      do {
        try HeadSerializer.appendLine(position, of: fields, to: &bytes)
      } catch {
        bytes.removeLast(bytes.count - end)
      }
    }
    HeadSerializer.appendEnd(to: &bytes)
    return bytes
  }

  /// Records the head of the final response.
  func receive(status: Int, minorVersion: UInt8) {
    (self.status, self.minorVersion) = (status, minorVersion)
  }

  /// Ends the current attempt, because its request is sent again.
  func restart(after error: EngineError?, _ exchange: Exchange, now: Instant) {
    notify(error, exchange.metrics, now)
    (attempt, status, minorVersion, start) = (nil, nil, nil, now)
  }

  /// Ends the last attempt. An exchange that was never sent counts as an attempt, unless its caller must only choose a client
  /// certificate before the request is sent.
  func end(_ error: EngineError?, _ request: EngineRequest, _ metrics: ExchangeMetrics, now: Instant) {
    if hasEnded || (attempt == nil && error?.requestedAuthorities != nil) { return }
    hasEnded = true
    if attempt == nil { attempt = call.attemptBegan(request, at: start) }
    notify(error, metrics, now)
  }

  private func notify(_ error: EngineError?, _ metrics: ExchangeMetrics, _ now: Instant) {
    attempt?.attemptEnded(
      AttemptOutcome(status: status, minorVersion: minorVersion, error: error, metrics: metrics, end: now))
  }
}

extension Submission {
  /// Refuses a request for which there is no exchange: notifies its observer and its sink of the error.
  func refuse(_ error: EngineError, now: Instant) {
    var metrics = ExchangeMetrics(start: now)
    metrics.end = now
    if let call = request.callObserver {
      ExchangeObservation(call, start: now).end(error, request, metrics, now: now)
    }
    sink.finish(.failure(error), metrics)
  }
}
