// EventStreamOptions: the options of a request for an event stream, and the error of a stream that was interrupted.

public import Foundation
public import LupineEngine

/// The options of a request for an event stream: reconnecting, the limit for silence, and the limits of memory.
public struct EventStreamOptions: Sendable, Hashable {
  /// The ID to send as `Last-Event-ID` with the first request, to continue an earlier stream. Nil by default.
  public var lastEventID: String?
  /// The maximum time during which the server sends nothing: from the request to the response, and between two bytes of it. 5 minutes
  /// by default: the specification recommends that servers send a comment every 15 seconds, but language models are silent for longer.
  /// Nil means no limit. The entire request has no time limit.
  public var silenceMax: Duration? = .seconds(300)
  /// The maximum number of attempts to reconnect without receiving an event. 10 by default. With 0, a stream doesn't reconnect.
  public var reconnectionsMax = 10
  /// The time before the first attempt to reconnect, until the server sends another one (`retry`). 3 s by default, as in Chromium. It
  /// doubles with each attempt without an event. Up to half of it is added at random, so that clients don't all reconnect at once.
  public var retryDelay: Duration = .seconds(3)
  /// The shortest time before an attempt to reconnect, whatever the server sends. 0.5 s by default, as in Firefox.
  public var retryDelayMin: Duration = .milliseconds(500)
  /// The longest time before an attempt to reconnect, whatever the server sends, before the random part is added. 5 minutes by default.
  public var retryDelayMax: Duration = .seconds(300)
  /// Whether an interrupted stream of a method other than GET, such as POST, is continued: the request is sent again with
  /// `Last-Event-ID`, if the server has sent an ID. False by default, because a server that doesn't know the field would
  /// process the request a second time.
  public var resumesAnyMethod = false
  /// The limits for lines, events and IDs.
  public var limits = EventStreamLimits()

  /// Creates options with the default values.
  public init() {}
}

/// The error of an event stream that ended before its server or its caller ended it. It states where the stream ended.
public struct EventStreamInterruption: Error, Sendable {
  /// The reason why the stream isn't continued.
  public enum Reason: Sendable, Hashable {
    /// Sending the request again could repeat its effect, such as processing a prompt. See
    /// ``EventStreamOptions/resumesAnyMethod``.
    case notRepeatable
    /// The stream may be resumed, but the server has sent no ID.
    case missingID
    /// The last event ID contains a control character, which no header field may contain.
    case unsendableID
    /// The server ended the response, and the request was cancelled before it had reconnected.
    case responseEnded
    /// The server ended the response, and ``EventStreamOptions/reconnectionsMax`` attempts to reconnect brought no event.
    case tooManyReconnections
  }

  /// The reason why the stream isn't continued.
  public let reason: Reason
  /// The ID of the last complete event, or nil if the server has sent none.
  public let lastEventID: String?
  /// The error that interrupted the response, or nil if the server ended it.
  public let underlyingError: AFError?
}

extension EventStreamError: LocalizedError {
  /// The same text as `description`.
  public var errorDescription: String? { description }
}

extension EventStreamInterruption: LocalizedError, CustomStringConvertible {
  /// The same text as `description`.
  public var errorDescription: String? { description }

  /// One line that states the place, the cause and the remedy.
  public var description: String {
    let place = lastEventID.map { "after the event with the ID \"\($0)\"" } ?? "without an event ID"
    let cause = underlyingError.map { " (\(ReadableText.error($0)))" } ?? ""
    let remedy =
      switch reason {
      case .notRepeatable:
        "The request isn't sent again, because that could repeat its effect. Resume it with resumesAnyMethod."
      case .missingID: "Send the request again if its effect may be repeated."
      case .unsendableID: "The ID can't be sent in a field. Correct the server's IDs."
      case .responseEnded: "The request was cancelled before it reconnected."
      case .tooManyReconnections: "Check why the server ends its responses, or raise reconnectionsMax."
      }
    return "The event stream ended \(place)\(cause). \(remedy)".printable
  }
}

/// The decision whether and when to reconnect, which is pure: a failure and a random number go in, a delay comes out.
struct EventStreamReconnection: Sendable {
  private let options: EventStreamOptions
  /// The number of attempts to reconnect since the last event.
  private var attemptCount = 0

  init(_ options: EventStreamOptions) { self.options = options }

  mutating func didReceiveEvent() { attemptCount = 0 }

  /// Returns the time before the next attempt, or nil if there were too many attempts without an event.
  ///
  /// - Parameters:
  ///   - retry: The reconnection time that the server has sent, or nil if it hasn't sent any.
  ///   - random: A random number from 0 to 1, which determines the added part.
  mutating func delayBeforeNext(retry: Duration?, random: Double) -> Duration? {
    guard attemptCount < options.reconnectionsMax else { return nil }
    var delay = min(max(retry ?? options.retryDelay, options.retryDelayMin), options.retryDelayMax)
    // At most 64 doublings, so that the time doesn't overflow: it reaches the maximum earlier, or remains 0.
    for _ in 0..<min(attemptCount, 64) where delay < options.retryDelayMax { delay *= 2 }
    attemptCount += 1
    delay = min(delay, options.retryDelayMax)
    return delay + delay * (random / 2)
  }
}
