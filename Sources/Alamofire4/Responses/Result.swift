// Result: the value or the error of a serialized response.

/// The result of serializing a response: the value, or the error of the request.
public enum Result<Value> {
  /// The request succeeded with this value.
  case success(Value)
  /// The request failed with this error.
  case failure(any Error)

  /// Creates a success with the value that the closure returns, or a failure with the error that the closure throws.
  public init(value: () throws -> Value) {
    do {
      self = .success(try value())
    } catch {
      self = .failure(error)
    }
  }

  /// Whether this result is a success.
  public var isSuccess: Bool { if case .success = self { true } else { false } }

  /// Whether this result is a failure.
  public var isFailure: Bool { !isSuccess }

  /// The value of a success, or nil if this result is a failure.
  public var value: Value? { if case .success(let value) = self { value } else { nil } }

  /// The error of a failure, or nil if this result is a success.
  public var error: (any Error)? { if case .failure(let error) = self { error } else { nil } }

  /// Returns the value of a success, or throws the error of a failure.
  public func unwrap() throws -> Value {
    switch self {
    case .success(let value): return value
    case .failure(let error): throw error
    }
  }

  /// Returns a success with the value that `transform` returns. A failure is returned unchanged.
  public func map<T>(_ transform: (Value) -> T) -> Result<T> {
    switch self {
    case .success(let value): .success(transform(value))
    case .failure(let error): .failure(error)
    }
  }

  /// Returns a success with the value that `transform` returns, or a failure with the error that it throws. A failure is returned
  /// unchanged.
  public func flatMap<T>(_ transform: (Value) throws -> T) -> Result<T> {
    switch self {
    case .success(let value): Result<T> { try transform(value) }
    case .failure(let error): .failure(error)
    }
  }

  /// Returns a failure with the error that `transform` returns. A success is returned unchanged.
  public func mapError<T: Error>(_ transform: (any Error) -> T) -> Result {
    switch self {
    case .success: self
    case .failure(let error): .failure(transform(error))
    }
  }

  /// Returns a failure with the error that `transform` returns or throws. A success is returned unchanged.
  public func flatMapError<T: Error>(_ transform: (any Error) throws -> T) -> Result {
    switch self {
    case .success: return self
    case .failure(let error):
      do {
        return .failure(try transform(error))
      } catch {
        return .failure(error)
      }
    }
  }

  /// Calls the closure with the value if this is a success. Returns this result.
  @discardableResult
  public func withValue(_ closure: (Value) throws -> Void) rethrows -> Result {
    if case .success(let value) = self { try closure(value) }
    return self
  }

  /// Calls the closure with the error if this is a failure. Returns this result.
  @discardableResult
  public func withError(_ closure: (any Error) throws -> Void) rethrows -> Result {
    if case .failure(let error) = self { try closure(error) }
    return self
  }

  /// Calls the closure if this is a success. Returns this result.
  @discardableResult
  public func ifSuccess(_ closure: () throws -> Void) rethrows -> Result {
    if isSuccess { try closure() }
    return self
  }

  /// Calls the closure if this is a failure. Returns this result.
  @discardableResult
  public func ifFailure(_ closure: () throws -> Void) rethrows -> Result {
    if isFailure { try closure() }
    return self
  }
}

extension Result: Sendable where Value: Sendable {}

extension Result: CustomStringConvertible, CustomDebugStringConvertible {
  /// The text `SUCCESS` or `FAILURE`.
  public var description: String { isSuccess ? "SUCCESS" : "FAILURE" }

  /// The text `SUCCESS` with the value, or `FAILURE` with the error.
  public var debugDescription: String {
    switch self {
    case .success(let value): "SUCCESS: \(value)"
    case .failure(let error): "FAILURE: \(error)"
    }
  }
}
