// The response handlers of a request, and the responses that were serialized for them.

import LupineURLSession

/// Serializes the response for one handler.
typealias ResponseHandler = @Sendable () -> SerializedResponse

/// A serialized response that waits for its delivery.
struct SerializedResponse: Sendable {
  /// The serializer's failure; nil also if it only passed on the request's own.
  let error: AFError?
  /// Delivers the response to its handler. If `replacement` isn't nil, it replaces the response's error.
  let deliver: @Sendable (_ replacement: AFError?) -> Void
}

/// Response handlers in the order in which they were added, and the responses that were serialized for the first of them.
struct ResponseHandlers {
  private var handlers: ShortList<ResponseHandler> = []
  private(set) var deliveries: ShortList<@Sendable () -> Void> = []

  /// The next handler to serialize for.
  var next: ResponseHandler? { deliveries.count < handlers.count ? handlers[deliveries.count] : nil }

  mutating func append(_ handler: @escaping ResponseHandler) { handlers.append(handler) }

  /// Adds the response for the next handler.
  mutating func add(_ delivery: @escaping @Sendable () -> Void) { deliveries.append(delivery) }

  /// Drops the responses, because another attempt follows. Returns them, to be released outside the lock.
  mutating func restart() -> ShortList<@Sendable () -> Void> {
    defer { deliveries = [] }
    return deliveries
  }

  /// Removes all handlers and responses.
  mutating func take() -> ResponseHandlers {
    defer { self = ResponseHandlers() }
    return self
  }
}
