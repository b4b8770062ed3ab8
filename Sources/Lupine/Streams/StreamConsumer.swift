// StreamConsumer: the interface through which a stream request passes on the pieces of its response body.

import Foundation
import LupineURLSession

/// A piece of a streamed response body. When the piece is released, the task's receive window grows by the length of the piece, so
/// that the server can send as many further bytes.
final class StreamPiece: Sendable {
  let data: Data
  let task: URLSessionTask

  init(_ data: Data, of task: URLSessionTask) {
    self.data = data
    self.task = task
  }

  // The window grows even if the piece was dropped, or left in a buffer without a reader.
  deinit { task.extendWindow(by: data.count) }
}

/// Consumes the pieces of a streamed response body. All methods are called on the request's underlying queue.
protocol StreamConsumer: Sendable {
  func take(_ piece: StreamPiece)
  /// Delivers the remaining bytes of earlier pieces, such as an incomplete character. Called when the request's task has ended.
  func endRound()
  /// Drops the unread bytes of the response, or fails if a reader has already read some. Called before the request is retried.
  func startAnew()
}
