// ResponseHandlers: the response handlers of a request, and the responses that were serialized for them.

import LupineURLSession

/// Serializes the response for one response handler.
///
/// This is a struct, because a closure that is an element of a generic collection is wrapped in another closure at each access.
struct ResponseHandler: Sendable {
  let serialize: @Sendable () -> SerializedResponse
}

/// A serialized response that hasn't been delivered to its response handler yet.
struct SerializedResponse: Sendable {
  /// The serializer's failure, or nil if serializing succeeded or only rethrew the request's error.
  let error: AFError?
  /// Delivers the response to its response handler. If `replacement` isn't nil, it replaces the response's error.
  let deliver: @Sendable (_ replacement: AFError?) -> Void
}

/// The response handlers of a request in the order in which they were added, and the responses serialized so far. The first
/// serialized response is for the first handler, and so on.
struct ResponseHandlers {
  private var handlers: ShortList<ResponseHandler> = []
  private(set) var deliveries: ShortList<Delivery> = []

  /// A closure that passes a serialized response to its response handler. The usual case, `asSerialized`, reuses an existing
  /// closure, so that no new one is allocated.
  enum Delivery: Sendable {
    /// Delivers the serialized response unchanged: the closure is called with nil.
    case asSerialized(@Sendable (AFError?) -> Void)
    /// Delivers the serialized response with a retrier's error in place of the original error.
    case replacing(@Sendable () -> Void)

    func callAsFunction() {
      switch self {
      case .asSerialized(let deliver): deliver(nil)
      case .replacing(let deliver): deliver()
      }
    }
  }

  /// The first handler whose response hasn't been serialized yet, or nil if there is none.
  var next: ResponseHandler? { isSerialized ? nil : handlers[deliveries.count] }

  /// Whether the responses for all handlers have been serialized.
  var isSerialized: Bool { deliveries.count >= handlers.count }

  mutating func append(_ handler: ResponseHandler) { handlers.append(handler) }

  /// Stores the closure that passes the serialized response to the handler `next`. Afterward, `next` returns the following handler.
  mutating func add(_ delivery: Delivery) { deliveries.append(delivery) }

  /// Removes and returns the serialized responses, because another attempt follows. The caller must release them only after
  /// releasing the lock.
  mutating func restart() -> ShortList<Delivery> {
    defer { deliveries = [] }
    return deliveries
  }

  mutating func take() -> ResponseHandlers {
    defer { self = ResponseHandlers() }
    return self
  }
}
