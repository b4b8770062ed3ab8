// EngineObserver: the interface through which LupineObservability records an engine's requests and connections.

package import LupineReactor
package import LupineWire

/// An object that observes the requests and connections of an engine, for traces, metrics and logs.
package protocol EngineObserver: AnyObject, Sendable {
  /// Called when a caller makes a request, on the caller's thread and in its task, so that the observer can read task-local values.
  /// Returns the observer of this call.
  func callBegan() -> any CallObserver
  /// Whether the engine calls `connectionsChanged` and `connectionClosed`.
  var observesConnections: Bool { get }
  /// Called on a loop's thread when numbers of an origin's connections and waiting requests have changed. `change` contains the
  /// differences to the previous call, because several loops may serve the origin.
  func connectionsChanged(to origin: Origin, by change: ConnectionNumbers)
  /// Called on a loop's thread when a connection to an origin was closed. `peer` is the address of the origin or its proxy.
  func connectionClosed(to origin: Origin, peer: SocketAddress?, after duration: Duration)
}

/// An object that observes one call: a caller's request, with all further requests that follow from it because of redirects,
/// challenges, retries and lost connections.
package protocol CallObserver: AnyObject, Sendable {
  /// Called on a loop's thread before the first byte of a request is sent, or when the request has failed before. Returns the
  /// observer of this attempt. `start` is the time when the loop received the request or decided to send it again.
  func attemptBegan(_ request: EngineRequest, at start: Instant) -> any AttemptObserver
  /// Called on a loop's thread during an attempt whose response is a redirect that can't be followed.
  func redirectFailed(_ error: EngineError)
}

/// An object that observes one attempt: a request that is sent once.
package protocol AttemptObserver: AnyObject, Sendable {
  /// The fields to add to the request. The engine ignores those that it would interpret, and those that aren't well-formed.
  var fields: Fields { get }
  /// Called once, on a loop's thread, before the caller learns about the end of the attempt.
  func attemptEnded(_ outcome: AttemptOutcome)
}

/// The outcome of an attempt to send a request.
package struct AttemptOutcome: Sendable {
  /// The status code of the final response, or nil if no response head has arrived.
  package let status: Int?
  /// The minor version of HTTP in the response, or nil if no response head has arrived.
  package let minorVersion: UInt8?
  /// The error with which the attempt ended, or nil if the response was complete or its rest wasn't wanted.
  package let error: EngineError?
  /// The engine's measurements of the attempt.
  package let metrics: ExchangeMetrics
  /// The time when the attempt ended.
  package let end: Instant
}

/// The numbers of an origin's connections and waiting requests, or changes of these numbers.
package struct ConnectionNumbers: Sendable, Hashable {
  package var idle = 0
  package var active = 0
  package var opening = 0
  package var waiting = 0

  package init() {}

  static func - (left: ConnectionNumbers, right: ConnectionNumbers) -> ConnectionNumbers {
    var difference = left
    difference.idle -= right.idle
    difference.active -= right.active
    difference.opening -= right.opening
    difference.waiting -= right.waiting
    return difference
  }
}

/// The task-local observer of the call for which the current code creates tasks.
package enum CurrentCall {
  @TaskLocal package static var observer: (any CallObserver)?
}

extension Engine {
  /// Makes the request part of a new call, if the engine is observed and the request isn't part of a call yet. Must be called on the
  /// caller's thread.
  @inline(__always)
  func observe(_ request: inout EngineRequest) {
    if let observer { Self.begin(&request, observer) }
  }

  @inline(never)
  private static func begin(_ request: inout EngineRequest, _ observer: any EngineObserver) {
    guard request.callObserver == nil, request.streamSink == nil else { return }
    request.callObserver = observer.callBegan()
  }
}
