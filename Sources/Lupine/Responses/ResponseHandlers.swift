// ResponseHandlers: the response handlers of a request, and the responses that were serialized for them.

import LupineURLSession

/// A handler of the response, which must be serialized for it first.
///
/// This is a struct, because a closure that is an element of a generic collection is wrapped in another closure at each access.
struct ResponseHandler: Sendable {
  /// Serializes the response for this handler.
  let serialize: @Sendable () -> SerializedResponse
}

/// A serialized response that hasn't been delivered yet.
struct SerializedResponse: Sendable {
  /// The serializer's failure, or nil if serializing succeeded or only rethrew the request's error.
  let error: AFError?
  /// Delivers the response to its handler. If `replacement` isn't nil, it replaces the response's error.
  let deliver: @Sendable (_ replacement: AFError?) -> Void
}

/// The response handlers of a request in the order in which they were added, and the responses serialized so far, one for each of
/// the first handlers.
struct ResponseHandlers {
  private var handlers: ShortList<ResponseHandler> = []
  private(set) var deliveries: ShortList<Delivery> = []

  /// A closure that passes a serialized response to its handler. The usual case, `asSerialized`, stores an existing closure and so
  /// needs no new one.
  enum Delivery: Sendable {
    /// The handler receives the result of the serialization unchanged. The closure is called with nil.
    case asSerialized(@Sendable (AFError?) -> Void)
    /// The response is delivered with a retrier's error in place of the original one.
    case replacing(@Sendable () -> Void)

    func callAsFunction() {
      switch self {
      case .asSerialized(let deliver): deliver(nil)
      case .replacing(let deliver): deliver()
      }
    }
  }

  /// The next handler for which to serialize the response, or nil if there is none.
  var next: ResponseHandler? { deliveries.count < handlers.count ? handlers[deliveries.count] : nil }

  mutating func append(_ handler: ResponseHandler) { handlers.append(handler) }

  /// Stores the closure that passes the serialized response to the handler `next`. Afterward, `next` is the following handler.
  mutating func add(_ delivery: Delivery) { deliveries.append(delivery) }

  /// Removes and returns the serialized responses, because another attempt follows. The caller releases them after releasing the
  /// lock.
  mutating func restart() -> ShortList<Delivery> {
    defer { deliveries = [] }
    return deliveries
  }

  /// Removes and returns all handlers and their serialized responses.
  mutating func take() -> ResponseHandlers {
    defer { self = ResponseHandlers() }
    return self
  }
}
