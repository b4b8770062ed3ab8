// Result+Cases: the payloads of a result's cases.

extension Result {
  /// The value, or nil if the result is a failure.
  package var success: Success? { try? get() }
  /// The error, or nil if the result is a success.
  package var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
