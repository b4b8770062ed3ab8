// Waits for response handlers, which may be called only once.

import Foundation
import Lupine
import LupineEngine
import Synchronization
import Testing

@testable import LupineURLSession

/// Calls `add` to add a response handler, and returns the value that the handler receives. Records an issue if the handler is
/// called twice.
func onlyCall<Value: Sendable>(
  sourceLocation: SourceLocation, add: (@escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
  let calls = Atomic(0)
  let value = await firstValue { (completion: @escaping @Sendable (Value) -> Void) in
    add { value in
      if calls.add(1, ordering: .relaxed).newValue == 1 {
        completion(value)
      } else {
        Issue.record("the response handler was called twice", sourceLocation: sourceLocation)
      }
    }
  }
  // Handlers are called in order. So when this second handler is called, a second call of the first would have been recorded.
  await withCheckedContinuation { continuation in add { _ in continuation.resume() } }
  return value
}

extension DataRequest {
  /// Returns the response that a completion handler without a serializer receives. Records an issue if the handler is called
  /// twice.
  func outcome(sourceLocation: SourceLocation = #_sourceLocation) async -> AFDataResponse<Data?> {
    await onlyCall(sourceLocation: sourceLocation) { response(queue: underlyingQueue, completionHandler: $0) }
  }
}

extension DownloadRequest {
  /// Returns the response that a completion handler without a serializer receives. Records an issue if the handler is called
  /// twice.
  func outcome(sourceLocation: SourceLocation = #_sourceLocation) async -> AFDownloadResponse<URL?> {
    await onlyCall(sourceLocation: sourceLocation) { response(queue: underlyingQueue, completionHandler: $0) }
  }
}
