// URLSessionStreamDelegate: the methods that a session calls to report the events of stream tasks.

public import Foundation

/// The methods that a session calls on its delegate queue to report the events of stream tasks.
@preconcurrency
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
  /// Called when the server has closed its sending direction, or when ``URLSessionStreamTask/closeRead()`` has taken effect.
  ///
  /// In the first case, bytes may still be unread: read until `atEOF`. The server's end is noticed only when the task reads.
  func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)
  /// Called when ``URLSessionStreamTask/closeWrite()`` has taken effect. Later writes fail.
  func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)
  /// Called on Apple's systems when a better route to the server exists. Never called on Linux.
  func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)
  /// Called after ``URLSessionStreamTask/captureStreams()`` with the streams of the connection. This is the last call for the task,
  /// which has completed.
  ///
  /// Open the streams before use. Their methods block the calling thread until the connection has acted; each stream may be used on
  /// one thread at a time. They don't support run loops. Closing or releasing a stream closes its direction of the connection. They
  /// work independently of the session.
  ///
  /// - Parameters:
  ///   - session: The session of the task.
  ///   - streamTask: The task.
  ///   - inputStream: A stream that reads from the connection.
  ///   - outputStream: A stream that writes to the connection.
  func urlSession(
    _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
    outputStream: OutputStream)
}

extension URLSessionStreamDelegate {
  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
    streamTask.streamDelegate(after: self)?.urlSession(session, readClosedFor: streamTask)
  }

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate does nothing.
  public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
    streamTask.streamDelegate(after: self)?.urlSession(session, writeClosedFor: streamTask)
  }

  /// Default implementation. Does nothing.
  public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {}

  /// Default implementation. A task's own delegate calls the session's, if there is one. The last delegate releases the streams,
  /// which closes the connection.
  public func urlSession(
    _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
    outputStream: OutputStream
  ) {
    streamTask.streamDelegate(after: self)?.urlSession(
      session, streamTask: streamTask, didBecome: inputStream, outputStream: outputStream)
  }
}

extension URLSessionStreamTask {
  /// The delegate that is notified of the task's stream events: the task's own or, if that isn't a stream delegate, the session's.
  var streamDelegate: (any URLSessionStreamDelegate)? {
    ownDelegate as? any URLSessionStreamDelegate ?? session?.delegate as? any URLSessionStreamDelegate
  }

  /// Returns the next stream delegate to call if `delegate` doesn't implement a method. Returns nil if there is none.
  func streamDelegate(after delegate: any URLSessionTaskDelegate) -> (any URLSessionStreamDelegate)? {
    self.delegate(after: delegate) as? any URLSessionStreamDelegate
  }
}
