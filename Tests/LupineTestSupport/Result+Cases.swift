// Result+Cases: the payloads of a result's cases.

extension Result {
  /// The value of a successful result, or nil for a failure.
  package var success: Success? { try? get() }
  /// The error of a failure, or nil for a successful result.
  package var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
