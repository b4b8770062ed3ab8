// EventStream: an event stream over all connections of its request: the last event ID, the server's reconnection time, the checks.

import Foundation
import LupineEngine
import LupineURLSession
import Synchronization

/// The state of a stream request's event stream, which its handlers' parsers share.
///
/// It prepares each `URLRequest`, checks each response before its first event is delivered, and decides whether to reconnect.
final class EventStream: Sendable {
  private struct State: ~Copyable {
    var lastEventID: String
    var retry: Duration?
    var reconnection: EventStreamReconnection
    /// Whether the current response has been checked. Set when its first piece arrives.
    var isChecked = false
    /// Whether the pieces of the current response are parsed.
    var isAccepted = true
    /// Whether the event has arrived that marks the end of the stream.
    var hasEnded = false
  }

  /// The options, or nil for the stream of a request that wasn't created for an event stream. Such a stream only parses.
  let options: EventStreamOptions?
  private let state: Mutex<State>
  private let random: @Sendable () -> Double

  init(_ options: EventStreamOptions?, random: @escaping @Sendable () -> Double = { .random(in: 0...1) }) {
    self.options = options
    self.random = random
    let effective = options ?? EventStreamOptions()
    state = Mutex(
      State(lastEventID: effective.lastEventID ?? "", reconnection: EventStreamReconnection(effective)))
  }

  var lastEventID: String { state.withLock { $0.lastEventID } }

  // MARK: Requests

  /// Sets the fields of a request for an event stream, unless the caller has set them, and the time limits.
  func prepare(_ request: inout URLRequest) {
    guard let options else { return }
    func setDefault(_ value: String, for name: String) {
      if request.value(forHTTPHeaderField: name) == nil { request.setValue(value, forHTTPHeaderField: name) }
    }
    setDefault(Self.mediaType, for: "Accept")
    // A stream is neither served from a cache nor stored.
    setDefault("no-store", for: "Cache-Control")
    request.cachePolicy = .reloadIgnoringLocalCacheData
    let lastEventID = lastEventID
    if !lastEventID.isEmpty { request.setValue(lastEventID, forHTTPHeaderField: "Last-Event-ID") }
    if request.lupine.timeouts == nil {
      var timeouts = Timeouts()
      timeouts.firstByte = options.silenceMax
      timeouts.idle = options.silenceMax
      request.lupine.timeouts = timeouts
    }
  }

  // MARK: Responses, on the underlying queue

  private static let mediaType = "text/event-stream"
  /// The only status code of a response with events. With 204, a server ends the stream.
  private static let (successStatus, endStatus) = (200, 204)

  /// Returns the error of a response that isn't an event stream, or nil if it is one or has the status 204.
  private static func refusal(of response: HTTPURLResponse) -> AFError? {
    guard response.statusCode != endStatus else { return nil }
    do {
      try ResponseRules.validate(statusCode: response.statusCode, in: [successStatus]).get()
      try ResponseRules.validate(contentType: response.mimeType, in: [mediaType]).get()
      return nil
    } catch {
      return error.asAFError(or: .responseValidationFailed(reason: .customValidationFailed(error: error)))
    }
  }

  /// Checks the response when its first piece has arrived. If it isn't an event stream, its pieces aren't parsed, and the returned
  /// error fails the task.
  func check(_ response: HTTPURLResponse?) -> AFError? {
    guard options != nil else { return nil }
    return state.withLock { state in
      guard !state.isChecked else { return nil }
      let refusal = response.flatMap(Self.refusal)
      (state.isChecked, state.isAccepted) = (true, refusal == nil)
      return refusal
    }
  }

  var parses: Bool { state.withLock { $0.isAccepted } }

  /// Prepares for the response of another connection.
  func startAnew() { state.withLock { ($0.isChecked, $0.isAccepted) = (false, true) } }

  /// Takes over what a parser has found in a piece. `isEvent` is whether the piece completed an event.
  func note(_ parser: EventStreamParser, isEvent: Bool) {
    state.withLock { state in
      state.lastEventID = parser.lastEventID
      state.retry = parser.retryMilliseconds.map { .milliseconds($0) } ?? state.retry
      if isEvent { state.reconnection.didReceiveEvent() }
    }
  }

  /// Ends the stream because the event that marks its end has arrived.
  func end() { state.withLock { $0.hasEnded = true } }

  /// Returns the error of a response that was received completely, or nil if the stream has ended. The end of a GET's response is an
  /// error, after which the request reconnects. The response to another method ends the stream.
  func outcome(of response: HTTPURLResponse, to method: HTTPMethod) -> AFError? {
    guard let options else { return nil }
    if let refusal = Self.refusal(of: response) { return refusal }
    let isEnd = response.statusCode == Self.endStatus || method != .get || options.reconnectionsMax == 0
    guard !isEnd, !state.withLock({ $0.hasEnded }) else { return nil }
    return .sessionTaskFailed(error: interruption(.responseEnded))
  }

  private func interruption(
    _ reason: EventStreamInterruption.Reason, _ error: AFError? = nil
  ) -> EventStreamInterruption {
    let lastEventID = lastEventID
    return EventStreamInterruption(
      reason: reason, lastEventID: lastEventID.isEmpty ? nil : lastEventID, underlyingError: error)
  }

  // MARK: Reconnecting

  /// Returns the error of a request that must not be sent again, or nil if retriers may decide. A request isn't sent again if its stream
  /// has ended, or if its response has begun, its method isn't GET, and it can't be resumed.
  func refusalToRepeat(_ method: HTTPMethod, after response: HTTPURLResponse?, dueTo error: AFError) -> AFError? {
    if state.withLock({ $0.hasEnded }) { return error }
    guard let options, method != .get, let response, Self.refusal(of: response) == nil else { return nil }
    if options.resumesAnyMethod, !lastEventID.isEmpty { return nil }
    guard Self.isTransient(error) else { return error }
    let reason: EventStreamInterruption.Reason = options.resumesAnyMethod ? .missingID : .notRepeatable
    return .sessionTaskFailed(error: interruption(reason, error))
  }

  /// Decides about a failure, after the retriers have decided.
  ///
  /// If a retrier retries after a lost connection, the request waits at least for the time that the server has sent.
  func decision(
    after result: RetryResult, _ method: HTTPMethod, _ response: HTTPURLResponse?, dueTo error: AFError
  ) -> RetryResult {
    switch result {
    case .doNotRetry: return reconnection(method, after: response, dueTo: error)
    case .doNotRetryWithError: return result
    case .retry, .retryWithDelay:
      guard let options, Self.isTransient(error), let retry = state.withLock({ $0.retry }) else { return result }
      return .retryWithDelay(max(result.delay ?? 0, min(retry, options.retryDelayMax) / .seconds(1)))
    }
  }

  /// Decides about a failure after which no retrier retries.
  func reconnection(_ method: HTTPMethod, after response: HTTPURLResponse?, dueTo error: AFError) -> RetryResult {
    // Another method than GET is resumed only if its response has begun; `refusalToRepeat` has checked the rest.
    guard let options, method == .get || options.resumesAnyMethod && response != nil else { return .doNotRetry }
    guard Self.isTransient(error) else { return .doNotRetry }
    guard EventStreamParser.isSendable(id: lastEventID) else {
      return .doNotRetryWithError(AFError.sessionTaskFailed(error: interruption(.unsendableID, error)))
    }
    let delay = state.withLock { $0.reconnection.delayBeforeNext(retry: $0.retry, random: random()) }
    if let delay { return .retryWithDelay(delay / .seconds(1)) }
    guard Self.isEnd(error) else { return .doNotRetry }
    return .doNotRetryWithError(AFError.sessionTaskFailed(error: interruption(.tooManyReconnections)))
  }

  /// Whether `error` is the end of a response, as returned by `outcome`.
  private static func isEnd(_ error: AFError) -> Bool { error.underlyingError is EventStreamInterruption }

  private static func isTransient(_ error: AFError) -> Bool {
    if isEnd(error) { return true }
    return error.urlErrorCode.map(URLError.Code.transient.contains) ?? false
  }
}

/// Creates the requests of an event stream: those of `base`, with the stream's fields and limits.
struct EventStreamConvertible: URLRequestConvertible {
  let base: any URLRequestConvertible
  let stream: EventStream

  func asURLRequest() throws -> URLRequest {
    var request = try base.asURLRequest()
    stream.prepare(&request)
    return request
  }
}
