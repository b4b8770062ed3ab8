// Timeline: the times of a request.

import Foundation
import LupineURLSession

/// The times of a request, in seconds since the start of 2001, UTC, and the durations between them in seconds.
public struct Timeline: Sendable {
  /// The time at which the request's latest attempt was resumed, in seconds since the start of 2001, UTC.
  public let requestStartTime: Double
  /// The time at which the first byte of the response arrived, in seconds since the start of 2001, UTC.
  public let initialResponseTime: Double
  /// The time at which the request's task completed, in seconds since the start of 2001, UTC.
  public let requestCompletedTime: Double
  /// The time at which serialization of the response completed, in seconds since the start of 2001, UTC.
  public let serializationCompletedTime: Double

  /// The time, in seconds, from the request's start to the first byte of the response.
  public let latency: Double
  /// The time, in seconds, from the request's start to the completion of its task.
  public let requestDuration: Double
  /// The time, in seconds, from the completion of the task to the completion of serialization.
  public let serializationDuration: Double
  /// The time, in seconds, from the request's start to the completion of serialization.
  public let totalDuration: Double

  /// Creates a timeline from the times of a request's events.
  public init(
    requestStartTime: Double = 0, initialResponseTime: Double = 0, requestCompletedTime: Double = 0,
    serializationCompletedTime: Double = 0
  ) {
    self.requestStartTime = requestStartTime
    self.initialResponseTime = initialResponseTime
    self.requestCompletedTime = requestCompletedTime
    self.serializationCompletedTime = serializationCompletedTime
    latency = initialResponseTime - requestStartTime
    requestDuration = requestCompletedTime - requestStartTime
    serializationDuration = serializationCompletedTime - requestCompletedTime
    totalDuration = serializationCompletedTime - requestStartTime
  }

  /// Creates the timeline of a request whose serialization has just completed, at the time `now`.
  ///
  /// - Parameters:
  ///   - start: The time at which the latest attempt was resumed, or nil if none was.
  ///   - metrics: The metrics of the task, or nil if there was no task.
  ///   - now: The current time in seconds since the start of 2001, UTC.
  init(start: Double?, metrics: URLSessionTaskMetrics?, now: Double) {
    let start = start ?? now
    let completed = metrics.map { $0.taskInterval.end.timeIntervalSinceReferenceDate } ?? now
    let response = metrics?.transactionMetrics.last?.responseStartDate?.timeIntervalSinceReferenceDate
    self.init(
      requestStartTime: start, initialResponseTime: response ?? completed, requestCompletedTime: completed,
      serializationCompletedTime: now)
  }
}

extension Timeline: CustomStringConvertible, CustomDebugStringConvertible {
  /// A textual description of the timeline's durations.
  public var description: String { "Timeline: { \(durations) }" }

  /// A textual description of the timeline's times and durations.
  public var debugDescription: String {
    let times = [
      "\"Request Start Time\": \(Self.text(requestStartTime))",
      "\"Initial Response Time\": \(Self.text(initialResponseTime))",
      "\"Request Completed Time\": \(Self.text(requestCompletedTime))",
      "\"Serialization Completed Time\": \(Self.text(serializationCompletedTime))",
    ]
    return "Timeline: { \(times.joined(separator: ", ")), \(durations) }"
  }

  private var durations: String {
    [
      "\"Latency\": \(Self.text(latency)) secs", "\"Request Duration\": \(Self.text(requestDuration)) secs",
      "\"Serialization Duration\": \(Self.text(serializationDuration)) secs",
      "\"Total Duration\": \(Self.text(totalDuration)) secs",
    ].joined(separator: ", ")
  }

  private static func text(_ seconds: Double) -> String { String(format: "%.3f", seconds) }
}
