// EventClosure: the property wrapper of the closures that Alamofire's monitors and delegates call for events.

import Synchronization

// Unchecked because programs may set closures that aren't Sendable. They are called only on their owner's queue.
/// Stores a closure that an object calls for an event, and that may be set on any thread. Public only because the properties of
/// Alamofire's monitors and delegates are.
@_documentation(visibility: internal)
@propertyWrapper public final class EventClosure<Closure>: @unchecked Sendable {
  private struct Stored: @unchecked Sendable {
    var closure: Closure?
  }

  private let stored = Mutex(Stored())

  /// Creates a property without a closure.
  public init() {}

  /// The closure, or nil to ignore the event.
  public var wrappedValue: Closure? {
    get { stored.withLock { $0 }.closure }
    set {
      let new = Stored(closure: newValue)
      // The old closure is released outside the lock, because a deinitializer may use the closure's owner.
      withExtendedLifetime(stored.withLock { exchange(&$0, with: new) }) {}
    }
  }
}
