// TaskCollector: receives a task's response in place of the delegates, for completion handlers and async methods.

import Foundation

/// An object that receives a task's response in place of the delegates. These are notified of all other events, such as redirects,
/// challenges, sent bytes and metrics. The methods are called on the delegate queue.
protocol TaskCollector: AnyObject, Sendable {
  /// Whether the task must call `accepts(_:to:)` before it receives the body. False by default.
  var decidesOnResponse: Bool { get }
  /// Returns whether the task may receive the body of the response to `request`. If not, the task is canceled. True by default.
  func accepts(_ response: URLResponse, to request: @autoclosure () -> URLRequest?) -> Bool
  /// Receives a part of the body of the response to `request`. Returns false if the task must be canceled.
  func receive(_ data: Data, from request: @autoclosure () -> URLRequest?) -> Bool
  /// Receives the downloaded file, which the task removes when this method returns.
  func receive(_ file: URL)
  /// Called when the task has completed, with the head of its response if it was received, and with its error if it has failed.
  func complete(_ response: URLResponse?, _ error: (any Error)?)
}

extension TaskCollector {
  var decidesOnResponse: Bool { false }
  func accepts(_ response: URLResponse, to request: @autoclosure () -> URLRequest?) -> Bool { true }
  func receive(_ data: Data, from request: @autoclosure () -> URLRequest?) -> Bool { true }
  func receive(_ file: URL) {}
}
