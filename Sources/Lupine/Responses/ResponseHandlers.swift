// ResponseHandlers: the response handlers of a request, and the responses that were serialized for them.

import LupineURLSession

/// A closure that serializes the response for one handler.
typealias ResponseHandler = @Sendable () -> SerializedResponse

/// A serialized response that hasn't been delivered yet.
struct SerializedResponse: Sendable {
  /// The serializer's failure, or nil if serializing succeeded or only rethrew the request's error.
  let error: AFError?
  /// Delivers the response to its handler. If `replacement` isn't nil, it replaces the response's error.
  let deliver: @Sendable (_ replacement: AFError?) -> Void
}

/// The response handlers in the order in which they were added, and the serialized responses of the first ones.
struct ResponseHandlers {
  private var handlers: ShortList<ResponseHandler> = []
  private(set) var deliveries: ShortList<@Sendable () -> Void> = []

  /// The next handler for which to serialize the response, or nil if there is none.
  var next: ResponseHandler? { deliveries.count < handlers.count ? handlers[deliveries.count] : nil }

  mutating func append(_ handler: @escaping ResponseHandler) { handlers.append(handler) }

  /// Adds the response for the next handler.
  mutating func add(_ delivery: @escaping @Sendable () -> Void) { deliveries.append(delivery) }

  /// Drops the responses, because another attempt follows. Returns them, so that the caller can release them outside the lock.
  mutating func restart() -> ShortList<@Sendable () -> Void> {
    defer { deliveries = [] }
    return deliveries
  }

  /// Removes and returns all handlers and responses.
  mutating func take() -> ResponseHandlers {
    defer { self = ResponseHandlers() }
    return self
  }
}
