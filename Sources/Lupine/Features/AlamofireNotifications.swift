// What becomes of requests, as notifications.

public import Foundation

/// Posts notifications.
public final class AlamofireNotifications: EventMonitor {
  /// Makes one.
  public init() {}
}
