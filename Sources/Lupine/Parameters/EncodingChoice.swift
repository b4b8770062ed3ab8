// EncodingChoice: whether requests encode JSON by LupineJSON or only by Foundation.

internal import Synchronization

extension Session {
  /// Whether only Foundation's `JSONEncoder` and `JSONSerialization` encode JSON for the session's requests. False by default. A
  /// change applies to requests that are encoded later.
  public var encodesWithFoundation: Bool {
    get { queues.encodesWithFoundation.load(ordering: .relaxed) }
    set { queues.encodesWithFoundation.store(newValue, ordering: .relaxed) }
  }
}

/// Which code encodes JSON in the current thread.
enum EncodingChoice {
  @TaskLocal static var isFoundation = false
}

extension RequestQueues {
  /// Calls a closure that creates a request, with the session's choice of an encoder.
  @inline(__always)
  func encoding<Value>(_ create: () throws -> Value) rethrows -> Value {
    guard encodesWithFoundation.load(ordering: .relaxed) else { return try create() }
    return try EncodingChoice.$isFoundation.withValue(true) { try create() }
  }
}
