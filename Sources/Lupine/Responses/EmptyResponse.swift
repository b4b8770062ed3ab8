// `EmptyResponse` and `Empty`: values that represent an empty body.

/// A type with a value for responses without a body.
public protocol EmptyResponse: Sendable {
  /// Returns the value for a response without a body.
  static func emptyValue() -> Self
}

/// The value of a response whose body is empty or ignored.
public struct Empty: Codable, Hashable, Sendable {
  /// The only value.
  public static let value = Empty()
}

extension Empty: EmptyResponse {
  /// Returns ``value``.
  public static func emptyValue() -> Empty { value }
}
