// StreamFailure: the reasons why a stream task or one of its operations fails, and the table that maps them to URLError.

import Foundation
import LupineEngine

/// The reason why a stream task, or one of its operations, has failed.
enum StreamFailure: Equatable {
  /// The connection couldn't be opened, was lost, or its TLS failed.
  case connection(URLError)
  case cancelled
  /// An operation wasn't complete within this number of seconds.
  case timedOut(TimeInterval)
  /// The program has closed the direction of the operation.
  case readingClosed
  case writingClosed
  /// The task's connection belongs to captured streams.
  case captured
  /// TLS was to start, but the server had sent this number of bytes in the clear that no read operation had taken.
  case unreadBytes(Int)
  /// TLS was to start, but one direction of the connection was already closed.
  case halfClosed

  /// The error that the program gets. `peer` is the server's host and port.
  func error(_ peer: String) -> URLError {
    switch self {
    case .connection(let error): error
    case .cancelled: URLError(.cancelled)
    case .timedOut(let seconds):
      URLError(
        .timedOut, "\(peer): the operation didn't complete within \(seconds) s. Check the server, or raise the timeout."
      )
    case .readingClosed:
      URLError(.networkConnectionLost, "\(peer): the stream is closed for reading. Open another one.")
    case .writingClosed:
      URLError(.networkConnectionLost, "\(peer): the stream is closed for writing. Open another one.")
    case .captured: URLError(.cancelled, "\(peer): the streams were captured. Use them instead of the task.")
    case .unreadBytes(let count):
      URLError(
        .secureConnectionFailed,
        "\(peer): \(ReadableText.count(count, "unread byte")) arrived in the clear before TLS could start. Read everything that the "
          + "server sends before TLS, and fix a server that sends more.")
    case .halfClosed:
      URLError(
        .secureConnectionFailed, "\(peer): TLS can't start, because one direction is closed. Start it earlier.")
    }
  }

  /// The reason for an error of the engine. `origin` is the https origin with which the stream was opened; the program knows only
  /// its host and port.
  init(_ error: EngineError, _ origin: Origin) {
    var text = error.description
    if text.hasPrefix("\(origin)") { text = origin.authorityForm + text.dropFirst("\(origin)".count) }
    self = .connection(URLError(URLError(error, url: nil).code, text, underlying: error))
  }
}
