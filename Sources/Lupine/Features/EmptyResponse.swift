// Values that stand for an empty body.

/// A type with a value for responses that have no body.
public protocol EmptyResponse: Sendable {
  /// The value for a response without a body.
  static func emptyValue() -> Self
}

/// A value for responses whose body doesn't matter, or which have none.
public struct Empty: Codable, Hashable, Sendable {
  /// The only value there is.
  public static let value = Empty()
}

extension Empty: EmptyResponse {
  /// Returns `value`.
  public static func emptyValue() -> Empty { value }
}
