// What response handlers are called with, and how often.

import Foundation
import Lupine
import Synchronization
import Testing

/// The value that a handler is called with, which `add` gives to a request. It is an issue if it is called again.
func onlyCall<Value: Sendable>(
  sourceLocation: SourceLocation, add: (@escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
  let calls = Atomic(0)
  let value = await withCheckedContinuation { continuation in
    add { value in
      if calls.add(1, ordering: .relaxed).newValue == 1 {
        continuation.resume(returning: value)
      } else {
        Issue.record("the response handler was called twice", sourceLocation: sourceLocation)
      }
    }
  }
  // A handler of its own, behind which a second call of the first would have come.
  await withCheckedContinuation { continuation in add { _ in continuation.resume() } }
  return value
}

extension DataRequest {
  /// The raw response, by closure. It is an issue if the handler is called more than once.
  func outcome(sourceLocation: SourceLocation = #_sourceLocation) async -> AFDataResponse<Data?> {
    await onlyCall(sourceLocation: sourceLocation) { response(queue: underlyingQueue, completionHandler: $0) }
  }
}

extension DownloadRequest {
  /// The raw response, by closure. It is an issue if the handler is called more than once.
  func outcome(sourceLocation: SourceLocation = #_sourceLocation) async -> AFDownloadResponse<URL?> {
    await onlyCall(sourceLocation: sourceLocation) { response(queue: underlyingQueue, completionHandler: $0) }
  }
}
