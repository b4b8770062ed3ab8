// DeliveredResponse: the response of a transfer that doesn't use the engine, with its times.

import Foundation

/// The response that a transfer delivers without the engine: from a local resource, or from a URLProtocol.
struct DeliveredResponse: Sendable {
  private(set) var response: URLResponse?
  /// The number of bytes of the body that were delivered so far.
  var receivedByteCount: Int64 = 0
  private var startDate: Date?
  private var responseDate: Date?
  private var endDate: Date?

  /// Whether the transfer has started.
  var hasStarted: Bool { startDate != nil }

  mutating func start() { startDate = Date() }

  mutating func receive(_ response: URLResponse) { (self.response, responseDate) = (response, Date()) }

  mutating func end() { endDate = Date() }

  /// Returns the values from which the task creates its metrics: one transaction without a connection, or no transaction if the
  /// transfer wasn't started.
  func measurements(of request: URLRequest) -> URLSessionTaskMetrics.Values {
    let start = startDate ?? Date()
    let transaction = URLSessionTaskTransactionMetrics(
      request: request, response: response, fetchStartDate: startDate, responseStartDate: responseDate,
      responseEndDate: responseDate == nil ? nil : endDate, countOfResponseBodyBytesReceived: receivedByteCount,
      countOfResponseBodyBytesAfterDecoding: receivedByteCount)
    return URLSessionTaskMetrics.Values(
      transactionMetrics: startDate == nil ? [] : [transaction],
      taskInterval: DateInterval(start: start, end: max(start, endDate ?? start)), redirectCount: 0)
  }
}
